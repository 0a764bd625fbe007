"""The output of a running command, as the session's log has it: without secrets, and therefore in whole lines."""

from actors.agent.saying import Voice, encodable
from codec.agent.action_events import CommandOutput, StreamName
from codec.agent.withheld import settings_withheld, variables_withheld, withheld

LONGEST_LINE = 16_000
"""Characters. Of a longer line, such as that of a progress bar, no end is waited for."""


class OutputTold:
    def __init__(self, command_id: str, voice: Voice, *, of_settings: bool = False) -> None:
        """`of_settings`: it shows a file whose values are withheld, whatever they look like."""
        self._command_id = command_id
        self._of_settings = of_settings
        self._voice = voice
        self._begun: dict[StreamName, str] = {"stdout": "", "stderr": ""}
        """Lines that have not ended yet."""

    async def said(self, stream: StreamName, text: str) -> None:
        text = self._begun[stream] + text
        end = text.rfind("\n") + 1 if len(text) < LONGEST_LINE else len(text)
        self._begun[stream] = text[end:]
        await self._tell(stream, text[:end])

    async def rest(self) -> None:
        for stream, text in self._begun.items():
            await self._tell(stream, text)

    async def _tell(self, stream: StreamName, text: str) -> None:
        if text:
            shown = output_withheld(stream, encodable(text), of_settings=self._of_settings)
            await self._voice.event(CommandOutput(command_id=self._command_id, stream=stream, text=shown))


def output_withheld(stream: StreamName, text: str, *, of_settings: bool) -> str:
    return settings_withheld(text) if of_settings and stream == "stdout" else variables_withheld(withheld(text))


def shortened(text: str, most: int) -> str:
    """The beginning and the end of a text: of an output the end tells most."""
    if len(text) <= most:
        return text
    head, tail = most // 4, most - most // 4
    return f"{text[:head]}\n[{len(text) - most:,} characters are left out here]\n{text[-tail:]}"
