"""Commands in a turn: what the policy says of a command, where it runs, and what the model is told of its end.

    call ─> the policy's verdict ─> command.request_approval ─> the answer ─┬─> the client has run it
                                                                            └─> command.started ─> run here ─> told

Rules
  - In the policy's mode local_terminal a client with the capability terminal_exec runs the command, in a terminal that
    the user sees. The client is asked even if nobody has to approve, and its result is the approval, too. If there is
    no such client, the command is run here.
  - command.started is kept before the command starts, and nothing starts if the turn is not heard any more.
  - A command that may have begun is never begun again: not here after a client was asked to run it, not after a kill.
    Only a user may say that it is run here instead, because only a user sees whether the client has begun it.
  - A cancelled turn leaves nothing: the command's own actor (commanding.py) ends with the turn.
"""

import shlex
from collections.abc import Sequence
from contextlib import suppress

import msgspec
import trio
from msgspec.structs import replace

from actors.agent.asking import Dealings
from actors.agent.command_output import OutputTold, output_withheld, shortened
from actors.agent.commanding import run_command
from actors.agent.given import CommandOrder, CommandOutcome, Commands, FileRefused, Tree
from actors.agent.hand_tools import ExecuteCommand
from actors.agent.messages import TurnOrder
from actors.agent.outcomes import CallOutcome, failed, is_ours, refusal_words
from actors.agent.readable import is_readable
from actors.agent.requests import IN_A_TERMINAL
from actors.agent.saying import Voice
from actors.agent.telling_files import TellingFiles
from actors.agent.tools import BadCall, Told
from actors.kernel import AnyRef, Registry
from codec.agent.action_events import (
    CommandFinished,
    CommandOutput,
    CommandStarted,
    RequestCommandApproval,
    ScriptLine,
    StreamName,
)
from codec.agent.approvals import ClientResult, ExactCommand, Pending
from codec.agent.asked_words import command_question
from codec.agent.detected_tests import TELLING, detected_tests
from codec.agent.events import LogEvent
from codec.agent.findings import run_text
from codec.agent.policy import (
    FilesTold,
    Verdict,
    command_verdict,
    files_behind,
    lines_behind,
    may_remember,
    may_remember_exactly,
    risk,
    shows_settings,
)
from codec.agent.tree_paths import tree_names
from codec.agent.withheld import all_withheld, withheld
from codec.words import sentences

TERMINAL_SECONDS = 60.0
"""That a client has for a command beyond the command's own."""
LOOKING_SECONDS = 5.0
MOST_OF_A_TEXT = 100_000
MOST_TOLD = 16_000
"""Characters of a command's output that the model is told; the beginning and the end."""


class CommandCalls:
    def __init__(
        self,
        order: TurnOrder,
        dealings: Dealings,
        voice: Voice,
        tree: Tree,
        commands: Commands,
        registry: Registry,
        turn: AnyRef,
    ) -> None:
        self._order = order
        self._dealings = dealings
        self._voice = voice
        self._tree = tree
        self._commands = commands
        self._registry = registry
        self._turn = turn
        self._telling = TellingFiles(tree)

    async def begin(self) -> None:
        """The turn begins, which may run tests without asking."""
        if self._order.policy.auto_approve_tests and self._order.fact.mode != "plan":
            await self._telling.begin()

    async def execute(self, call_id: str, wanted: ExecuteCommand) -> CallOutcome:
        """Raises BadCall, FileRefused or NotHeard."""
        await self._dealings.look_again()
        try:
            order = self._command_order(wanted)
        except FileRefused as refused:
            shown = command_text(wanted.argv or wanted.command)
            return await self._denied(Verdict("deny", "path", str(refused)), shown, path=wanted.folder)
        shown = command_text(order.command)
        told = await self._told(order)
        verdict = await self._verdict(order, told)
        if verdict.decision == "deny":
            return await self._denied(verdict, shown)
        in_a_terminal = await self._has_terminal()
        asked = await self._request(call_id, order, wanted.reason, verdict, in_a_terminal=in_a_terminal)
        if verdict.decision == "allow" and not in_a_terminal:
            return await self._here(call_id, asked.command_id, order, ())
        request = Pending(
            request_id=asked.command_id,
            call_id=call_id,
            tool_name="execute_command",
            asked=asked,
            arguments=msgspec.to_builtins(wanted),
            exactly=_exact(order) if asked.may_remember_exactly else None,
        )
        await self._dealings.begin([request])
        if asked.requires_approval:
            (request,) = await self._dealings.settled([request])
            await self._dealings.look_again()
            if request.resolution is not None and request.resolution.approved:
                self._telling.approved(files_behind(order.command), told)
            verdict = await self._verdict(order, told)
            if verdict.decision == "deny" and is_ours(request):
                return replace(await self._denied(verdict, shown), over=(request.request_id,))
        return await self._answered(request, order)

    async def resumed(self, request: Pending) -> CallOutcome:
        """Acts upon the answer to a request that was made before the server ended, unless the policy denies it now.
        What was refused, or what a client has done, is told as it is, whatever the policy says by now."""
        over = (request.request_id,)
        if request.begun and request.result is None:
            return self._interrupted(request)
        order = self._command_order(msgspec.convert(request.arguments, ExecuteCommand))
        verdict = await self._verdict(order, None)
        if verdict.decision == "deny" and is_ours(request):
            return replace(await self._denied(verdict, command_text(order.command)), over=over)
        return await self._answered(request, order)

    # -- before it is asked

    def _command_order(self, wanted: ExecuteCommand) -> CommandOrder:
        line, argv = wanted.command.strip(), wanted.argv
        if bool(line) == bool(argv):
            raise BadCall("give either a command or argv")
        if "\0" in line or any("\0" in word for word in argv) or (argv and not argv[0]):
            raise BadCall("a command can hold no NUL, and its program has to have a name")
        return CommandOrder(
            command=argv or line,
            root=self._order.workspace.path,
            folder="/".join(tree_names(wanted.folder)),
            network=self._dealings.rights.policy.network_enabled,
            seconds=float(wanted.timeout),
        )

    async def _told(self, order: CommandOrder) -> FilesTold | None:
        """By the files that say what it runs, if that decides anything."""
        if not self._dealings.rights.policy.auto_approve_tests or not files_behind(order.command):
            return {}
        return await self._telling.now()

    async def _verdict(self, order: CommandOrder, told: FilesTold | None) -> Verdict:
        rights = self._dealings.rights
        tests = await self._tests() if rights.policy.auto_approve_tests else ()
        return command_verdict(
            rights.policy,
            rights.mode,
            rights.remembered,
            order.command,
            tests=tests,
            folder=order.folder,
            changed=self._telling.changed(files_behind(order.command), told, self._voice.files_modified),
        )

    async def _tests(self) -> tuple[tuple[str, ...], ...]:
        """The commands that run the workspace's own tests."""
        names, texts = list[str](), dict[str, str]()
        try:
            with trio.move_on_after(LOOKING_SECONDS):
                names = [entry.path for entry in await self._tree.entries("")]
                for name in TELLING:
                    if name in names:
                        texts[name] = (await self._tree.read(name, most=MOST_OF_A_TEXT)).text
        except FileRefused:
            return ()
        return detected_tests(names, texts)

    async def _runs(self, order: CommandOrder) -> tuple[ScriptLine, ...]:
        """What the files say that it runs, as far as they may be read."""
        policy, texts = self._dealings.rights.policy, dict[str, str]()
        above = f"{order.folder}/" if order.folder else ""
        with trio.move_on_after(LOOKING_SECONDS):
            for name in files_behind(order.command):
                path = f"{above}{name}"
                if is_readable(policy, path):
                    with suppress(FileRefused):
                        texts[name] = (await self._tree.read(path, most=MOST_OF_A_TEXT)).text
        return tuple(
            msgspec.structs.replace(line, text=withheld(line.text)) for line in lines_behind(order.command, texts)
        )

    async def _denied(self, verdict: Verdict, shown: str, **about: str) -> CallOutcome:
        await self._dealings.violation(verdict, "execute_command", command=shown, **about)
        return failed(verdict.reason, rule=verdict.rule)

    async def _has_terminal(self) -> bool:
        if self._dealings.rights.policy.execution_mode != "local_terminal":
            return False
        return IN_A_TERMINAL in await self._dealings.capabilities()

    async def _request(
        self, call_id: str, order: CommandOrder, reason: str, verdict: Verdict, *, in_a_terminal: bool
    ) -> RequestCommandApproval:
        reasons, network = [reason, verdict.reason], True
        if not in_a_terminal:
            network = order.network or not await self._commands.confines()
            if network and not order.network:
                reasons.append("This machine cannot keep it off the network.")
        id = f"{self._order.turn_id}-c{call_id.rpartition('.')[2]}"  # noqa: A001 - as commanding.py wants it
        shown, folder, why = command_text(order.command), _folder(order), sentences(*reasons)
        level, runs = risk(order.command), await self._runs(order)
        return RequestCommandApproval(
            command_id=id,
            request_id=id,
            call_id=call_id,
            command=shown,
            working_directory=folder,
            environment={} if in_a_terminal else all_withheld(self._commands.environment(order)),
            requires_approval=verdict.decision == "ask",
            reason=why,
            risk_level=level,
            execution_mode="local_terminal" if in_a_terminal else "server_runner",
            network=network,
            may_remember=may_remember(order.command) if verdict.decision == "ask" else (),
            runs=runs,
            may_remember_exactly=verdict.decision == "ask" and may_remember_exactly(order.command),
            message=command_question(shown, folder, risk=level, network=network, reason=why, runs=runs),
        )

    # -- when it is answered

    async def _answered(self, request: Pending, order: CommandOrder) -> CallOutcome:
        asked, over = request.asked, (request.request_id,)
        assert isinstance(asked, RequestCommandApproval)
        resolution = request.resolution
        if resolution is not None and not resolution.approved:
            return failed(f"It was not run: {refusal_words(request)}", over)
        in_a_terminal = asked.execution_mode == "local_terminal"
        if request.result is None and in_a_terminal and (resolution is None or request.begun):
            seconds = order.seconds + TERMINAL_SECONDS
            awaited = "your editor's terminal to tell how the command ended"
            (request,) = await self._dealings.results([request], seconds, awaited)
            if request.terminal == "run_here":
                return await self._instead(request, order)
            if request.result is None:
                return self._unknown(request)
        if request.resolution is not None and not request.resolution.approved:
            return failed(f"It was not run: {refusal_words(request)}", over)
        if request.result is not None:
            return self._by_client(asked, request.result, over)
        return await self._here(request.call_id, asked.command_id, order, over)

    async def _instead(self, request: Pending, order: CommandOrder) -> CallOutcome:
        """It is taken back from a client's terminal, to be run here: unless the policy denies it by now."""
        over = (request.request_id,)
        await self._dealings.look_again()
        verdict = await self._verdict(order, None)
        if verdict.decision == "deny":
            return replace(await self._denied(verdict, command_text(order.command)), over=over)
        return await self._here(request.call_id, request.request_id, order, over)

    async def _here(self, call_id: str, command_id: str, order: CommandOrder, over: Sequence[str]) -> CallOutcome:
        shown = command_text(order.command)
        started = CommandStarted(
            command_id=command_id,
            command=shown,
            working_directory=_folder(order),
            environment=all_withheld(self._commands.environment(order)),
            network=order.network or not await self._commands.confines(),
            turn_id=self._order.turn_id,
            call_id=call_id,
        )
        await self._dealings.keep([started], begun=over)
        output = OutputTold(command_id, self._voice, of_settings=shows_settings(order.command))
        outcome = await run_command(self._registry, self._turn, command_id, order, output.said, commands=self._commands)
        await output.rest()
        finished = CommandFinished(
            command_id=command_id,
            exit_code=outcome.exit_code,
            ended=outcome.ended,
            why=outcome.why,
            duration_ms=round(outcome.seconds * 1000, 1),
        )
        text = _told(shown, order.folder, outcome, of_settings=shows_settings(order.command))
        more = {"exit_code": outcome.exit_code, "ended": outcome.ended, "seconds": round(outcome.seconds, 3)}
        has_failed = outcome.ended in ("not_started", "interrupted")
        return CallOutcome(Told(text, more), has_failed, (finished,), tuple(over))

    def _by_client(self, asked: RequestCommandApproval, result: ClientResult, over: Sequence[str]) -> CallOutcome:
        outputs: list[tuple[StreamName, str]] = [("stdout", result.stdout), ("stderr", result.stderr)]
        of_settings = shows_settings(asked.command)
        events: list[LogEvent] = [
            CommandOutput(
                command_id=asked.command_id,
                stream=stream,
                text=output_withheld(stream, text, of_settings=of_settings),
            )
            for stream, text in outputs
            if text
        ]
        events.append(
            CommandFinished(
                command_id=asked.command_id, exit_code=result.exit_code, duration_ms=result.duration_ms, by="client"
            )
        )
        seconds = result.duration_ms / 1000
        outcome = CommandOutcome("exited", result.exit_code, "", seconds, result.stdout, result.stderr)
        text = _told(asked.command, "", outcome, "in the user's terminal", of_settings=of_settings)
        return CallOutcome(
            Told(text, {"exit_code": result.exit_code, "by": "client"}), False, tuple(events), tuple(over)
        )

    def _unknown(self, request: Pending) -> CallOutcome:
        told = "the user did not wait for its end" if request.terminal == "left" else "has not told how it ended"
        why = f"The editor was to run it in its terminal, and {told}. It may be running still."
        event = CommandFinished(command_id=request.request_id, ended="interrupted", why=why, by="client")
        return replace(failed(why, (request.request_id,)), events=(event,))

    def _interrupted(self, request: Pending) -> CallOutcome:
        why = "It had begun when the server ended, and nobody knows how far it came. It was not run again."
        event = CommandFinished(command_id=request.request_id, ended="interrupted", why=why)
        return replace(failed(why, (request.request_id,)), events=(event,))


def command_text(command: str | tuple[str, ...]) -> str:
    """As it is shown to people."""
    return command if isinstance(command, str) else shlex.join(command)


def _exact(order: CommandOrder) -> ExactCommand:
    if isinstance(order.command, str):
        return ExactCommand(line=order.command, folder=order.folder)
    return ExactCommand(argv=order.command, folder=order.folder)


def _folder(order: CommandOrder) -> str:
    return f"{order.root.rstrip('/')}/{order.folder}" if order.folder else order.root


def _told(command: str, folder: str, outcome: CommandOutcome, where: str = "", *, of_settings: bool) -> str:
    place = f"  (in {folder})" if folder else f"  ({where})" if where else ""
    took = f"after {outcome.seconds:.1f} seconds"
    match outcome.ended:
        case "exited":
            ended = f"It ended with exit code {outcome.exit_code} {took}."
        case "not_started":
            ended = f"It could not be started: {outcome.why}"
        case _:
            ended = f"It did not end by itself ({took}): {outcome.why}"
    share = MOST_TOLD if not (outcome.stdout.strip() and outcome.stderr.strip()) else MOST_TOLD // 2
    outputs: tuple[tuple[StreamName, str], ...] = (("stdout", outcome.stdout), ("stderr", outcome.stderr))
    told = [
        (stream, shortened(output_withheld(stream, text, of_settings=of_settings).rstrip(), share))
        for stream, text in outputs
    ]
    return run_text(f"{command}{place}", ended, told)
