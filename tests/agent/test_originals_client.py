"""The client of the system from which the contract comes, as far as its modules read what they are sent.

    a request for an approval    a dialog with `message`, or else with `tool` and `arguments`, which are answered
                                 by `request_id`
    a patch                      it is applied if the file's sha256, in hexadecimal, is `base_hash`, or if there is none
"""

import hashlib
import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from codec.agent.action_events import PatchProposed, RequestApproval, RequestCommandApproval
from codec.agent.workspaces import Policy
from tests.agent.hands_kit import refuses
from tests.agent.test_acting import Scene
from tests.agent.turn_kit import call

HIDDEN = "\u202e\u200b\x1b\x07"
"""What turns or hides the text around it."""


def as_sent(event: Any) -> dict[str, Any]:
    sent: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(event))
    return sent


def dialog(event: dict[str, Any]) -> str:
    arguments = json.dumps(event.get("arguments", {}))
    said = event.get("message") or f"Approve {event.get('tool', 'tool')} with args: {arguments}"
    assert event["request_id"]
    return str(said)


def asked(act: Any, files: dict[str, str], kind: type[Any]) -> dict[str, Any]:
    scene = Scene(act, files=files, policy=Policy())
    scene.heard.capabilities = ["diff_preview", "git_integration"]
    scene.heard.answers = lambda request: [refuses(request)]
    (event,) = scene.run().of(kind)
    return as_sent(event)


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), min_size=1, max_size=4),
    st.sampled_from(["", "src"]),
)
@example(["npm test; rm -rf ~\u202e"], "src")
def test_its_dialog_tells_the_whole_command_and_where_it_would_run(lines: list[str], folder: str) -> None:
    line = "\n".join(lines).strip()
    if not line:
        return
    event = asked(call("execute_command", command=line, folder=folder), {"src/a.py": "x\n"}, RequestCommandApproval)
    said = dialog(event)
    for each in line.split("\n"):
        assert each in said or each.encode("unicode_escape").decode() in said or not each.isprintable()
    assert event["working_directory"] in said
    assert said.replace("\n", "").isprintable()


def test_its_dialog_tells_what_files_say_that_a_command_runs() -> None:
    script = f"node x.js{HIDDEN}"
    files = {"package.json": json.dumps({"scripts": {"test": script}})}
    event = asked(call("execute_command", command="npm test"), files, RequestCommandApproval)
    said = dialog(event)
    assert "It runs (package.json, test): node x.js" in said
    assert said.replace("\n", "").isprintable()


@pytest.mark.parametrize("reason", ["", "It is not used", f"Old{HIDDEN}"])
def test_its_dialog_tells_which_file_would_be_deleted(reason: str) -> None:
    event = asked(call("delete_file", file_path="src/old.py", reason=reason), {"src/old.py": "x\n"}, RequestApproval)
    said = dialog(event)
    assert said.startswith("The agent asks to delete src/old.py (")
    assert reason.strip(HIDDEN) in said
    assert said.isprintable()


TEXTS = st.text(st.sampled_from("abc é\n\ufeff"), min_size=1)


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(TEXTS, TEXTS)
def test_its_check_of_a_patch_finds_the_file_as_it_was(before: str, after: str) -> None:
    if before == after:
        return
    event = asked(call("write_file", file_path="a.txt", content=f"{before}{after}"), {"a.txt": before}, PatchProposed)
    base = event["base_hash"] or ""
    assert base == hashlib.sha256(before.encode()).hexdigest()


def test_a_patch_of_a_new_file_has_no_hash_to_be_checked() -> None:
    event = asked(call("write_file", file_path="new.txt", content="x\n"), {}, PatchProposed)
    assert not event["base_hash"]
