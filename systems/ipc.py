"""File IPC: the folder of requests and responses, its two ends, the editor, the evaluator, the ledger, and the door."""

import logging
import shlex
import time
from importlib import resources
from pathlib import Path

from actors import ipc
from actors.kernel import AnySpec, Decay, Registry, Stage, supervisor_spec
from codec.ipc import Dialect
from codec.settings import IpcSettings, Settings
from program import places
from program.plugins import COMMANDS, plugins
from program.serving import Listeners
from transports.door.door import Door
from transports.door.listener import listener_spec
from transports.http.pages import add_pages
from transports.ipc.base import FolderBase
from transports.ipc.claims import CLIENT, SERVER
from transports.ipc.editor import DetachedEditor
from transports.ipc.keeper import keeper_spec
from transports.ipc.port import BODY_BYTES, MESSAGE_BYTES, ipc_application, ipc_websocket
from transports.ipc.processes import Census, uptime
from transports.ipc.scoring import ScoringProcess
from transports.wire.limits import DoorLimits, HttpLimits, WebSocketLimits

logger = logging.getLogger("troupe.ipc")

STATE = "state"
"""The folder in the base for the locks of those who serve it."""


def ipc_spec(settings: Settings, listeners: Listeners) -> AnySpec:
    section = settings.ipc
    folder = Path(section.folder)
    serves = section.server and not section.editor_command  # otherwise the editor answers, and is known by its answers
    ends = {end for end, is_ours in ((SERVER, serves), (CLIENT, section.client)) if is_ours}
    base = FolderBase(folder, ends=ends, dialect=Dialect(section.dialect))

    def journal(registry: Registry) -> ipc.ClientJournal:
        return ipc.ClientJournal(registry, section.folder)

    web = resources.files("web")

    def door(stage: Stage) -> Door:
        desk = ipc.IpcDesk(stage.registry, stage.new_id, time.time)
        return Door(
            app=add_pages(ipc_application(desk, web), web, listeners.urls),
            on_websocket=ipc_websocket(desk),
            hosts=section.addresses,
            port=section.port,
            accounts=section.accounts,
            limits=DoorLimits(
                http=HttpLimits(body_bytes=BODY_BYTES), websocket=WebSocketLimits(message_bytes=MESSAGE_BYTES)
            ),
            new_id=stage.new_id,
        )

    children: list[AnySpec] = [
        keeper_spec(base, tick=section.rescan_seconds),
        ipc.ledger_spec(journal, base),
        ipc.evaluator_spec(base, ScoringProcess(), time.time, journal if section.client else None),
    ]
    if serves:
        children.append(ipc.server_spec(base, section.folder, handlers(section), server_terms(section), wall=time.time))
    if section.client and section.editor_command:
        readiness = ipc.Readiness(section.cold_start_seconds, by_ping=section.ready == "ping")
        editor = DetachedEditor(shlex.split(section.editor_command), folder / STATE, cwd=places.here())
        children.append(ipc.editor_spec(editor, base, readiness))
    if section.client:
        boot = Census().boot[:8]

        def up() -> ipc.Uptime | None:
            return ipc.Uptime(boot, uptime()) if boot else None

        children.append(ipc.client_spec(base, section.folder, time.time, client_terms(section), up))
    children += [ipc.desk_viewers_spec(), listener_spec("ipc", door, listeners.report)]
    return supervisor_spec("ipc", children, meter=Decay())


def handlers(section: IpcSettings) -> ipc.Handlers:
    """The house's own, and those of installed packages."""
    known = ipc.known_commands(section.model)
    for name, value in plugins(COMMANDS):
        try:
            known.add(ipc.given_command(name, value))
        except ValueError as wrong:
            logger.warning("%s; it was left out", wrong)
    return known


def server_terms(section: IpcSettings) -> ipc.ServerTerms:
    return ipc.ServerTerms(Dialect(section.dialect), section.concurrency, section.command_seconds, section.client)


def client_terms(section: IpcSettings) -> ipc.ClientTerms:
    return ipc.ClientTerms(
        dialect=Dialect(section.dialect),
        attempt_seconds=section.attempt_seconds,
        immediate=section.backoff == "immediate",
        retention_days=section.retention_days or None,
    )
