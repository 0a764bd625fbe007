"""A visit to a room of a running server: how `troupe record` and `troupe replay` reach it."""

import secrets
import time
from functools import partial

from program.visiting import Means
from transports.sidekick.client import visit

VISITING = Means(visit, partial(secrets.token_hex, 4), time.time)
