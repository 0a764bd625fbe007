import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.withheld import all_withheld, is_settings, withheld

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nq83vEjRWeJ\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def"

SECRETS = [
    ("OPENAI_API_KEY=sk-proj-abcdEFGH1234567890abcd", "sk-proj"),
    ("the key is sk-abcdEFGH1234567890abcd.", "sk-abcd"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_"),
    ("github_pat_11ABCDEFG0abcdefghijkl_mnop", "github_pat"),
    ("xoxb-123456789012-abcdefghij", "xoxb"),
    ("AKIAIOSFODNN7EXAMPLE", "AKIA"),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "AIza"),
    (JWT, "eyJ"),
    (KEY, "MIIE"),
    ("postgres://app:s3cr3t@db/x", "s3cr3t"),
    ("Authorization: Bearer abcdef1234567890", "abcdef1234567890"),
    ("curl -H 'Authorization: Basic dXNlcjpwYXNzd29yZDE='", "dXNlcjpw"),
    ("password = 'tr0ub4dor&3'", "tr0ub4dor"),
    ('"client_secret": "9f8e7d6c5b4a"', "9f8e7d6c5b4a"),
    ("export DB_PASSWORD=hunter2hunter2", "hunter2"),
    ("api_key: 0123456789abcdef", "0123456789"),
    ("settings.secret_key = 'django-insecure-9x#'", "django-insecure-9x"),
]
ORDINARY = [
    "def login(user, password):",
    "token = self.lexer.next_token()",
    "if token == 'identifier': return",
    "password = getpass('Password: ')",
    "api_key = os.environ['API_KEY']",
    "secret = settings.secret",
    "access_token: string;",
    "const token = req.headers.authorization;",
    "the token is wrong",
    "url = 'https://example.org/a@b'",
    "DATABASE = f'postgres://{user}:{password}@{host}'",
    "max_tokens = 4096",
    "expect(token, '(')",
    "cookie: CookieJar = CookieJar()",
    "sha256:0123456789abcdef0123456789abcdef",
    "task-list-of-a-long-name-with-many-parts",
]


@pytest.mark.parametrize(("text", "part"), SECRETS, ids=[part for _, part in SECRETS])
def test_a_secret_is_withheld_and_what_stands_around_it_is_kept(text: str, part: str) -> None:
    cleaned = withheld(f"before\n{text}\nbehind")
    assert part not in cleaned.replace("sk-***", "")
    assert "***" in cleaned
    assert cleaned.startswith("before\n")
    assert cleaned.endswith("\nbehind")
    assert cleaned.count("\n") == text.count("\n") + 2
    assert withheld(cleaned) == cleaned


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_code_is_left_as_it_is(text: str) -> None:
    assert withheld(text) == text


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        (".env", True),
        ("deploy/.env.local", True),
        ("production.env", True),
        (".npmrc", True),
        (".env.example", False),
        ("environment.py", False),
        ("env", False),
    ],
)
def test_a_file_of_settings_is_known_by_its_name(path: str, is_one: bool) -> None:
    assert is_settings(path) is is_one


def test_of_a_file_of_settings_names_and_comments_are_kept_and_no_value() -> None:
    text = '# database\nUSER=ada\nexport PORT = 80\n\nEMPTY=\nKEY="two\nlines"\nstray words\n'
    cleaned = withheld(text, "a/.env")
    assert cleaned == "# database\nUSER=***\nexport PORT = ***\n\nEMPTY=\nKEY=***\n\n***\n"
    assert withheld(text, "a/settings.py") == text


def test_a_value_under_a_secret_key_is_withheld_at_any_depth() -> None:
    given = {"list": [{"password": "hunter2hunter2", "n": 1}], "query": "token=abcdef123456"}
    assert all_withheld(given) == {"list": [{"password": "***", "n": 1}], "query": "token=***"}


@given(st.text(), st.sampled_from(["", ".env", "a.py"]))
def test_lines_stay_where_they_are_and_nothing_is_withheld_twice(text: str, path: str) -> None:
    cleaned = withheld(text, path)
    assert cleaned.count("\n") == text.count("\n")
    assert withheld(cleaned, path) == cleaned
