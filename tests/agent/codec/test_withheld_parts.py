"""A part of a file shows no secret that the whole of it would withhold; and no text takes long to look through."""

import time

import pytest

from codec.agent.file_texts import file_text, is_secret_name
from codec.agent.withheld import withheld

FOLDED = "a: 1\n" + "secret_token: |\n" + "".join(f"  plain words {number}\n" for number in range(20)) + "b: 2\n"


@pytest.mark.parametrize("name", ["x.yaml", "x.YML"])
def test_lines_from_within_the_folded_text_of_a_secret_are_withheld(name: str) -> None:
    for first in range(1, 24):
        part = file_text(name, FOLDED.encode(), first, first + 2, 10_000)
        assert "plain" not in withheld(part.text, name)
        assert part.lines == 23


def test_a_file_that_is_not_yaml_keeps_such_lines() -> None:
    assert "plain words 7" in file_text("x.md", FOLDED.encode(), 1, None, 10_000).text


@pytest.mark.parametrize(
    "name",
    [
        *(".env", ".env~", ".env.bak", ".env copy", ".env (copy)", ".env 2", "#.env#", ".#.env", ".env-prod"),
        *(".env_local", ".env.local", ".envrc.local", "production.env", "id_rsa.bak", "id_ed25519~"),
        *(".netrc.old", ".pgpass~", ".PGPASS.1", ".my.cnf", ".dockerconfigjson", "key.p12.orig"),
        *("credentials", "credentials.bak", ".git-credentials", "kubeconfig", "dev.kubeconfig", ".flaskenv"),
        *("env.local", "env.production", "master.key", "terraform.tfstate.backup", "service-account.json"),
        *("client_secret_12.apps.json", "secrets.json", ".vault-token", "rclone.conf", "office.ovpn"),
    ],
)
def test_a_file_that_holds_secrets_is_known_by_its_name_and_so_is_a_copy_of_it(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *(".env.example", ".env-sample", "env.py", "environment", ".envoy", "id_rsa.pub", "a.bak", "README 2", "v.1"),
        *("credentials.py", "credentials.md", "kubeconfig.go", "env.d.ts", "env.rb", "secrets.py", "client_secret.py"),
    ],
)
def test_other_names_hold_none(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("password: x" + " " * 100_000 + "y", "a.yml"),
        ("a: x" + " \t" * 50_000 + "y", "a.yml"),
        ("a: " + "x \t" * 50_000, "a.yml"),
        ("\n" * 100_000 + "x", ".npmrc"),
        (" " * 100_000 + "x", ".npmrc"),
        ('token = "a1"' + " " * 100_000 + "x", "a.py"),
        ('token = "a1" + ' * 20_000, "a.py"),
        ("auth = (" * 20_000 + "auth" + " " * 100_000, "a.py"),
        ('{"kty": ' * 30_000, "a.json"),
        ("a,password\n" + '"x' * 50_000, "a.csv"),
        ("a,password\n" + '"a""' * 50_000, "a.csv"),
        ("a:1:b:c:" + "d" * 90_000 + " ", "a.txt"),
        ("a = b\n" * 15_000 + "(", "a.txt"),
        ("password=" + "a&" * 100_000, "a.sh"),
    ],
)
def test_no_text_takes_long_to_look_through(text: str, path: str) -> None:
    began = time.process_time()
    withheld(text, path)
    assert time.process_time() - began < 2  # it took minutes


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("password: x y z   # why", "password: ***   # why"),
        ("password: x#y z  ", "password: ***  "),
        ("password: x1234567 \r", "password: *** \r"),
        ("- DB_PASSWORD=abc  # why", "- DB_PASSWORD=***  # why"),
        ("a: b # password", "a: b # password"),
    ],
)
def test_what_follows_a_value_of_yaml_stays(line: str, after: str) -> None:
    assert withheld(line, "a.yaml") == after


FORMS = [
    'TOKEN: str = "{}"',
    "let secret: string = '{}'",
    "val password: String = `{}`",
    'os.environ["SECRET_KEY"] = "{}"',
    "settings['api_key']='{}'",
    ':password => "{}",',
    "'auth_token' => '{}',",
    "define('DB_PASSWORD', '{}');",
    'token = """{}"""',
    'token: bytes = b"{}"',
]
"""Other ways in which code gives a name a text."""


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_withheld_in_whichever_way_code_gives_it_its_name(form: str) -> None:
    said = withheld(form.format("kq83hHq2kLm9xW"), "a.py")
    assert "kq83hHq2kLm9xW" not in said
    assert said == form.format("***")


@pytest.mark.parametrize("form", FORMS)
def test_an_ordinary_word_is_left_in_its_place(form: str) -> None:
    assert withheld(form.format("description"), "a.py") == form.format("description")


@pytest.mark.parametrize("part", ["token ", "token: ", "token: a ", 'token"', "token]", "token = ", "key: a[b, c] | "])
def test_no_line_of_such_forms_takes_long(part: str) -> None:
    began = time.process_time()
    withheld(part * 20_000, "a.py")
    withheld(part + " " * 100_000 + part, "a.py")
    assert time.process_time() - began < 2
