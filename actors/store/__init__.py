"""The store: append-only logs, pairs and blobs in one SQLite database, which one actor writes. Other actors use a
StoreClient."""

from actors.store.backup import copy_database
from actors.store.client import SECONDS, StoreClient
from actors.store.directory import StateDirectory
from actors.store.errors import (
    Conflict,
    DatabaseDamaged,
    Refused,
    SchemaTooNew,
    StateError,
    StateInUse,
    StateUnusable,
    StoreError,
    StoreFull,
)
from actors.store.executors import Inline, Threaded
from actors.store.messages import StoreMessage, StoreStatistics
from actors.store.operations import MAX_EVENT, MAX_VALUE, Append, Delete, Put
from actors.store.several import all_of
from actors.store.store import NAME as STORE
from actors.store.store import Store, store_spec

__all__ = [
    "MAX_EVENT",
    "MAX_VALUE",
    "SECONDS",
    "STORE",
    "Append",
    "Conflict",
    "DatabaseDamaged",
    "Delete",
    "Inline",
    "Put",
    "Refused",
    "SchemaTooNew",
    "StateDirectory",
    "StateError",
    "StateInUse",
    "StateUnusable",
    "Store",
    "StoreClient",
    "StoreError",
    "StoreFull",
    "StoreMessage",
    "StoreStatistics",
    "Threaded",
    "all_of",
    "copy_database",
    "store_spec",
]
