"""Console: the observer of the tree, viewers (one per open page), and their door."""

import os
import time
from collections.abc import Mapping
from importlib import resources

from actors.console import ConsoleDesk, Observer, Surroundings, SystemFact, viewers_spec
from actors.kernel import AnySpec, ChildSpec, Stage, supervisor_spec
from codec.settings import Section, Settings
from program.gauges import resident_bytes
from program.serving import Listeners
from program.version import version
from transports.console import console_application, console_websocket
from transports.door.door import Door
from transports.door.listener import listener_spec
from transports.http.pages import add_pages


def console_spec(settings: Settings, listeners: Listeners, abouts: Mapping[str, str]) -> AnySpec:
    """`abouts` describes every system, including those that are switched off."""
    section = settings.console
    facts = Surroundings(version(), os.getpid(), started=time.time(), wall=time.time, memory=resident_bytes)
    systems = [
        SystemFact(name, enabled=getattr(settings, name, Section()).enabled, listens=name in listeners, about=about)
        for name, about in abouts.items()
    ]

    web = resources.files("web")

    def door(stage: Stage) -> Door:
        desk = ConsoleDesk(stage.registry, stage.new_id)
        return Door(
            app=add_pages(console_application(desk, web), web, listeners.urls),
            on_websocket=console_websocket(desk),
            hosts=section.addresses,
            port=section.port,
            accounts=section.accounts,
            new_id=stage.new_id,
        )

    return supervisor_spec(
        "console",
        [
            ChildSpec("observer", lambda: Observer(facts, systems, listeners.known)),
            viewers_spec(),
            listener_spec("console", door, listeners.report),
        ],
    )
