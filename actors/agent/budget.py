"""How much fits into a model's context: an estimate of tokens, and what is left out first.

Only the model's own tokenizer knows how many tokens a text has. We count one for every three bytes, which is too many
for nearly all text. So a prompt that is said to fit, fits. (English has some 4.5 bytes a token, code some 3.5. In
scripts with three bytes a character, each character is about one token.)

A request is a system message, the past (earlier turns), the newest message of the user, and what has been said since in
this turn. If it is too long, these parts are left out, in this order, and only as many as needed:
  1. the oldest outputs of tools, but those of the last round
  2. the past, which is compacted into a summary (compaction.py; once in a turn)
  3. the oldest rounds of this turn
  4. the ends of the last round's outputs
  5. the material in the newest message
The newest words of the user are never cut. If not even these fit, the turn says so and ends.
"""

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from codec.agent.material import ROUNDS_LEFT_OUT, parted, told
from codec.agent.models import ModelMessage, ToolSpec

BYTES_A_TOKEN = 3
FOR_EACH = 6
"""Tokens that a message costs beside its text."""
MOST_FOR_THE_ANSWER = 4096
SHORTEST_PRUNED = 300
CUT = "[... left out ...]"
"""Stands where something was cut out of a text."""
"""Characters: a shorter output is not worth leaving out."""


def tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN)


def weight(message: ModelMessage) -> int:
    """Estimated tokens of a message."""
    calls = sum(tokens(call.name) + tokens(_encoded(call.arguments)) + FOR_EACH for call in message.tool_calls)
    return FOR_EACH + tokens(message.content) + calls


def weights(messages: Sequence[ModelMessage]) -> int:
    return sum(weight(message) for message in messages)


def tools_weight(tools: Sequence[ToolSpec]) -> int:
    return sum(FOR_EACH + tokens(tool.name + tool.description) + tokens(_encoded(tool.parameters)) for tool in tools)


def room(window: int) -> int:
    """Tokens that a request may have: the rest of the window is for the answer."""
    return window - min(window // 4, MOST_FOR_THE_ANSWER)


class Talk(Struct, frozen=True):
    """A request's messages by their parts."""

    system: ModelMessage
    past: tuple[ModelMessage, ...]
    now: ModelMessage
    since: tuple[ModelMessage, ...] = ()

    @property
    def messages(self) -> tuple[ModelMessage, ...]:
        return (self.system, *self.past, self.now, *self.since)

    @property
    def weight(self) -> int:
        return weights(self.messages)


def pruned(talk: Talk, most: int) -> Talk:
    """The talk with its oldest outputs of tools left out, until it fits or none is left but the last round's."""
    over = talk.weight - most
    if over <= 0:
        return talk
    past, over = _outputs_left_out(talk.past, over)
    last = _last_round(talk.since)
    early, over = _outputs_left_out(talk.since[:last], over)
    return replace(talk, past=past, since=(*early, *talk.since[last:]))


def squeezed(talk: Talk, most: int) -> Talk | None:
    """The talk as it fits, by the last three means. None: not even the user's newest words fit."""
    talk = pruned(talk, most)
    while talk.weight > most and _last_round(talk.since) > 0:
        talk = replace(talk, since=_without_first_round(talk.since))
    if (over := talk.weight - most) > 0:
        talk = replace(talk, since=_cut_outputs(talk.since, over))
    if (over := talk.weight - most) > 0:
        talk = replace(talk, now=_less_material(talk.now, over))
    return talk if talk.weight <= most else None


def cut_to(text: str, most: int) -> str:
    """The beginning and the end of a text, in at most so many estimated tokens. It is cut between lines, unless a line
    is so long that this would leave out more than half of what there is room for; then CUT stands in the line."""
    if tokens(text) <= most:
        return text
    left = max(0, (most - tokens(f"\n{CUT}\n") - 2) * BYTES_A_TOKEN)
    encoded = text.encode("utf-8", "surrogatepass")
    head, tail = encoded[: left * 2 // 3], encoded[len(encoded) - left // 3 :] if left >= 3 else b""
    if (end := encoded.rfind(b"\n", 0, len(head) + 1)) >= len(head) // 2:
        head = encoded[: end + 1]
    begin = encoded.find(b"\n", len(encoded) - len(tail) - 1)
    if begin >= 0 and len(encoded) - begin >= len(tail) // 2:
        tail = encoded[begin:]
    return f"{head.decode('utf-8', 'ignore')}{CUT}{tail.decode('utf-8', 'ignore')}"


def _outputs_left_out(messages: tuple[ModelMessage, ...], over: int) -> tuple[tuple[ModelMessage, ...], int]:
    kept = []
    for message in messages:
        if over > 0 and message.role == "tool" and len(message.content) > SHORTEST_PRUNED:
            short = msgspec.structs.replace(message, content=_left_out(message))
            over -= weight(message) - weight(short)
            message = short
        kept.append(message)
    return tuple(kept), over


def _left_out(message: ModelMessage) -> str:
    length = f"{len(message.content):,}"
    return f"[This output of {length} characters is left out to save room. Call the tool again if you need it.]"


def _last_round(since: Sequence[ModelMessage]) -> int:
    """Where the last message of the model begins, with which all comes that followed on it."""
    return max((index for index, message in enumerate(since) if message.role == "assistant"), default=0)


def _without_first_round(since: tuple[ModelMessage, ...]) -> tuple[ModelMessage, ...]:
    """What the user says in the middle of a turn stays."""
    noted = bool(since) and since[0].content == ROUNDS_LEFT_OUT
    rest = since[1:] if noted else since
    end = 1
    while end < len(rest) and rest[end].role != "assistant":
        end += 1
    kept = tuple(message for message in rest[:end] if message.role == "user")
    return (ModelMessage(role="user", content=ROUNDS_LEFT_OUT), *kept, *rest[end:])


def _cut_outputs(since: tuple[ModelMessage, ...], over: int) -> tuple[ModelMessage, ...]:
    """All outputs keep the same share of their length."""
    outputs = [message for message in since if message.role == "tool"]
    whole = sum(tokens(message.content) for message in outputs)
    if not whole:
        return since
    share = max(0.0, (whole - over - 30 * len(outputs)) / whole)
    return tuple(
        msgspec.structs.replace(message, content=cut_to(message.content, int(share * tokens(message.content))))
        if message.role == "tool"
        else message
        for message in since
    )


def _less_material(now: ModelMessage, over: int) -> ModelMessage:
    """The last materials are the least important: they go first."""
    words, materials = parted(now.content)
    before = tokens(now.content)
    while materials and before - tokens(told(words, materials)) < over:
        materials = materials[:-1]
    return msgspec.structs.replace(now, content=told(words, materials))


def _encoded(value: object) -> str:
    return msgspec.json.encode(value).decode("utf-8", "replace")
