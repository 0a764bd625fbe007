"""Reads what a client sends. A mistake is a BadClientMessage, whose text says what is wrong and where; in a body over
HTTP it is a ContractRefusal."""

from typing import TypeVar

import msgspec

from codec.agent.client_messages import ClientMessage
from codec.agent.refusing import ContractRefusal

B = TypeVar("B")

_decoder = msgspec.json.Decoder(ClientMessage)


class BadClientMessage(Exception):
    """The text can be shown. `where` is the JSON path of the fault, if there is one."""

    def __init__(self, message: str, where: str | None = None) -> None:
        super().__init__(message)
        self.where = where


def read_client_message(text: str | bytes) -> ClientMessage:
    try:
        message: ClientMessage = _decoder.decode(text)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `")
        raise BadClientMessage(what, where.rstrip("`") or None) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadClientMessage(f"this is no JSON: {error}") from None
    return message


def read_body(body: bytes, kind: type[B]) -> B:
    """Raises a ContractRefusal."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `")
        sentence = f"The body is not what is expected: {what}."
        raise ContractRefusal(422, "INVALID_MESSAGE", sentence, where.rstrip("`") or None) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ContractRefusal(400, "INVALID_MESSAGE", f"The body is no JSON: {error}.") from None
