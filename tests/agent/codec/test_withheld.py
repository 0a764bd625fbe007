import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.file_texts import file_text
from codec.agent.withheld import all_withheld, is_settings, settings_withheld, variables_withheld, withheld

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
    ("app.settings.password = 'django-insecure-9x#'", "django-insecure-9x"),
    ("password = 'kqhH/qLmx+WzRtYbVc!p'", "kqhH"),
    ("password = kqhH/qLmx+9zRt", "kqhH"),
    ("export API_KEY=9f8e7d6c5b4a", "9f8e7d6c"),
    (f"export API_KEY={'abcdefgh1234567890' * 3}", "abcdefgh"),
    ("\u0130\u0130\u0130\u0130\u0130\u0130\u0130\u0130\npassword = 'tr0ub4dor&3'", "tr0ub4dor"),
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
    "password = '-/-/-/-/-/-/-/-/-/-/-/'",
    "password = 'kqhH/qLmx+WzRtYbVc!'",
    "token = other_token2",
    "f(token=my_token2)",
    "f(token=tokens[my_index2])",
    "token = tokens::next2",
    "-----BEGIN RSA PRIVATE KEY-----\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY----- \n ",
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


YAML = """\
db:
  user: ada
  password: hunter2
  "passphrase": correct horse battery  # of the key
  root_password: 'swordfish'
  pin_tokens: 4096
  secret_key: |
    first line

      second line
  port: 5432
accounts:
  - {name: ada, password: swordfish, port: 1}
  - api_key: abcdefgh
environment:
  - DB_PASSWORD=hunter2
  - PORT=80
"""
YAML_CLEANED = """\
db:
  user: ada
  password: ***
  "passphrase": ***  # of the key
  root_password: ***
  pin_tokens: 4096
  secret_key: |
    ***

      ***
  port: 5432
accounts:
  - {name: ada, password: ***, port: 1}
  - api_key: ***
environment:
  - DB_PASSWORD=***
  - PORT=80
"""


@pytest.mark.parametrize("path", ["a/compose.yml", "VALUES.YAML"])
def test_what_yaml_gives_to_a_secret_s_name_is_withheld(path: str) -> None:
    assert withheld(YAML, path) == YAML_CLEANED
    assert withheld(YAML_CLEANED, path) == YAML_CLEANED


@pytest.mark.parametrize(
    "line",
    [
        "    secrets: inherit",
        "    token: ${{ secrets.DEPLOY }}",
        "password: !vault |",
        "token: *anchor",
        "secret: <a secret>",
        "password:",
        "persist-credentials: false",
        "secretName: web-tls",
        "tokens: 12",
        "# password: see the handbook",
        "key: password",
        "command: login --password {{ password }}",
    ],
)
def test_what_yaml_says_of_secrets_without_telling_one_is_kept(line: str) -> None:
    assert withheld(line, "a.yaml") == line


@pytest.mark.parametrize("line", ["password: hunter2", "  - db_password: s3cret", "api_token: abc123def456"])
def test_a_line_that_is_nothing_but_a_password_is_withheld_wherever_it_comes_from(line: str) -> None:
    assert withheld(f"a\n{line}\nb") == f"a\n{line.partition(':')[0]}: ***\nb"


@pytest.mark.parametrize(
    "line",
    [
        "password: str",
        "    password: string",
        "token: Token",
        "token: bytes32",
        "password: Utf8",
        "secret: uint256",
        "password: models.CharField2",
        "access_token: string | null",
        "Password: see page 12",
        "token: lexer2.Token",
        "password: SecretStr = Field(min_length=8)",
    ],
)
def test_a_type_or_a_sentence_after_a_secret_s_name_is_kept(line: str) -> None:
    assert withheld(line) == line


SHOWN_SETTINGS = [
    ("KEY=abc", "KEY=***"),
    ("export KEY = abc", "export KEY =***"),
    ("3:KEY=abc", "3:KEY=***"),
    ("a/.env:KEY==", "***"),
    ("KEY=", "***"),
    ("KEY= \t\r", "***"),
    ("KEY=a=b", "KEY=***"),
    ("stray words", "***"),
    ("# a note", "***"),
    ("", ""),
    (" \t", " \t"),
    ("=abc", "=***"),
]


@pytest.mark.parametrize(("line", "after"), SHOWN_SETTINGS)
def test_of_what_a_command_shows_of_settings_only_names_are_kept(line: str, after: str) -> None:
    assert settings_withheld(line) == after
    assert settings_withheld(f"A=b\n{line}\n") == f"A=***\n{after}\n"


VARIABLES = [
    ("PASSWORD=hunter", "PASSWORD=***"),
    ("declare -x API_KEY=a b", "declare -x API_KEY=***"),
    ("a.sh:3:GITHUB_TOKEN=x", "a.sh:3:GITHUB_TOKEN=***"),
    ("DB_PASS=x", "DB_PASS=***"),
    ("HOME=/root", "HOME=/root"),
    ("KEYBOARD=de", "KEYBOARD=de"),
    ("PASSWORD=", "PASSWORD="),
    ("PASSWORD=***", "PASSWORD=***"),
    ("password=hunter", "password=hunter"),
    ("the PASSWORD is hunter", "the PASSWORD is hunter"),
]


@pytest.mark.parametrize(("line", "after"), VARIABLES)
def test_of_the_variables_that_a_command_shows_the_secret_ones_have_no_value(line: str, after: str) -> None:
    assert variables_withheld(line) == after
    assert variables_withheld(f"A=b\n{line}\nc") == f"A=b\n{after}\nc"


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        (".env", True),
        ("deploy/.env.local", True),
        ("production.env", True),
        (".npmrc", True),
        (".yarnrc", True),
        (".yarnrc.yml", True),
        (".flaskenv", True),
        ("env.local", True),
        ("infra/terraform.tfvars", True),
        ("infra/eu.auto.tfvars", True),
        ("infra/eu.tfvars.json", True),
        ("infra/terraform.tfvars.example", False),
        ("infra/variables.tf", False),
        ("env.d.ts", False),
        ("env.py", False),
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


RENAMED = "# of ada\n\nUSER=ada\nexport GREETING='good\nmorning'\nDB_PASSWORD=swordfish\n"


@pytest.mark.parametrize("path", ["notes.txt", "env", "a/backup", "old.md", "x.sh"])
def test_a_file_of_nothing_but_variables_is_one_of_settings_whatever_its_name_is(path: str) -> None:
    cleaned = withheld(RENAMED, path)
    assert cleaned == "# of ada\n\nUSER=***\nexport GREETING=***\n\nDB_PASSWORD=***\n"
    assert file_text(path, RENAMED.encode(), 3, 3, 1_000).text == "USER=***\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("env.example", RENAMED),
        ("x.txt", RENAMED + "run\n"),
        ("x.sh", "TOKEN=$(next_token)\nPORT=80\n"),
        ("x.txt", "PORT=80\nHOST=here\n"),
        ("x.py", "TOKEN = 1\nPORT = 80\n"),
    ],
)
def test_other_files_have_variables_too(path: str, text: str) -> None:
    assert withheld(text, path) == text


def test_a_value_under_a_secret_key_is_withheld_at_any_depth() -> None:
    given = {"list": [{"password": "hunter2hunter2", "n": 1}], "query": "token=abcdef123456"}
    assert all_withheld(given) == {"list": [{"password": "***", "n": 1}], "query": "token=***"}


@given(st.text(), st.sampled_from(["", ".env", "a.py", "a.yaml"]))
def test_lines_stay_where_they_are_and_nothing_is_withheld_twice(text: str, path: str) -> None:
    cleaned = withheld(text, path)
    assert cleaned.count("\n") == text.count("\n")
    assert withheld(cleaned, path) == cleaned
