import random
from time import thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.system.sandbox import Variables
from ralph.system.secrets import MASK, Redactor, secret_values

# Shapes, not secrets: put together here so that no scanner takes them for real ones.
FILLER = "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
TOKENS = {
    "github": "ghp" + "_" + FILLER + "0123",
    "github app": "ghs" + "_" + FILLER + "0123",
    "github fine-grained": "github" + "_pat_11ABCDEFG0" + FILLER + "_" + FILLER,
    "openai": "sk" + "-" + FILLER + "0123456789abcdef",
    "openai project": "sk" + "-proj-" + FILLER + "_" + FILLER,
    "anthropic": "sk" + "-ant-api03-" + FILLER + "-" + FILLER,
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "slack": "xox" + "b-123456789012-" + FILLER,
    "google": "AI" + "za" + FILLER + "abc",
    "gitlab": "gl" + "pat-" + FILLER,
    "gitlab runner": "gl" + "rt-" + FILLER,
    "hugging face": "hf" + "_" + FILLER + "01",
    "npm": "np" + "m_" + FILLER + "0123",
    "pypi": "py" + "pi-AgEIcHlwaS5vcmc" + FILLER + "-" + FILLER,
    "stripe": "sk" + "_live_" + FILLER,
    "stripe restricted": "rk" + "_test_" + FILLER,
    "docker": "dckr" + "_pat_" + FILLER,
    "digitalocean": "dop" + "_v1_" + "0123456789abcdef" * 4,
    "shopify": "shp" + "at_" + "0123456789abcdef" * 2,
    "sentry": "sntrys" + "_" + FILLER,
    "google oauth": "ya29" + ".a0Af" + FILLER,
    "sendgrid": "SG" + "." + FILLER[:22] + "." + FILLER + FILLER[:11],
    "vault": "hv" + "s." + FILLER,
    "databricks": "da" + "pi" + "0123456789abcdef" * 2,
    "groq": "gs" + "k_" + FILLER,
    "xai": "xa" + "i-" + FILLER,
    "circleci": "CCI" + "PAT_" + FILLER[:22] + "_" + "0123456789abcdef" * 2,
    "sonar": "sq" + "u_" + "01234567" * 5,
    "netlify": "nf" + "p_" + FILLER + "0123",
    "tailscale": "ts" + "key-auth-" + FILLER[:12] + "-" + FILLER,
    "mailgun": "ke" + "y-" + "0123456789abcdef" * 2,
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
}
ASSIGNED = {
    "an environment variable": ("DB_PASSWORD={}\n", "hunter2-trees"),
    "npm's settings": ("//registry.example.com/:_authToken={}", FILLER),
    "JSON": ('{{"user": "me", "password": "{}", "port": 1}}', "correcthorsebattery"),
    "JSON within JSON": ('"{{\\"client_secret\\": \\"{}\\"}}"', FILLER),
    "YAML": ("user: me\npassword: {}\nport: 1", "Tr0ub4dor"),
    "TOML": ('api_key = "{}"', FILLER),
    "an address": ("GET /items?access_token={}&page=2", FILLER),
    "Azure": ("AccountName=a;AccountKey={};Endpoint=b", FILLER + FILLER),
    "a header": ("X-Api-Key: {}", FILLER),
    "a vendor's name": ("HEROKU = '{}'", "01234567-89ab-cdef-0123-456789abcdef"),
    "Slack's webhook": ("https://hooks.slack.com/services/{}", "T0123ABCD/B0123ABCD/" + FILLER[:24]),
    "Discord's webhook": ("https://discord.com/api/webhooks/123456789012345678/{}", FILLER + FILLER),
    "Telegram's bot": ("bot {} runs", "123456789:" + "AA" + FILLER + "x"),
    "a flag": ("deploy --password {} --to db", "hX7kQ2mZ9pLw"),
    "a flag with an equals sign": ("deploy --db-password={} x", "correcthorse"),
    "a flag in quotes": ("deploy --password '{}'", "correcthorse"),
    "a token's flag": ("deploy --api-token {}", FILLER),
    "a token's flag in quotes": ("deploy --api-token '{}'", FILLER),
    "a flag in a list": ('["deploy", "--db-password", "{}"]', "hX7kQ2mZ9pLw"),
    "mysql's flag": ("mysql -u root -p{} shop", "hX7kQ2mZ9pLw"),
    "sshpass's flag": ("sshpass -p {} ssh me@host", "correcthorse"),
    "docker's login": ("docker login -u me -p {} registry", "correcthorse"),
    "redis-cli's flag": ("redis-cli -h cache -a {} ping", "correcthorse"),
    "curl's login": ("curl -s -u me:{} https://example.com", "correcthorse"),
    "curl's login behind spaces": ("curl -u    me:{} https://example.com", "correcthorse"),
    "a word behind a flag": ("deploy --password {} --to db", "correcthorse"),
    "a short word behind a flag": ("deploy --db-password {}\n", "fox"),
    "a short value of a variable": ("DB_PASSWORD={}\n", "fox1"),
    "a short word of a variable": ("export MYSQL_PWD={}\n", "root"),
    "a short flag": ("deploy --password={} --to db", "fox"),
    "a short value in JSON": ('{{"user": "me", "password": "{}"}}', "fox"),
    "a short value in an address": ("GET /login?user=me&password={}", "fox"),
    "a short value in XML": ("<password>{}</password>", "fox"),
    "a short value in a connection string": ("Server=db;Uid=sa;Pwd={};", "fox"),
    "a value with a dot": ("client_secret={}\n", "abc1.defgh2"),
    "curl's login on the next line": ('curl -s \\\n  --user "me:{}" https://example.com', "hX7kQ2mZ9pLw"),
    "openssl's password": ("openssl rsa -passin {} -in k", "pass:hunter2x"),
    "docker's password from a pipe": ("echo '{}' | docker login -u me --password-stdin", "correcthorse"),
    "gh's token from a pipe": ("printf %s {} | gh auth login --with-token", "correcthorse"),
    "docker's password from a here-string": ("docker login -u me --password-stdin <<< {}", "correcthorse"),
    "sudo's password from a pipe": ("echo -n {} | sudo -S true", "correcthorse"),
    "httpie's login": ("http -a me:{} GET example.com", "correcthorse"),
    "zip's password": ("zip -er -P{} out.zip a", "correcthorse"),
    "unzip's password": ("unzip -P {} out.zip", "correcthorse"),
    "7z's password": ("7za x -p{} out.7z", "correcthorse"),
    "unrar's password": ("unrar x -p{} out.rar", "correcthorse"),
    "rar's password of names": ("rar a -hp{} out.rar b", "correcthorse"),
    "an archive in Azure": ("https://a.blob.core.windows.net/c?sv=2022&sig={}", FILLER + "%2B" + FILLER[:8] + "%3D"),
    "Azure's login": ("az login --service-principal -u app -p {} --tenant t", "correcthorse"),
    "htpasswd's password": ("htpasswd -nb me {}", "correcthorse"),
    "htpasswd's password for a file": ("htpasswd -b /etc/nginx/.htpasswd admin {}", "correcthorse"),
    "htpasswd's password behind two flags": ("htpasswd -B -b file admin {}", "correcthorse"),
    "htpasswd's password printed by two flags": ("htpasswd -n -b admin {}", "correcthorse"),
    "smbclient's login": ("smbclient //s/x -U me%{}", "correcthorse"),
    "AWS's settings": ("aws configure set aws_secret_access_key {}", "correcthorse"),
    "a word behind a token's flag": ("deploy --token {} production", "letmein"),
    "a word in a token's flag": ("deploy --token={} production", "letmein"),
    "a value with a dot behind spaces": ("client_secret = {}\n", "abc1.defgh2"),
    "words in YAML": ("\n  db_password: {}\n", "correct horse battery staple"),
    "words in settings": ("\npassphrase = {}\n", "blue giraffe eats clouds"),
    "a sentence": ("The password is {} and the name me.", "hunter2"),
    "curl's login of words": ('curl -s -u "me:{}" https://example.com', "pa ss"),
    "curl's password in quotes": ("curl -u me:'{}' https://example.com", "correct horse"),
    "docker's password of words": ("docker login -u me -p '{}' registry", "pa ss"),
    "chpasswd's here-string": ("sudo chpasswd <<< root:{}", "correcthorse"),
    "chpasswd's here-string in quotes": ("chpasswd -e <<<'root:{}'", "correct horse"),
    "chpasswd's lines": ("chpasswd <<EOF\nroot:{}\nEOF", "correcthorse"),
    "passwd's here-string": ("passwd --stdin me <<< {}", "correcthorse"),
    "vault's value": ("vault kv put secret/x password={}", "correcthorse"),
    "vault's second value": ("vault kv put -mount=x y a=*** api_token={} c=1", "correcthorse"),
    "vault's user": ("vault write auth/userpass/users/me password={} policies=admin", "correcthorse"),
    "a literal of kubectl": ("kubectl create secret generic x --from-literal=password={}", "correcthorse"),
    "a value of helm": ("helm upgrade x . --set db.password={} --wait", "correcthorse"),
    "gh's secret": ("gh secret set NAME --body {}", "correcthorse"),
    "ssh-keygen's phrase": ("ssh-keygen -t ed25519 -N '{}' -f key", "correct horse"),
    "npm's token": ("npm config set //registry.example.com/:_authToken {}", "correcthorse"),
    "a value with a dot in YAML": ("client_secret: {}\n", "abc1.defgh2"),
    "a word with a number in YAML": ("password: {}\n", "hunter2"),
    "words": ('password = "{}"', "three words here"),
    "words in JSON": ('{{"password": "{}"}}', "correct horse battery staple"),
    "netrc": ("machine example.com\n  login me\n  password {}\n", "correcthorse"),
    "a cookie": ("Cookie: {}\nHost: example.com", "theme=dark; session=abc"),
    "a cookie in quotes": ("curl -H 'Cookie: {}' https://example.com", "sid=" + FILLER),
    "Docker's settings": ('{{"r.example.com": {{"auth": "{}"}}}}', "dXNlcjpwYXNzd29y"),
    "*_PASS": ("DB_PASS={}\n", "correcthorse"),
    "*_PWD": ("MYSQL_PWD={}\n", "correcthorse"),
    "*_PAT": ("AZURE_PAT={}\n", FILLER),
    "pass in JSON": ('{{"user": "me", "pass": "{}"}}', "correcthorse"),
    "a header with a token": ("Authorization: token {}", FILLER),
    "a header with a login": ("AUTHORIZATION: basic {}", "dXNlcjpwYXNz"),
    "a header without a scheme": ('{{"Authorization": "{}"}}', FILLER),
    "XML": ("<dbPassword>{}</dbPassword>", "correcthorse"),
    "an attribute": ('<property name="password" value="{}"/>', "hX7kQ2mZ9pLw"),
    "SQL's user": ("CREATE USER me IDENTIFIED WITH sha256_password BY '{}';", "correcthorse"),
    "SQL's role": ("ALTER ROLE me WITH PASSWORD '{}';", "correct horse"),
    "SQL's function": ("SET PASSWORD FOR me = PASSWORD('{}');", "correcthorse"),
    "a container's variable": ("- name: DB_PASSWORD\n  value: {}\n", "correcthorse"),
    "a container's variable in JSON": ('{{"name": "DB_PASSWORD", "value": "{}"}}', "correcthorse"),
    "a block of YAML": ("password: |\n{}\nport: 1", "  correcthorse\n  and more"),
    "a connection string": ("Server=db;User Id=sa;Password={};Encrypt=true", "correcthorse"),
    "an address with an at": ("postgres://me:{}@db/shop", "p@sswordx"),
    "an address with a token": ("https://{}@git.example.com/x.git", FILLER),
    "an address for Java": ("jdbc:mysql://db/shop?user=me&password={}", "correcthorse"),
    "an address for Go": ("me:{}@tcp(db:3306)/shop", "correcthorse"),
    "a variable with spaces": ("export PASSWORD='{}'\n", "correct horse battery"),
    "quotes within JSON": ('{{"password": "{}", "port": 1}}', 'ab\\"correcthorse\\"cd'),
    "docker's secret in a here-string": ("docker secret create x - <<< {}", "correcthorse"),
    "docker's secret from a pipe": ("echo {} | docker secret create x -", "correcthorse"),
    "gh's token in a here-string": ("gh auth login --with-token <<< '{}'", "correct horse"),
    "gh's secret from a pipe": ("printf %s {} | gh secret set NAME", "correcthorse"),
    "gh's secret before a here-string": ("gh secret set NAME --body {} && cat <<< file", "correcthorse"),
    "gcloud's secret from a pipe": ("echo -n '{}' | gcloud secrets create x --data-file=-", "correcthorse"),
    "sudo's here-string": ('sudo -S ls /root <<< "{}"', "correcthorse"),
    "a share's password": ("net use Z: \\\\files\\share /user:me {}", "correcthorse"),
    "a share's password before the user": ("net use \\\\files\\c$ {} /user:me", "correcthorse"),
    "what expect sends": ('expect "assword:"\nsend "{}\\r"', "correcthorse"),
    "what pexpect sends": ('child.expect("password:")\nchild.sendline("{}")', "correcthorse"),
    "an answer to git": ("Password for 'https://me@git.example': {}\n", "correcthorse"),
    "an answer to ssh": ("Enter passphrase for key '/home/me/.ssh/id': {}\n", "correcthorse"),
    "an answer to aws": ("AWS Secret Access Key [None]: {}\n", "correcthorse"),
    "a variable of Windows": ('setx API_TOKEN "{}"', "correct horse"),
    "a secure string": ('ConvertTo-SecureString "{}" -AsPlainText', "correct horse"),
    "Azure's secret": ("az keyvault secret set --name db --value '{}'", "correct horse"),
    "a parameter of AWS": ("aws ssm put-parameter --type SecureString --value {}", "correcthorse"),
    "a wireless network": ("nmcli dev wifi connect Home password {}", "correcthorse"),
    "a login in code": ('smtp.login("me@example.com", "{}")', "correcthorse"),
    "a setter": ('source.setPassword("{}");', "correcthorse"),
    "a constant in PHP": ("define('DB_PASSWORD', '{}');", "correcthorse"),
    "a variable of an image": ("ENV ADMIN_PASSWORD {}\n", "correcthorse"),
    "a line of pgpass": ("db:5432:shop:app:{}\n", "correcthorse"),
    "GitLab's header": ("PRIVATE-TOKEN: {}", "correcthorse"),
    "a bearer of letters": ("Authorization: Bearer {}", "correcthorse"),
    "a variable of Terraform": ('variable "db_password" {{\n  default = "{}"\n}}', "correcthorse"),
    "a hash of passwords": ("root:{}:19700:0:99999:7:::", "$6$" + FILLER[:16] + "$" + FILLER),
    "a sentence with a word": ("The password for the test database is {}.\n", "bluebird"),
    "a wallet": ("mnemonic: {}\n", "abandon ability able about above absent absorb abstract absurd abuse access acid"),
    "an apostrophe": ('password: "{}"', "it'scorrecthorse"),
}
"""Shapes of values with a name or an address: the text around the value, and the value."""
ORDINARY = (
    "systemctl --no-ask-password --no-pager --legend=no list-units",
    "systemctl --no-ask-password restart nginx",
    "cryptenroll --password --recovery-key --wipe-slot=all",
    "Pass --password interactively.",
    "qemu --pass-through x86 --machine q35",
    "build --pass-through=x86_64",
    "go run ./cmd -pass test",
    "pwd=`pwd`",
    '{"password": "min"}',
    "const secret = 'dev';",
    "SECRET=dev",
    "MYSQL_PASSWORD=test",
    "deploy --password stdin < file",
    "echo hello | docker build -",
    "echo done; 7z l -pa; zip -r out.zip docs",
    "gzip file -Path",
    "htpasswd -b file admin",
    'password = "the old one"; password: "enter your password"; {"password": "forgot password"}',
    "secret: uint256; password: str2, pwd: sha256; password: password1",
    "Use the --token option, or --token with a file; --token-type bearer",
    "password: at least eight characters long\npassword: user account login\nsecret = cfg2.member",
    "The password is sha256 hashed, the secret is base64; pass = all tests are green",
    'echo "curl -u user:" "$USER:$PASS"; ssh-keygen -N "" -f key; vault kv get secret/x; chpasswd < file',
    "The password is required. The password is wrong, the password is hashed. The password is too short.",
    "docker secret create x ./file; gh auth login --with-token < file; cat <<< word",
    'Send "hello" and expect "hello"; res.send("ok"); sudo -S ls; expect(field("Password")).toBeVisible(); send("x")',
    "net use Z: \\\\files\\share /delete; Authorization: Bearer authentication; X-Api-Key: your-key",
    'client.login("me", "password"); user.setPassword("password"); define("DEBUG", "false"); ENV PATH /usr/bin',
    "signature: sig=inspect.signature(function_with_a_long_name)",
)
KEY = (
    "-----BEGIN RSA "
    "PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n" + "\n".join([FILLER * 2] * 12) + "\n-----END RSA " + "PRIVATE KEY-----"
)


def test_a_token_of_a_known_shape_is_masked_and_nothing_else(subtests: pytest.Subtests) -> None:
    for name, token in TOKENS.items():
        with subtests.test(name=name):
            assert Redactor()(f"The token is '{token}', keep it.") == f"The token is '{MASK}', keep it."
            assert Redactor()(token) == MASK
            assert Redactor()(f"key={token}\n") == f"key={MASK}\n"


def test_an_assigned_secret_is_masked_and_nothing_else(subtests: pytest.Subtests) -> None:
    for name, (text, value) in ASSIGNED.items():
        with subtests.test(name=name):
            assert Redactor()(text.format(value)) == text.format(MASK)


def test_ordinary_lines_are_not_masked(subtests: pytest.Subtests) -> None:
    for line in ORDINARY:
        with subtests.test(line=line):
            assert Redactor()(line) == line


@pytest.mark.parametrize("prefix", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "AKIA", "ASIA", "xapp-", "sk-or-"])
def test_every_prefix_of_a_kind_of_token_is_known(prefix: str) -> None:
    assert Redactor()(f"({prefix}{FILLER.upper()})") == f"({MASK})"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abcdefghijklmnop.qrst", "Authorization: Bearer ***"),
        ('{"Authorization": "Bearer a1b2c3d4e5"}', '{"Authorization": "Bearer ***"}'),
        ("authorization: basic dXNlcjpwYXNzd29yZDE=", "authorization: basic ***"),
        ("postgres://me:hunter2!@db.example/x", "postgres://me:***@db.example/x"),
        ("see http://localhost:8080/a@b and a:b@c", "see http://localhost:8080/a@b and a:b@c"),
        (f"before\n{KEY}\nafter", "before\n***\nafter"),
        (f'"{KEY}"'.replace("\n", "\\n"), '"***"'),
        (f"cut: {KEY[:600]}", "cut: ***"),
        (f"{KEY[:600]}\n\nSee above.", "***\n\nSee above."),
        (f"1\nPrivate-Lines: 1\n{FILLER}\nPrivate-MAC: 0123", "1\n***Private-MAC: 0123"),
        (f"x\n---- BEGIN SSH2 PRIVATE KEY ----\n{FILLER}\n---- END SSH2 PRIVATE KEY ----\ny", "x\n***\ny"),
        ("nul \x00 and \ud800 alone", "nul \ufffd and \ufffd alone"),
    ],
)
def test_what_surrounds_a_secret_stays(text: str, masked: str) -> None:
    assert Redactor()(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "The bearer authentication of task-force-management-of-things",
        "a risk-abcdefghijklmnopqrstuvwxyz-free plan, ghp_short, sk-short, AKIAshort",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: 已完成所有工作\n---END_RALPH_STATUS---",
        "git commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "password = get_password(); token: str; max_tokens=100000; tokens: 12345678; api_key=os.environ['KEY_1']",
        'properties: {"token": {"type": "string"}, "password": "string"}; sort_key = "name1"; cache_key=user42',
        "The password is asked for at the prompt: type it, then press Enter. My secret: be kind.",
        "def parse(token: str2bool): retry(token=make_token2, n=3); const token = getToken1(); password=hash1234(pw)",
        "--token=ci_job1 session_token=sess_42 EXIT_TOKEN: step_12of40 token: utf8_string; key = 'name_1'",
        "password: ${DB_PASSWORD}\ntoken: <your-token>\nsecret_name: my-secret-1\n",
        "tool --password-file path/to/file1 --password-stdin; token = tokenizer.next(); def login(password: str): ...",
        'Use the --password option, or --token TOKEN1. tool --password "$DB_PASSWORD" --token ~/.config/token1',
        'add_argument("--password", "--pass1"); option("--password", "db_password"); ("PASSWORD", "USERNAME2")',
        "--- PASS: TestFoo3Bar2x (0.00s)\nPWD=/home/user1/shop\nOLDPWD=/home/user1\nfirst_pass = second_pass1",
        "The password 'foo' and the user identified by 'username' differ. 'type': 'bandpass', \"auth\": \"oauth2\"",
        "mysql -u root -p shop; docker run --name mongo -p 27017:27017 mongo; curl -u $USER:$PASS localhost",
        "Cookie: see RFC 6265. Set-Cookie: x; <password>string</password>, {'name': 'password', 'value': 'string'}",
        "authorization: request.headers; Authorization: Basic authentication is used; Authorization: token",
        "client_secret=settings.OAUTH2_SECRET\npassword=config2.password, secret=os2.environ",
        'pwd=/home/user/x1; let pwd = "./build"; ROUTE_FORGOT_PASSWORD = "forgot-password"; password: "required|min:8"',
        "https://oauth2:${GITHUB_TOKEN}@github.com, https://oauth2:$TOKEN@github.com, https://me:{password}@db:%s@x",
        "Use --password to log in; the --password option, --password is old, a --password flag. The flag --password.",
        'password=str, "password": "", "secret": None, {"password": "str"}; PASSWORD = x, password=pw1, secret=abc',
        "PWD=src pwd=bin; client_secret=config2.secret; token=a1.b2; --password PASS --password <pw> PASSWORD=$1",
        "PASSWORD_PROMPT='Enter your password'\n- name: PASSWORD_FILE\n  value: /run/secrets/x1\nfile_pat = '*.py'",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert Redactor()(text) == text


def test_what_an_agent_is_told_keeps_named_values_and_no_known_secret_or_token() -> None:
    token = "ghp" + "_" + FILLER + "0123"
    own = (
        'curl -u admin:admin1 http://x; mysql -uroot -proot1\npassword: "Kennwort"\nSet-Cookie: theme=dark\n'
        "postgres://me:hunter2!@db/x; me:hunter2!@tcp(db)/x; DB_PASSWORD=correcthorse1; twitter_secret = '{}'"
    ).format("a1b2c3d4e5" * 4 + "x1y2z")
    redact = Redactor(["hunter3-hunter3"])
    told = redact.for_agent()

    assert told(f"{own} hunter3-hunter3 {token} Bearer {FILLER}") == f"{own} *** *** Bearer ***"
    assert redact(own).count(MASK) == 8, "what is stored stays masked"
    stream = told.stream()
    assert "".join(map(stream.feed, f"{own} {token}")) + stream.flush() == f"{own} ***"


def test_a_mention_of_a_private_key_does_not_eat_the_answer() -> None:
    text = "I removed the -----BEGIN PRIVATE KEY----- line from the docs.\n\nEXIT_SIGNAL: true"

    assert Redactor()(text) == "I removed the *** line from the docs.\n\nEXIT_SIGNAL: true"


def test_given_values_are_masked_in_every_spelling_but_not_when_short() -> None:
    redact = Redactor(["p@ss wörd\n1", "short", "", "  longenough  "])

    assert redact("x p@ss wörd\n1 y") == "x *** y"
    assert redact(r'{"x": "p@ss w\u00f6rd\n1"}') == '{"x": "***"}'
    assert redact("?q=p%40ss%20w%C3%B6rd%0A1") == "?q=***"
    assert redact("short longenough") == "short ***"


def test_a_given_value_is_masked_to_its_end_wherever_a_shorter_secret_begins(subtests: pytest.Subtests) -> None:
    for value in ("Tr0ub4dor&3xyz;end", "sEcr3t!<br>(x)=yz", "c0mpl3x,pa ss word", "ghp_" + FILLER + " and more"):
        for name in ("PASSWORD=", "API_TOKEN=", '"secret": "', "x "):
            text = f"{name}{value} end"
            with subtests.test(text=text):
                whole = Redactor([value])(text)
                assert whole == f"{name}{MASK} end"
                for cut in range(len(text)):
                    stream = Redactor([value]).stream()
                    assert stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.flush() == whole


def test_a_password_of_six_characters_is_long_enough_to_be_masked() -> None:
    redact = Redactor(["s3cr3t", "fiver"])

    assert redact("I log in with s3cr3t, not with fiver") == "I log in with ***, not with fiver"


SECRETS = [
    *TOKENS.values(),
    *(text.format(value) for text, value in ASSIGNED.values()),
    KEY,
    "Bearer abcdefghijklmnop.qrst",
    "x://u:pa55@h",
    "value with spaces",
    "wörter-ganz",
]
PIECES = st.sampled_from([
    *SECRETS,
    "aaaa",
    " ",
    "\n",
    "Bearer ",
    "-----BEGIN ",
    "PRIVATE KEY-----",
    "-----END",
    "://",
    "@",
    "sk-",
    "password",
    "TOKEN",
    " = ",
    ": ",
    "encryption_key=",
    "client-key: ",
    "abc123def456",
    '"',
    "twitter",
    "PASSWORD",
    "--password ",
    "curl -u me",
    "Cookie: a=b",
    "mysql ",
    " -p",
    "value",
    "|\n  ",
    '\\"',
    "</",
    "\0",
    "ö",
])
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=12).map("".join)


@given(text=TEXTS, seed=st.integers(0, 2**32), largest=st.integers(1, 60))
@settings(max_examples=400, deadline=None)
def test_pieces_give_what_the_whole_gives(text: str, seed: int, largest: int) -> None:
    redact = Redactor(["value with spaces", "wörter-ganz", "aaaaaaaa"])
    chance, stream = random.Random(seed), redact.stream()
    shown, position = [], 0
    while position < len(text):
        step = chance.randint(1, largest)
        shown.append(stream.feed(text[position : position + step]))
        position += step
    shown.append(stream.flush())

    assert "".join(shown) == redact(text)


def test_a_secret_is_masked_wherever_it_is_split(subtests: pytest.Subtests) -> None:
    for secret in SECRETS:
        for filler in ["", "x" * 3000 + " ", "字" * 50, "-" * 3000]:
            with subtests.test(secret=secret, filler=filler):
                redact = Redactor(["value with spaces", "wörter-ganz"])
                text = f"{filler}{secret} end"
                whole = redact(text)
                assert secret not in whole

                for cut in range(len(filler), len(text), 1 if len(secret) < 200 else 13):
                    stream = redact.stream()
                    assert stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.flush() == whole


def test_a_token_without_end_is_swallowed_and_not_kept_in_memory() -> None:
    stream = Redactor().stream()
    shown = [stream.feed(TOKENS["openai"])] + [stream.feed(FILLER * 100) for _ in range(100)]

    assert "".join(shown) in {"", MASK}
    assert len(stream._text) < 20_000
    assert "".join(shown) + stream.feed(" end") + stream.flush() == f"{MASK} end"


def test_prose_is_shown_word_by_word() -> None:
    stream = Redactor().stream()

    assert stream.feed("The quick bro") == "The quick "
    assert stream.feed("wn fox") == "brown "
    assert stream.feed("完成了") == "fox完成了"


def test_masking_twice_changes_nothing() -> None:
    redact = Redactor(["some literal value"])
    once = redact(" ".join([*SECRETS, "some literal value"]))

    assert redact(once) == once


@pytest.mark.alone
@pytest.mark.parametrize(
    "unit",
    [
        "eyJ",
        "://a:",
        "ghp_",
        "-----BEGIN PRIVATE KEY-----",
        "Bearer ",
        "a" * 5,
        "sk-",
        "token=",
        "password: x ",
        "api_key = '",
        TOKENS["aws"] + " ",
        "curl ",
        "--password ",
    ],
)
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    redact = Redactor(["some literal value", "another one here"])

    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        began = thread_time()
        redact(text)
        return thread_time() - began

    small = min(seconds(100_000) for _ in range(3))
    assert min(seconds(400_000) for _ in range(3)) < 12 * small + 0.05


def test_the_environment_tells_what_is_secret() -> None:
    environ = {
        "GH_TOKEN": "v1",
        "AWS_SECRET_ACCESS_KEY": "v2",
        "OPENAI_API_KEY": "v3",
        "DB_PASSWORD": "v4",
        "MY_APIKEY": "v5",
        "client_secret": "v6",
        "SSHPASS": "v7",
        "ADMIN_PW": "v8",
        "DB_CREDS": "v9",
        "KEYBOARD": "no",
        "MAX_TOKENS": "no",
        "PWD": "/no",
        "PASSWORD_FILE": "/no",
        "SECRETS_DIR": "/no",
        "API_KEY_PATH": "/no",
        "MONKEY": "no",
        "HOME": "/no",
        "EMPTY_TOKEN": "",
    }

    assert secret_values(environ) == ("v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9")


def test_gits_settings_in_variables_are_no_secrets() -> None:
    """Their names hold KEY; without one of them git refuses to run at all, and their values are file names."""
    environ = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "/srv/shop"}

    assert secret_values(environ) == ()
    assert Variables().of(environ) == environ


def test_values_without_a_secret_stay_as_they_are() -> None:
    token = TOKENS["github"]
    given_ = {"verify": ["printf '\x1b[0m\u200b'", f"curl -H {token[:9]}\u200b{token[9:]}"], "number": 1}

    assert Redactor().within(given_) == {"verify": ["printf '\x1b[0m\u200b'", f"curl -H {MASK}"], "number": 1}
