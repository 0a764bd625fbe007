"""`troupe ipc evaluate` over files that are only on paper."""

import argparse
import io
import json
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from codec.ipc import Failure, Request, Success, Wishes, write_request, write_response
from codec.ipc.evaluation import read_evaluation
from codec.ipc.report import Papers
from program.commands import ipc_evaluate
from program.trouble import Trouble


class PaperFiles:
    """What transports/ipc/offline.py reads from a disk."""

    def __init__(self, path: Path = Path("/")) -> None:
        self.path = path
        self.here: dict[str, Papers] = {}
        self.put_away: dict[str, dict[str, Papers]] = {}
        self.broken: set[str] = set()

    def ids(self) -> Collection[str]:
        return set(self.here)

    def papers(self, id: str) -> Papers:  # noqa: A002
        return self.here[id]

    def days(self) -> Sequence[str]:
        return sorted(self.put_away)

    def archived(self, day: str) -> Collection[str]:
        return list(self.put_away[day])

    def archived_papers(self, day: str, id: str) -> Papers:  # noqa: A002
        return self.put_away[day][id]

    def keep(self, id: str, evaluation: bytes) -> None:  # noqa: A002
        if id in self.broken:
            raise OSError(28, "No space left on device")
        was = self.here[id]
        self.here[id] = Papers(
            request=was.request, response=was.response, failed=was.failed, evaluation=evaluation, seconds=was.seconds
        )


def answered(
    id: str,  # noqa: A002
    text: str = "the cat",
    *,
    reference: str | None = "the cat sat",
    submitter: str = "",
    failed: bool = False,
    command: str = "submitPrompt",
) -> Papers:
    request = Request(id=id, command=command, wishes=Wishes(reference=reference, submitter=submitter))
    outcome = Failure("no") if failed else Success({"content": text})
    response = write_response(id, outcome)
    return Papers(request=write_request(request), response=response, failed=response if failed else None, seconds=1.25)


def evaluate(files: PaperFiles, *words: str) -> tuple[int, str, str]:
    parser = argparse.ArgumentParser()
    ipc_evaluate.add_arguments(parser)
    out, err = io.StringIO(), io.StringIO()
    code = ipc_evaluate.run(parser.parse_args(words), files, now=0.0, out=out, err=err)
    return code, out.getvalue(), err.getvalue()


def various() -> PaperFiles:
    files = PaperFiles()
    files.here = {
        "good": answered("good"),
        "plain": answered("plain", reference=None),
        "bad": answered("bad", failed=True),
        "open": Papers(request=b"{}"),
        "gone": Papers(response=answered("gone").response),
    }
    return files


def test_what_has_a_reference_and_an_answer_is_evaluated_and_the_rest_is_counted() -> None:
    files = various()
    code, out, _ = evaluate(files)
    assert code == 0
    assert out == (
        "1 answer evaluated, 1 without a reference, 2 without a success, "
        "1 with a request that is gone or cannot be read.\n"
    )
    done = read_evaluation(files.here["good"].evaluation)
    assert done is not None
    assert (done.duration, done.when) == (1.25, "1970-01-01T00:00:00.000Z")


def test_what_has_been_evaluated_is_left_alone_until_its_answer_changes_or_it_is_wanted_again() -> None:
    files = various()
    evaluate(files)
    assert json.loads(evaluate(files, "--json")[1])["before"] == 1
    assert json.loads(evaluate(files, "--json", "--again")[1])["evaluated"] == 1
    was = files.here["good"]
    files.here["good"] = Papers(
        request=was.request, response=answered("good", "a dog").response, evaluation=was.evaluation
    )
    assert json.loads(evaluate(files, "--json")[1])["evaluated"] == 1


def test_only_ids_that_match_are_looked_at() -> None:
    assert json.loads(evaluate(various(), "--match", "p*", "--json")[1]) == {
        "evaluated": 0, "before": 0, "no_reference": 1, "not_succeeded": 0, "unreadable": 0, "not_written": 0,
    }  # fmt: skip


def test_what_cannot_be_written_is_said_and_the_rest_is_written() -> None:
    files = various()
    files.here["also"] = answered("also")
    files.broken = {"also"}
    code, out, err = evaluate(files)
    assert code == 1
    assert "1 could not be written" in out
    assert err == "troupe: The evaluation of also could not be written: No space left on device\n"
    assert files.here["good"].evaluation is not None


def test_a_folder_that_is_not_there_is_named() -> None:
    with pytest.raises(Trouble, match="There is no folder /nowhere; say where the requests are with --base"):
        evaluate(PaperFiles(Path("/nowhere")))
