import pytest

from codec.agent.likely_tests import is_test, likely_tests

FILES = (
    "src/login.py",
    "tests/test_login.py",
    "tests/test_login_page.py",
    "tests/other/test_login.py",
    "tests/test_logout.py",
    "web/login.ts",
    "web/login.test.ts",
    "web/__tests__/login.spec.ts",
    "src/main/Login.java",
    "src/test/LoginTest.java",
    "pkg/login.go",
    "pkg/login_test.go",
)


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("src/login.py", ("tests/other/test_login.py", "tests/test_login.py", "tests/test_login_page.py")),
        ("web/login.ts", ("web/login.test.ts", "web/__tests__/login.spec.ts")),
        ("src/main/Login.java", ("src/test/LoginTest.java",)),
        ("pkg/login.go", ("pkg/login_test.go",)),
        ("tests/test_login.py", ("tests/test_login.py",)),
        ("src/nobody.py", ()),
    ],
)
def test_the_tests_of_a_file_are_known_by_their_names(path: str, tests: tuple[str, ...]) -> None:
    assert likely_tests(path, FILES) == tests


def test_what_only_sounds_like_a_test_is_none() -> None:
    sounds = ("src/contest.py", "src/latest.py", "src/attestation.ts", "src/inspector.py")
    assert [path for path in sounds if is_test(path)] == []
