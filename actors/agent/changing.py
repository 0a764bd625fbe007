"""Changes of files in a turn: from what a call wants to the requests for it, and from the answers to the report.

    call ─> wishes ─> the policy's denials ─> images ─> drafts ─> the policy's verdicts ─> patch.proposed
         ─> answers ─> what is approved is done (replacing.py) ─> told

Rules
  - The disk is neither touched nor read for what the policy denies, and one denial ends the call.
  - Nobody is asked about what could not be written, or be kept for an undo, such as a file that would be too large.
  - One call is one group. If one of its files has to be asked about, all of them are, at once, and all that is approved
    is then done at once. Some of the files or hunks may be refused, and the others are done.
  - A deletion by its own tool has no diff: it is asked about as tool.request_approval, and done here.
  - A client that applies patches itself is left to do it: its success is the approval and the result. If a patch is
    approved and its client has not applied it in a while, it is done here.
"""

from collections.abc import Sequence
from functools import partial

from actors.agent.asking import Dealings
from actors.agent.file_calls import (
    FileCall,
    PathDenied,
    event_of,
    path_of,
    remade,
    size_of,
    wish_for,
    wish_of,
    wishes_of,
)
from actors.agent.given import FileRefused, Hands
from actors.agent.hand_tools import DeleteFile
from actors.agent.leisure import at_leisure
from actors.agent.messages import TurnOrder
from actors.agent.outcomes import CallOutcome, failed, is_ours, refusal_words
from actors.agent.replacing import (
    Images,
    PlannedChange,
    Replacing,
    Unkept,
    file_changed,
    part_of_it,
    refused_hunks,
    state,
)
from actors.agent.requests import APPLIES
from actors.agent.saying import Voice
from actors.agent.tools import BadCall, Told
from codec.agent.action_events import PatchApplied, PatchProposed, RequestApproval
from codec.agent.advice import PROPOSE_AGAIN
from codec.agent.approvals import Pending
from codec.agent.drafts import Draft, DraftRefused, FileWish, draft
from codec.agent.files import FileImage
from codec.agent.globs import matches
from codec.agent.patches import PatchRefused
from codec.agent.policy import ChangeWish, Verdict, change_verdict
from codec.words import lasting

CLIENT_SECONDS = 60.0
"""In which a client has applied what was approved."""
SILENT = f"The editor has said nothing of it for {lasting(CLIENT_SECONDS)}, so it was left to the server."
LONGEST_DIFFS = 2_000_000
"""Characters of the diffs that one call shows."""


class FileCalls:
    def __init__(self, order: TurnOrder, dealings: Dealings, voice: Voice, hands: Hands, images: Images) -> None:
        self._order = order
        self._dealings = dealings
        self._voice = voice
        self._hands = hands
        self._images = images
        self._replacing = Replacing(order.turn_id, dealings, voice, hands, images)

    async def change(self, call_id: str, tool_name: str, wanted: FileCall) -> CallOutcome:
        """Raises BadCall, FileRefused or NotHeard."""
        await self._dealings.look_again()
        size = size_of(wanted)
        try:
            wishes = await at_leisure(size, partial(wishes_of, wanted))
        except PathDenied as denied:
            return await self._denied(self._verdict(wish_for(denied.path, "modify", tool_name)), tool_name, denied.path)
        for wish in wishes:
            verdict = self._verdict(wish_for(wish.path, "delete" if wish.deletes else "modify", tool_name))
            if verdict.decision == "deny":
                return await self._denied(verdict, tool_name, wish.path)
        drafts, notes = await self._drafts(wishes, size, tool_name)
        verdicts = list[Verdict]()
        for each in drafts:
            verdicts.append(self._verdict(wish_of(each, tool_name)))
            if verdicts[-1].decision == "deny":
                return await self._denied(verdicts[-1], tool_name, each.path)
        asked = next((verdict for verdict in verdicts if verdict.decision == "ask"), None)
        if asked is not None:
            verdicts = [verdict if verdict.decision == "ask" else asked for verdict in verdicts]
        changes, proposed = list[PlannedChange](), list[PatchProposed | RequestApproval]()
        for number, (each, verdict) in enumerate(zip(drafts, verdicts, strict=True), 1):
            changes.append(await self._kept(f"{call_id}.{number}", each, patched=not isinstance(wanted, DeleteFile)))
            proposed.append(event_of(changes[-1].id, call_id, each, wanted, verdict))
        if asked is None:
            for event in proposed:
                if isinstance(event, PatchProposed):
                    await self._voice.event(event)
            done = await self._done(changes, changes, ())
        else:
            requests = [
                Pending(
                    request_id=change.id,
                    call_id=call_id,
                    tool_name=tool_name,
                    asked=event,
                    base=change.base_blob,
                    content=change.after_blob,
                )
                for change, event in zip(changes, proposed, strict=True)
            ]
            await self._dealings.begin(requests)
            done = await self._answered_now(changes, await self._dealings.settled(requests))
        return done.with_notes(notes)

    async def _answered_now(self, changes: Sequence[PlannedChange], requests: Sequence[Pending]) -> CallOutcome:
        """What has been forbidden while it waited is not done, but a client may have done it."""
        await self._dealings.look_again()
        return await self._answered(changes, requests, await self._forbidden(requests))

    async def resumed(self, requests: Sequence[Pending]) -> CallOutcome:
        """Acts upon the answers to requests that were made before the server ended, unless the policy denies it now.
        What was refused, or what a client has done, is told as it is, whatever the policy says by now. Raises
        FileRefused or NotHeard."""
        forbidden = await self._forbidden(requests)
        over, changes = [request.request_id for request in requests], list[PlannedChange]()
        for request in requests:
            base, after = await self._image(request.base), await self._image(request.content)
            if (base is None and request.base) or (after is None and request.content):
                return failed("What was proposed is not kept any more. Make the change again.", over)
            changes.append(remade(request, base, after))
        return await self._answered(changes, requests, forbidden)

    # -- before it is asked

    def _verdict(self, wish: ChangeWish) -> Verdict:
        rights = self._dealings.rights
        return change_verdict(rights.policy, rights.mode, rights.remembered, wish)

    async def _forbidden(self, requests: Sequence[Pending]) -> Verdict | None:
        """Why nothing of the call is done here any more: the policy denies one of those that are still to be done."""
        for request in filter(is_ours, requests):
            path = path_of(request)
            verdict = self._verdict(wish_for(path, "modify", request.tool_name))
            if verdict.decision == "deny":
                await self._dealings.violation(verdict, request.tool_name, path=path)
                return verdict
        return None

    async def _denied(self, verdict: Verdict, tool_name: str, path: str) -> CallOutcome:
        await self._dealings.violation(verdict, tool_name, path=path)
        return failed(verdict.reason, rule=verdict.rule)

    async def _drafts(self, wishes: Sequence[FileWish], size: int, tool_name: str) -> tuple[list[Draft], list[str]]:
        """What can be made, and what is to be told about the rest."""
        drafts, notes = list[Draft](), list[str]()
        images = await self._hands.images([wish.path for wish in wishes])
        for wish, image in zip(wishes, images, strict=True):
            if isinstance(image, FileRefused):
                notes.append(str(image))
            elif image is not None and not wish.deletes and not self._is_readable(wish.path):
                notes.append(f"The policy of this workspace does not let the agent read {wish.path}, nor change it.")
                await self._dealings.violation(
                    Verdict("deny", "allowed_read_globs", notes[-1]), tool_name, path=wish.path
                )
            else:
                try:
                    data = None if image is None else image.data
                    drafts.append(await at_leisure(size + len(data or b""), partial(draft, wish, data)))
                    notes += drafts[-1].notes
                except (DraftRefused, PatchRefused) as error:
                    notes.append(str(error))
        refusals = self._hands.refusals([(each.path, each.after) for each in drafts])
        notes += [str(refused) for refused in refusals if refused is not None]
        drafts = [each for each, refused in zip(drafts, refusals, strict=True) if refused is None]
        if not drafts:
            raise BadCall(" ".join(notes))
        if sum(len(each.made.diff) for each in drafts) > LONGEST_DIFFS:
            raise BadCall("so large a change cannot be shown to anybody. Change less at once.")
        return drafts, notes

    def _is_readable(self, path: str) -> bool:
        policy = self._dealings.rights.policy
        return matches(policy.allowed_read_globs, path) and not matches(policy.blocked_globs, path)

    async def _kept(self, id: str, made: Draft, *, patched: bool) -> PlannedChange:  # noqa: A002
        return PlannedChange(
            id=id,
            path=made.path,
            base=made.base,
            after=made.after,
            base_blob=None if made.base is None else await self._images.keep(made.base),
            after_blob=None if made.after is None else await self._images.keep(made.after),
            hunks=made.made.hunks,
            patched=patched,
        )

    async def _image(self, blob: str | None) -> bytes | None:
        return None if blob is None else await self._images.get(blob)

    # -- when it is answered

    async def _answered(
        self, changes: Sequence[PlannedChange], requests: Sequence[Pending], forbidden: Verdict | None
    ) -> CallOutcome:
        if forbidden is not None and all(map(is_ours, requests)):
            return failed(forbidden.reason, tuple(each.request_id for each in requests), rule=forbidden.rule)
        silent: frozenset[str] = frozenset()
        if forbidden is None:
            requests, silent = await self._with_results(requests)
        unkept, mine = Unkept(), list[PlannedChange]()
        for change, request in zip(changes, requests, strict=True):
            resolution = request.resolution
            if forbidden is not None and is_ours(request):
                change.told = f"{change.path} was not changed: {forbidden.reason}"
            elif request.begun:
                await self._found(change, unkept)
            elif resolution is None or not resolution.approved or resolution.hunks == ():
                change.told = f"{change.path}: {refusal_words(request)}"
            elif request.result is not None:
                change.only = resolution.hunks
                await self._by_client(change, request, unkept)
            else:
                change.only, change.silent = resolution.hunks, request.request_id in silent
                mine.append(change)
        return await self._done(mine, changes, [request.request_id for request in requests], unkept)

    async def _with_results(self, requests: Sequence[Pending]) -> tuple[Sequence[Pending], frozenset[str]]:
        """A client that applies patches has some time to do so with those that somebody else has approved; and the ids
        of those about which it has said nothing."""
        left = [
            request
            for request in requests
            if isinstance(request.asked, PatchProposed)
            and request.resolution is not None
            and request.resolution.approved
            and request.result is None
            and not request.begun
        ]
        if not left or self._dealings.rights.policy.patch_application != "client":
            return requests, frozenset()
        if not APPLIES & await self._dealings.capabilities():
            return requests, frozenset()
        awaited = "your editor to apply what was approved"
        latest = {each.request_id: each for each in await self._dealings.results(left, CLIENT_SECONDS, awaited)}
        silent = frozenset(each.request_id for each in latest.values() if each.result is None)
        return [latest.get(each.request_id, each) for each in requests], silent

    async def _by_client(self, change: PlannedChange, request: Pending, unkept: Unkept) -> None:
        """A client says that it has applied the patch. That is its word; what the disk says of it is kept for undo."""
        result = request.result
        assert result is not None
        if not result.success:
            change.told = f"{change.path}: the editor could not apply it: {result.error or 'it gives no reason'}."
            return
        outcomes = change.every_hunk("applied")
        change.done = True
        unkept.applied.append(change.id)
        unkept.events.append(
            PatchApplied(
                patch_id=change.id,
                file_path=change.path,
                success=True,
                by="client",
                hunks=outcomes,
                applied_hash=result.applied_hash,
            )
        )
        (now,) = await self._hands.images([change.path])
        data = now.data if isinstance(now, FileImage) else None
        before, after = change.base, data
        if not isinstance(now, FileRefused) and data != change.base:
            before, after = await part_of_it(change, data)
        if isinstance(now, FileRefused) or data == before:
            change.told = f"{change.path}: the editor has applied it, not saved it yet.{refused_hunks(outcomes)}"
            return
        event = await file_changed(
            self._images, self._order.turn_id, change, f"{change.id}.client", before, after, status="done"
        )
        unkept.events.append(event)
        change.told = f"{change.path}: the editor has applied it.{refused_hunks(outcomes)} {state(data)}"

    async def _found(self, change: PlannedChange, unkept: Unkept) -> None:
        """A change that had begun when the server ended: the file tells whether it was done."""
        (now,) = await self._hands.images([change.path])
        data = now.data if isinstance(now, FileImage) else None
        change.done = not isinstance(now, FileRefused) and data == change.after
        if change.done:
            unkept.applied += [change.id] if change.patched else []
            change.told = f"{change.path} was changed. {state(data)}"
        else:
            change.told = f"{change.path} was not changed: the server ended at that moment. {PROPOSE_AGAIN}"

    async def _done(
        self,
        mine: Sequence[PlannedChange],
        every: Sequence[PlannedChange],
        over: Sequence[str],
        unkept: Unkept | None = None,
    ) -> CallOutcome:
        """Does what is ours to do, and tells of every change of the call."""
        unkept = unkept or Unkept()
        await self._replacing.act(mine, [change.id for change in mine] if over else (), unkept)
        for change in mine:
            if change.silent:
                change.told += f" {SILENT}"
        self._voice.files_modified.update(change.path for change in every if change.done)
        more = {"files": [{"file_path": change.path, "done": change.done} for change in every]}
        return CallOutcome(
            Told("\n".join(change.told for change in every), more),
            failed=not any(change.done for change in every),
            events=tuple(unkept.events),
            over=tuple(over),
            applied=tuple(unkept.applied),
        )
