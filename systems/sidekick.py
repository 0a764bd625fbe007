"""Sidekick: the boards that are kept, rooms, peers (one per connection), and their door."""

import time
from importlib import resources

from actors import sidekick
from actors.kernel import AnySpec, Stage, supervisor_spec
from codec.settings import Settings
from program.serving import Listeners
from program.version import version
from transports.door.door import Door
from transports.door.listener import listener_spec
from transports.http.pages import add_pages
from transports.sidekick.playground import Playground
from transports.sidekick.port import sidekick_application, sidekick_websocket
from transports.wire.limits import DoorLimits, WebSocketLimits
from transports.wire.policy import HostPolicy

DAY = 86_400.0
LONGEST_MESSAGE = 32 * 1024 * 1024


def sidekick_spec(settings: Settings, listeners: Listeners) -> AnySpec:
    section = settings.sidekick
    playground = Playground(section.pyodide, section.scripts)

    web = resources.files("web")

    def door(stage: Stage) -> Door:
        desk = sidekick.SidekickDesk(stage.registry, stage.new_id, version(), time.time)
        return Door(
            app=add_pages(sidekick_application(web, sidekick.prose, playground, desk), web, listeners.urls),
            on_websocket=sidekick_websocket(desk),
            hosts=section.addresses,
            port=section.port,
            accounts=section.accounts,
            policy=HostPolicy(
                origins=("vscode-webview://*", *section.origins), loopback=True, setting="sidekick.origins"
            ),
            limits=DoorLimits(connections=4096, websocket=WebSocketLimits(message_bytes=LONGEST_MESSAGE)),
            new_id=stage.new_id,
        )

    return supervisor_spec(
        "sidekick",
        [
            sidekick.boards_spec(section.keep_boards * DAY, time.time),
            *sidekick.crowd_specs(),
            listener_spec("sidekick", door, listeners.report),
        ],
    )
