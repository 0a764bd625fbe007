"""Advice for a model, beside the report of what has happened: how it may go on. Texts that show a result to people
leave it out."""

import re

NOT_IN_TIME = "Go on without it, or end here."
NO_REASON = "Do not try the same again; ask what they would like, or go on."
PROPOSE_AGAIN = "Propose it again."
DELETE_AGAIN = "Either regenerate it: read the file, and delete it if it is still to go. Or cancel it: leave the file."
CHANGE_AGAIN = (
    "Either regenerate it: read the file and propose the change for what stands there now. Or force it, if the user "
    "agrees to lose what is there: write the whole file. Or cancel it: leave the file."
)
CONFLICT = "FILE_MODIFIED: "
EVERY = (NOT_IN_TIME, NO_REASON, PROPOSE_AGAIN, DELETE_AGAIN, CHANGE_AGAIN)

_STATE = re.compile(r" It has [0-9,]+ lines? now, and is sha256:[0-9a-f]+\.")


def for_people(told: str) -> str:
    """A result without what only a model makes use of."""
    told = _STATE.sub("", told.replace(CONFLICT, ""))
    for each in EVERY:
        told = told.replace(f" {each}", "")
    return told
