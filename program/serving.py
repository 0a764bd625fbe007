"""Runs the tree until a signal stops it, announces its listeners, and returns an exit code.

A signal (see the table in ending.py) cancels the tree, and the kernel turns this into an orderly stop. It takes at most
the root's grace, and a second signal kills what is left.

The ready file is written when every listener is up or known to be down, and again when that changes. The program ends
with a sentence, after an orderly stop, if the ready file cannot be written, or (with `strict`) if a listener is down.

`on_stop` is called when a stop is requested. It may make sure that the program ends even if something hangs.
"""

from collections.abc import Callable, Mapping, Sequence
from signal import Signals

import structlog
import trio

from actors.kernel import AnySpec, Stage, Tracer, Why, run
from codec.console import Listening
from program import signals
from program.notify import Notifier
from program.trouble import WENT_WRONG, Trouble


class Listeners:
    """All listeners of the tree, by system. The tree reports them, and `serve` waits for them."""

    def __init__(self, names: Sequence[str]) -> None:
        self._known: dict[str, Listening | None] = dict.fromkeys(names)
        self._changed = trio.Event()
        if self.settled:  # there are none
            self._changed.set()

    def report(self, name: str, listening: Listening) -> None:
        self._known[name] = listening
        self._changed.set()

    def known(self, name: str) -> Listening | None:
        """The last report of this listener; None before the first."""
        return self._known.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    @property
    def settled(self) -> bool:
        return None not in self._known.values()

    @property
    def down(self) -> list[str]:
        """A sentence for each listener that is down."""
        return [each.sentence for each in self._known.values() if each is not None and not each.up]

    def urls(self) -> Mapping[str, str | None]:
        return {name: each.url if each is not None and each.up else None for name, each in self._known.items()}

    async def changed(self) -> None:
        """Waits until something has been reported since the last call."""
        await self._changed.wait()
        self._changed = trio.Event()


async def serve(
    spec: AnySpec,
    listeners: Listeners,
    *,
    announce: Callable[[Mapping[str, str | None]], None],
    strict: bool,
    on_stop: Callable[[], object] = lambda: None,
    tracer: Tracer | None = None,
    notifier: Notifier | None = None,
) -> None:
    """Runs the tree to its end. Raises Trouble for problems that the user can solve. `on_stop`: see above."""
    log = structlog.get_logger("troupe")
    notifier = notifier or Notifier()
    stages: list[Stage] = []
    orderly = trio.CancelScope()
    trouble: Trouble | None = None

    def stop(reason: str) -> None:
        log.info("stopping", reason=reason)
        notifier.stopping()
        on_stop()
        orderly.cancel()

    def kill(signal: Signals) -> None:
        log.warning("stopping at once", reason=signal.name)
        for stage in stages:
            if stage.root is not None:
                stage.root.kill()

    async def tell_the_world() -> None:
        nonlocal trouble
        ready = False
        try:
            while True:
                await listeners.changed()
                if not listeners.settled:
                    continue
                announce(listeners.urls())
                notifier.status(" ".join(listeners.down) or "all ports are open")
                if ready:
                    continue
                if strict and listeners.down:
                    raise Trouble(" ".join(listeners.down))
                ready = True
                notifier.ready()
                log.info("ready", **{name: url or "down" for name, url in listeners.urls().items()})
        except Trouble as found:
            trouble = found
            stop(str(found))

    async with trio.open_nursery() as nursery:
        await nursery.start(signals.listen, lambda signal: stop(signal.name), kill)
        nursery.start_soon(notifier.watchdog)
        nursery.start_soon(tell_the_world)
        with orderly:
            ended = await run(spec, tracer=tracer, on_stage=stages.append)
            if ended.why is Why.CRASHED:
                trouble = Trouble(f"The server has crashed ({ended}); its log says where.", code=WENT_WRONG)
        nursery.cancel_scope.cancel()
    if trouble is not None:
        raise trouble
