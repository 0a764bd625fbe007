"""In whichever form a language or a file of settings gives a secret its name, the value is withheld, and nothing else;
and code that only speaks of secrets is left as it is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.file_texts import file_text
from codec.agent.withheld import withheld

CODE = [
    ("a.py", 'API_KEY = "{}"'),
    ("a.py", "API_KEY = (\n    '{}'\n)"),
    ("a.py", "API_KEY = \\\n    '{}'"),
    ("a.py", "client(\n    api_key=\n        '{}',\n)"),
    ("a.py", 'PASSWORD = """{}"""'),
    ("a.py", 'PASSWORD = """\\\n{}\n"""'),
    ("a.py", 'config = {{"password":\n    "{}"}}'),
    ("a.py", 'os.environ["DB_PASSWORD"] = "{}"'),
    ("a.py", 'os.environ.get("DB_PASSWORD", "{}")'),
    ("a.py", 'key = os.environ.get("API_KEY") or "{}"'),
    ("a.py", "SECRET: Final[str] = (\n    '{}'\n)"),
    ("a.py", 'client.set_password("{}")'),
    ("a.py", 'run(["tool", "--token={}"])'),
    ("a.js", "const apiKey =\n  '{}';"),
    ("a.js", "const secret = process.env.API_SECRET || '{}';"),
    ("a.ts", "const token: string = '{}';"),
    ("a.ts", "const token = process.env.TOKEN ?? `{}`;"),
    ("a.js", "export const password = `\n{}\n`;"),
    ("a.js", 'const text = "{{\\"password\\": \\"{}\\"}}";'),
    ("a.js", "{{ name: 'API_TOKEN', value: '{}' }}"),
    ("a.c", '#define API_KEY "{}"'),
    ("a.h", '#  define DB_PASSWORD  "{}"'),
    ("a.c", 'static const char password[] = "{}";'),
    ("a.c", 'const char api_key[64] = "{}";'),
    ("a.cpp", 'const std::string kSecret =\n    "{}";'),
    ("a.cs", 'public string Password {{ get; set; }} = "{}";'),
    ("a.cs", 'var text = "Server=db;User=sa;Password={};Encrypt=1";'),
    ("a.java", 'private static final String PASSWORD =\n        "{}";'),
    ("A.java", 'dataSource.setPassword("{}");'),
    ("A.java", 'properties.put("api.key", "{}");'),
    ("a.kt", 'val clientSecret: String = "{}"'),
    ("a.go", 'const apiKey = "{}"'),
    ("a.go", 'var password string = "{}"'),
    ("a.go", 'Config{{Token: "{}"}}'),
    ("a.go", 'os.Setenv("ACCESS_TOKEN", "{}")'),
    ("a.rs", 'const API_KEY: &str = "{}";'),
    ("a.rs", "static TOKEN: &'static str = \"{}\";"),
    ("a.rb", "config.secret_key_base = '{}'"),
    ("a.rb", "ENV['API_KEY'] ||= '{}'"),
    ("a.rb", ":password => '{}'"),
    ("a.php", "define('DB_PASSWORD', '{}');"),
    ("a.php", "$db_password = '{}';"),
    ("a.php", "'app_secret' => '{}',"),
    ("a.pl", "my $password = '{}';"),
    ("a.swift", 'let apiKey: String? = "{}"'),
    ("a.sh", 'TOKEN="{}"'),
    ("a.sh", "curl -H 'X-Api-Key: {}' x"),
    ("a.sh", "tool login --password {} --quiet"),
    ("a.sh", "mysql --password={}"),
    ("Dockerfile", "ENV API_KEY {}"),
    ("Dockerfile", "ENV API_KEY={}"),
    ("Dockerfile", "ARG NPM_TOKEN={}"),
    ("a.mk", "SECRET_KEY := {}"),
    ("a.md", "| user | ada |\npassword: {}\n"),
    ("a.html", "<password>{}</password>"),
    ("a.tf", 'variable "db_password" {{\n  type    = string\n  default = "{}"\n}}'),
    ("a.tf", 'environment {{\n  name  = "DB_PASSWORD"\n  value = "{}"\n}}'),
    ("a.json", '{{"client_secret": "{}"}}'),
    ("a.json", '{{"name": "DB_PASSWORD", "value": "{}"}}'),
    ("a.json", '{{\n  "name": "DB_PASSWORD",\n  "value": "{}"\n}}'),
    ("a.json", '{{\n  "value": "{}",\n  "name": "DB_PASSWORD"\n}}'),
    ("a.sql", "ALTER USER ada SET password = '{}'"),
    ("a.sql", "ALTER ROLE ada WITH PASSWORD '{}';"),
    ("a.sql", "CREATE USER ada IDENTIFIED BY '{}';"),
    ("a.sql", "create user ada identified with sha2 by '{}';"),
    ("a.sh", "curl -s -u ada:{} https://x"),
    ("a.sh", "curl --user 'ada:{}' https://x"),
    ("a.md", "machine api.x login ada password {}"),
    ("a.md", "see https://x/v1?a=1&access_token={} there"),
    ("a.log", "2026-01-01 INFO url=https://x/y?api_key={} took=1"),
    ("a.py", "key = os.getenv('OPENAI_KEY', '{}')"),
    ("a.js", "const stripeKey = '{}';"),
    ("a.patch", "--- a/a.py\n+++ b/a.py\n-api_key = '{}'\n+api_key = None"),
    ("a.patch", "--- a/.env\n+++ b/.env\n+DB_PASSWORD={}"),
    ("a.patch", "--- a/.env\n+++ b/.env\n-DB_PASSWORD={}"),
    ("a.patch", "--- a/a.yml\n+++ b/a.yml\n-password: {}\n+password: !vault x"),
    ("a.ipynb", '"source": ["os.environ[\\"DB_PASSWORD\\"] = \\"{}\\"\\n"]'),
    ("a.ipynb", '"source": ["client = Client(token=\\"{}\\")\\n"]'),
    ("a.ipynb", '"source": ["os.getenv(\\"API_TOKEN\\", \\"{}\\")\\n"]'),
    ("a.py", 'get(url, auth=("ada", "{}"))'),
    ("a.py", 'session.auth = HTTPBasicAuth("ada", "{}")'),
    ("a.ipynb", '"source": ["key = env.API_KEY or \\"{}\\""]'),
]
"""Among code. The value looks like no word."""

SETTINGS = [
    ("a.yaml", "password: {}"),
    ("a.yaml", "password:\n  {}"),
    ("a.yaml", "password:\n  # of ada\n  {}\nport: 1"),
    ("a.yaml", "- name: DB_PASSWORD\n  value: {}"),
    ("a.yaml", '- name: "DB_PASSWORD"\n  value: "{}"  # why'),
    ("a.yaml", "- value: {}\n  name: DB_PASSWORD"),
    ("a.yaml", "- name: auth.password\n  value: {}"),
    ("a.yaml", "- {{name: DB_PASSWORD, value: {}}}"),
    ("a.yaml", "- name: TLS_KEY_PASSPHRASE\n  value: |\n    {}\n- name: PORT\n  value: eighty"),
    ("a.yaml", "- key: API_TOKEN\n  value: {}"),
    ("a.yaml", "kind: Secret\nmetadata:\n  name: web\nstringData:\n  ordinary: {}"),
    ("a.yaml", "data:\n  plain: {}\nkind: Secret"),
    ("a.yaml", "kind: ConfigMap\ndata:\n  a: b\n---\nkind: Secret\ndata:\n  tls.crt: |\n    {}\n"),
    ("a.yaml", "environment:\n  - DB_PASSWORD={}"),
    ("a.yml", "db: {{user: ada, password: {}}}"),
    ("a.xml", "<password>{}</password>"),
    ("a.xml", "<db:password type='plain'>{}</db:password>"),
    ("a.xml", "<password>\n  {}\n</password>"),
    ("a.xml", '<datasource user="ada" password="{}"/>'),
    ("a.xml", '<property name="hibernate.connection.password" value="{}"/>'),
    ("a.xml", '<entry key="db.password">{}</entry>'),
    ("a.xml", "<name>fs.s3a.secret.key</name>\n<value>{}</value>"),
    ("web.config", '<add key="ApiKey" value="{}" />'),
    ("a.plist", "<key>apiKey</key>\n<string>{}</string>"),
    ("a.sh", "export DB_PASSWORD={}"),
    ("a.bash", "PGPASSWORD='{}' psql -c 'select 1'"),
    ("a.ini", "[db]\npassword = {}"),
    ("a.cfg", "api_key: {}"),
    ("a.conf", "auth_token={}"),
    ("a.toml", 'password = "{}"'),
    ("a.properties", "spring.datasource.password={}"),
    (".env", "ANYTHING={}"),
    (".flaskenv", "ANYTHING={}"),
    ("deploy/terraform.tfvars", 'region = "{}"'),
    ("deploy/x.auto.tfvars", 'region = "{}"'),
    (".yarnrc.yml", "npmAuthToken: {}"),
    (".yarnrc", '"//x/:_authToken" {}'),
    ("env.local", "ANYTHING={}"),
]
"""In files of settings. There it may be a word, as well."""

UNLIKELY = ["kq83hHq2kLm9xW", "tr0ub4dor&3", "0123456789abcdef01234567", "hunter2"]
WORDS = ["swordfish", "open-sesame"]
KEYS = ["jpsQnnGQmL-YBIffH1136cspYG6-0iY7X8Sx5n3rL8k"]
"""As they are written in a JSON Web Key: base64 of bytes."""


@pytest.mark.parametrize(("path", "form"), CODE + SETTINGS)
def test_a_secret_is_withheld_in_every_form_and_nothing_else(path: str, form: str) -> None:
    for value in UNLIKELY:
        text = f"before 1\n{form.format(value)}\nbehind 2\n"
        said = withheld(text, path)
        assert value not in said
        if not path.startswith((".env", ".flaskenv", ".yarnrc", "env.")) and not path.endswith(".tfvars"):
            assert _bare(said) == _bare(f"before 1\n{form.format('***')}\nbehind 2\n")
        assert said.count("\n") == text.count("\n")
        assert withheld(said, path) == said


@pytest.mark.parametrize(("path", "form"), SETTINGS)
def test_in_a_file_of_settings_a_secret_may_be_a_word(path: str, form: str) -> None:
    for value in WORDS:
        assert value not in withheld(f"{form.format(value)}\n", path)


@pytest.mark.parametrize(("path", "form"), [each for each in CODE + SETTINGS if "\n" in each[1]])
def test_whoever_reads_single_lines_of_the_file_is_told_no_more(path: str, form: str) -> None:
    text = f"{form.format(UNLIKELY[0])}\n"
    for number in range(1, text.count("\n") + 1):
        assert UNLIKELY[0] not in withheld(file_text(path, text.encode(), number, number, 10_000).text, path)


OPTIONS = [
    "mysql -u ada -p{} shop",
    "mysqldump --single-transaction -p'{}' shop > a.sql",
    "sshpass -p {} ssh ada@x",
    "redis-cli -h x -a {} ping",
    "mongosh mongodb://x -u ada -p {}",
    'echo | docker login -u ada -p "{}" x.io',
    "twine upload -u ada -p {} dist/*",
    "zip -r -P {} a.zip b",
    "7z a -p{} a.7z b",
    "sqlcmd -S x -U sa -P {}",
    "ldapsearch -D cn=ada -w {} uid",
    "keytool -list -keystore a.jks -storepass {}",
    "openssl enc -aes-256-cbc -k {} -in a",
    "openssl rsa -in a -passin pass:{}",
    "smbclient //x/y -U ada%{}",
    "smbclient -U 'shop\\ada%{}' //x/y",
    "http -a ada:{} x.io/y",
    "https --auth=ada:{} POST x.io/y",
    "htpasswd -b /etc/x ada {}",
    "htpasswd -cb /etc/x ada {}",
    "htpasswd -nbB ada {} > a",
    "htpasswd -nb ada {} >a.txt",
    "net use X: \\\\x\\y {} /user:ada",
    "net use \\\\x\\y '{}' /user:ada",
    "echo {} | sudo -S ls",
    "echo '{}' | sudo -k -S ls",
    "printf '%s\\n' \"{}\" | sudo -kS ls",
    "echo -n {} | docker login -u ada --password-stdin x.io",
    "echo {} | sudo passwd --stdin ada",
    "echo 'ada:{}' | sudo chpasswd",
    "echo ada:{} | /usr/sbin/chpasswd",
]


@pytest.mark.parametrize("form", OPTIONS)
def test_a_command_is_given_a_password_which_may_be_a_word(form: str) -> None:
    for value in (*UNLIKELY, *WORDS):
        assert withheld(f"a\n{form.format(value)}\nb\n", "a.md") == f"a\n{form.format('***')}\nb\n"


@pytest.mark.parametrize("form", ["curl {} -u ada:{}", "curl x; curl {} -u ada:{}", "mysql {}; mysql -p{} shop"])
def test_an_option_may_stand_far_behind_its_command(form: str) -> None:
    far = "-H 'Accept: text/plain' " * 40
    for value in UNLIKELY:
        assert withheld(f"{form.format(far, value)}\n", "a.sh") == f"{form.format(far, '***')}\n"


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "word", ["mysql ", "curl ", "zip ", "openssl", "identified ", "basic ", "echo x | sudo ", "http ", "echo a:"]
)
def test_a_long_line_of_nothing_but_commands_is_read_in_no_time(word: str) -> None:
    """Half a minute would be a hundred times what it takes; looking to the end of the line for each takes hours."""
    text = word * (1_000_000 // len(word))
    assert withheld(text, "a.txt") == text


PIECES = [
    ("a.py", 'TOKEN = ("{}"\n         "{}"\n         "{}")'),
    ("a.py", "TOKEN = '{}' \\\n        '{}' \\\n        '{}'"),
    ("a.js", 'const token = "{}" +\n  "{}" +\n  "{}";'),
    ("a.js", "const token =\n  '{}'\n  + '{}'\n  + '{}';"),
    ("a.php", "$token = '{}' .\n  '{}' .\n  '{}';"),
    ("a.c", 'const char *token = "{}"\n    "{}"\n    "{}";'),
    ("a.sh", 'TOKEN="{}\\\n{}\\\n{}"'),
    ("a.properties", "token={}\\\n  {}\\\n  {}"),
    ("a.vb", 'token = "{}" &\n  "{}" &\n  "{}"'),
    ("a.yaml", 'token: "{}\n  {}\n  {}"'),
    ("a.yaml", "token: >-\n  {}\n  {}\n  {}"),
    ("a.py", 'token = """\n{}\n{}\n{}\n"""'),
    ("a.py", 'TOKEN = "{}" "{}" "{}"'),
    ("a.py", "client(user='ada', token=('{}' '{}' '{}'), port=1)"),
    ("a.js", "const token = '{}' + '{}'+'{}';"),
    ("a.ts", 'const token: string = "{}" + `{}` + "{}";'),
    ("a.php", "$token = '{}' . '{}' . '{}';"),
    ("a.lua", 'token = "{}" .. "{}" .. "{}"'),
]
PARTS = ("kq83h", "Hq2kL", "m9xWz")
"""Each too short to be one."""


@pytest.mark.parametrize(("path", "form"), PIECES)
def test_a_secret_that_is_written_in_pieces_is_withheld(path: str, form: str) -> None:
    said = withheld(f"x\n{form.format(*PARTS)}\nfree = 1\n", path)
    assert not any(part in said for part in PARTS)
    assert said.endswith("\nfree = 1\n")
    assert withheld(said, path) == said


FILES = [
    ("config.json", '{{"auths": {{"https://a.b/v1/": {{\n  "auth": "{}"}}}}}}', ["YWRhOnN3b3JkZmlzaA=="]),
    ("a.yaml", "auths:\n  a.b:\n    auth: {}\n", ["YWRhOnN3b3JkZmlzaA=="]),
    ("key.json", '{{"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gH", "d": "{}"}}', KEYS),
    ("keys.json", '{{"keys": [{{\n  "dq": "{}",\n  "kty": "RSA",\n  "e": "AQAB"\n}}, {{"kty": "EC"}}]}}', KEYS),
    ("a.js", "const jwk = {{ kty: 'oct', k: '{}' }};", KEYS),
    ("a.csv", "id,user,password\n1,ada,{}\n2,ben,\n", UNLIKELY + WORDS),
    ("a.csv", '"note, or not","Secret access key","mail"\r\n"a ""b"", c\nd","{}","x"\r\n', UNLIKELY[:3]),
    ("a.tsv", "user\ttoken\tmail\nada\t{}\tx", UNLIKELY[:3]),
    ("a.csv", "user;api_key\n\nada;{}\n", UNLIKELY[:3]),
    ("logins.txt", "# of the shop\ndb.example:5432:shop:ada:{}\n*:*:*:b\\:en:{}\n", UNLIKELY + WORDS),
    ("pgpass.2", "localhost:5432:shop:ada:{}", UNLIKELY + WORDS),
    ("smb-share", "username=ada\npassword={}\ndomain=x\n", UNLIKELY + WORDS),
    ("notes.txt", "; of ada\n[db]\nuser: ada\nlogin_password: '{}'\n", UNLIKELY + WORDS),
    ("app.settings", "db.host = x\nexport db.password = {}", UNLIKELY + WORDS),
]
"""Where the whole file, or an entry of it, tells what a value is: its form, and the values that it may have."""


@pytest.mark.parametrize(("path", "form", "values"), FILES)
def test_what_only_the_form_of_a_file_tells_is_withheld(path: str, form: str, values: list[str]) -> None:
    for value in values:
        text = form.format(*[value] * form.count("{}"))
        assert withheld(text, path) == form.format(*["***"] * form.count("{}"))
        for number in range(1, text.count("\n") + 2):
            assert value not in withheld(file_text(path, text.encode(), number, number, 10_000).text, path)


ORDINARY = [
    ("a.py", "token_count = 4096"),
    ("a.py", "password_field = forms.CharField(widget=forms.PasswordInput2)"),
    ("a.py", "def login(user: str, password: str | None = None) -> Token2:"),
    ("a.py", "connect(user, password=None)"),
    ("a.py", "password=args.password1"),
    ("a.py", "token = tokens[index1]"),
    ("a.py", "api_key: str = Field(default=None, min_length=8)"),
    ("a.py", "api_key = (\n    os.environ['API_KEY1']\n)"),
    ("a.py", "token = \\\n    self.next_token2()"),
    ("a.py", 'PASSWORD_HELP = (\n    "Your password needs 8 letters "\n    "and 2 digits."\n)'),
    ("a.py", 'password = """\nEnter 2 of them,\nplease.\n"""'),
    ("a.py", 'secret = (\n    "description"\n)'),
    ("a.py", '("tokens", "symbol2label"),'),
    ("a.py", "keys = [\n    'first1key',\n    'second2key',\n]"),
    ("a.py", "cookie = request.COOKIES.get('session2')"),
    ("a.py", 'parser.add_argument("--token", help="of server 1")'),
    ("a.py", 'parser.add_argument("--password-file", dest="file1path")'),
    ("a.py", "field(name='password', default='')"),
    ("a.py", "Field(name='password', value=self.password1)"),
    ("a.py", "pwd = os.getcwd()"),
    ("a.py", "first_pass = 'shader_pass_2'"),
    ("a.sh", "PWD=/srv/build2/x"),
    ("a.sh", "export TOKEN=$TOKEN2"),
    ("a.sh", "tool --password-stdin <file2"),
    ("a.sh", "tool --token $TOKEN2 --key-file server1.pem"),
    ("a.sh", "tool --token \\\n  <TOKEN-1-OF-YOURS>"),
    ("a.ts", "type Props = { token: string; password?: string2 };"),
    ("a.ts", "token: Promise<Token2> = this.next();"),
    ("a.tsx", "<Password>{value1}</Password>"),
    ("a.tsx", "<Token>Enter it</Token>"),
    ("a.html", '<input type="password" name="password" value="">'),
    ("a.html", '<label for="password1">Password</label>'),
    ("a.html", "<token>\n  <b>bold1</b>\n</token>"),
    ("a.html", "<token>correct</token>"),
    ("a.go", "func (p *Parser) token() string {"),
    ("a.go", "var token string = lexer2.Next()"),
    ("a.c", "#define TOKEN_SIZE 128"),
    ("a.c", '#define KEY_FORMAT "%s"'),
    ("a.c", "char password[PASSWORD_MAX2];"),
    ("a.java", "this.password = password2;"),
    ("A.java", "user.setPassword(encoder2.encode(password));"),
    ("a.rs", "let token: &Token2 = parser.token();"),
    ("a.rb", "params.require(:password)"),
    ("a.php", "$password = $_POST['password2'];"),
    ("a.json", '{"name": "password", "value": "Password"}'),
    ("a.json", '{"key": "login.password", "value": "Your password"}'),
    ("a.json", '{\n  "name": "token-2",\n  "version": "1.2.3"\n}'),
    ("a.json", '{"tokens": 128, "token_type": "bearer"}'),
    ("a.tf", 'variable "db_password" {\n  type      = string\n  sensitive = true\n}'),
    ("a.tf", 'variable "db_password" {\n  default = ""\n}'),
    ("a.tf", 'name  = "DB_PASSWORD"\nvalue = "${var.password2}"'),
    ("a.yaml", "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db1\n      key: password"),
    ("a.yaml", "- name: password\n  in: query\n  schema: {type: string}"),
    ("a.yaml", "password:\n  type: string2\n  description: of ada"),
    ("a.yaml", "secrets:\n  - source1\n  - other2"),
    ("a.yaml", "token:\n  ${{ secrets.TOKEN }}"),
    ("a.yaml", "password:\nuser: ada1"),
    ("a.yaml", "kind: ConfigMap\ndata:\n  plain: swordfish1"),
    ("a.yaml", "kind: Secret\nmetadata:\n  name: web1\n---\nkind: X\ndata:\n  plain: swordfish1"),
    ("a.yaml", "- name: DB_HOST\n  value: host1\n- name: DB_PORT\n  value: port1"),
    ("a.xml", '<xs:element name="password" type="xs:string1"/>'),
    ("a.xml", "<password>${db.password}</password>"),
    ("a.xml", '<string name="password">Passwort</string>'),
    ("a.xml", '<string name="enter_password">Enter 8 letters</string>'),
    ("a.xml", '<add key="Host" value="host1"/>'),
    ("messages.properties", "login.password=Password"),
    ("messages.properties", "error.token=The token 1 is invalid."),
    ("a.toml", "max_tokens = 4096"),
    ("a.toml", "[tool.password1]\ntokens = ['a1b2c3d4']"),
    ("a.ini", "password = ${DB_PASSWORD1}"),
    ("a.md", "Pass `--token` and your password 1 to it."),
    ("a.md", "token:\n\n    sample2text"),
    ("a.css", ".token-2 { color: #a1b2c3; }"),
    ("a.json", '{"kty": "EC", "x": "f83OJ3D2xF1Bg8vub9tLe1gH", "e": "AQAB"}, {"d": "M10 10h20v30a1234567z"}'),
    ("a.json", '{"auth": "YWJjZGVmZ2hpag=="}, {"author": "YWRhOnN3b3JkZmlzaA=="}'),
    ("a.py", 'strip_auth("http://example.com/1", "http://example.com/2")'),
    ("a.py", 'auth=("user1", "password")'),
    ("a.py", 'path = "a1" + "b2"; token = ("word" + "other")'),
    ("a.sh", 'token=$(next2) password="$1" key=value2 PASSWORD_FILE=/run/x2'),
    ("a.csv", "word,token,lemma\n1,running,run\n2,walked2,walk"),
    ("a.txt", "password: what a user types\ntoken: a word of it"),
    ("a.sh", "mysql -p -u ada; mkdir -p build2; mysqldump -h x -p$PASSWORD shop"),
    ("a.sh", "mysql -h x | tee -a file2.log; docker run -p 8080:80 x; mongod -p 27017"),
    ("a.md", "docker login -u ada -p <your-password>"),
    ("a.txt", "src/a1.py:12:5:E501 line too long"),
]


@pytest.mark.parametrize(("path", "text"), ORDINARY)
def test_what_only_speaks_of_secrets_is_left_as_it_is(path: str, text: str) -> None:
    assert withheld(f"before 1\n{text}\nbehind 2\n", path) == f"before 1\n{text}\nbehind 2\n"


_FORMS = st.sampled_from([(path, form.replace("{{", "{").replace("}}", "}")) for path, form in CODE + SETTINGS])


@given(st.lists(_FORMS, min_size=1, max_size=4), st.sampled_from([*UNLIKELY, "", "***", "\\", '"']))
def test_forms_may_stand_among_each_other(forms: list[tuple[str, str]], value: str) -> None:
    text = "\n".join(form.replace("{}", value) for _, form in forms)
    said = withheld(text, forms[0][0])
    assert said.count("\n") == text.count("\n")
    assert withheld(said, forms[0][0]) == said


def _bare(text: str) -> str:
    """Without the quotes that may have gone with a value of YAML."""
    return re.sub(r"[\"']?\*\*\*[\"']?", "***", text)
