"""How many shapes of secrets are masked, how much of ordinary text is masked by mistake, and what masking costs.

Prints one JSON object: `shapes` and `masked` (how many shapes there are, and of how many each of several examples is
masked in each context), `missed` (their names), `false_alarms` (masked lines in ordinary text: 1 MB of the sources of
Python's standard library, and `ORDINARY`), `found_where` (some of them), `ms_1mb` (masking the former), `slope` (the
time for each character of 4 MB ÷ of 1 MB), and `hostile_ratio` (the slowest hostile text, for 1 MB ÷ that text).

The shapes are templates that are filled at random: `{hex:32}` with hexadecimal digits, `{alnum:20}` with letters and
digits, `{upper:16}` with capitals and digits, `{word:40}` with letters, digits, `_` and `-`, `{num:10}` with digits,
`{letters:8}` with small consonants;
`\\n` is a line's end.
"""

import json
import random
import re
import string
import sysconfig
from pathlib import Path
from time import thread_time

from ralph.system.secrets import MASK, Redactor

ALPHABETS = {
    "hex": "0123456789abcdef",
    "alnum": string.ascii_letters + string.digits,
    "upper": string.ascii_uppercase + "234567",
    "lower": string.ascii_lowercase + string.digits,
    "word": string.ascii_letters + string.digits + "_-",
    "num": string.digits,
    "letters": "bcdfghjklmnpqrstvwxz",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "b64": string.ascii_letters + string.digits + "+/",
}
TOKENS = """
github classic: ghp_{alnum:36}
github oauth: gho_{alnum:36}
github user: ghu_{alnum:36}
github app: ghs_{alnum:36}
github refresh: ghr_{alnum:36}
github fine-grained: github_pat_{alnum:22}_{alnum:59}
gitlab personal: glpat-{word:20}
gitlab runner: glrt-{word:20}
gitlab deploy: gldt-{word:20}
gitlab trigger: glptt-{hex:40}
gitlab feed: glft-{word:20}
gitlab mail: glimt-{word:25}
gitlab agent: glagent-{word:50}
gitlab oauth: gloas-{word:64}
gitlab job: glcbt-64_{word:20}
openai legacy: sk-{alnum:48}
openai project: sk-proj-{word:74}T3BlbkFJ{word:74}
openai service: sk-svcacct-{word:58}T3BlbkFJ{word:58}
anthropic: sk-ant-api03-{word:93}AA
anthropic admin: sk-ant-admin01-{word:93}AA
openrouter: sk-or-v1-{hex:64}
groq: gsk_{alnum:52}
xai: xai-{alnum:80}
perplexity: pplx-{alnum:48}
hugging face: hf_{alnum:34}
replicate: r8_{alnum:37}
fireworks: fw_{alnum:24}
tavily: tvly-{alnum:32}
tavily development: tvly-dev-{alnum:32}
langsmith: lsv2_pt_{hex:32}_{hex:10}
langfuse: sk-lf-{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}
pinecone: pcsk_{alnum:6}_{alnum:60}
nvidia: nvapi-{word:64}
cerebras: csk-{lower:48}
aws key: AKIA{upper:16}
aws session key: ASIA{upper:16}
aws bedrock: ABSK{b64:110}
google key: AIza{word:35}
google oauth secret: GOCSPX-{word:28}
google access: ya29.a0{word:60}
google refresh: 1//0{word:60}
slack bot: xoxb-{num:12}-{num:12}-{alnum:24}
slack user: xoxp-{num:12}-{num:12}-{num:12}-{hex:32}
slack app: xapp-1-A{upper:10}-{num:13}-{hex:64}
slack config: xoxe-1-{upper:146}
slack webhook: https://hooks.slack.com/services/T{upper:8}/B{upper:8}/{alnum:24}
slack workflow: https://hooks.slack.com/workflows/T{upper:8}/A{upper:8}/{num:17}/{alnum:24}
discord webhook: https://discord.com/api/webhooks/{num:18}/{word:68}
discord webhook, old: https://discordapp.com/api/webhooks/{num:18}/{word:68}
teams webhook: https://acme.webhook.office.com/webhookb2/{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}@{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}/IncomingWebhook/{hex:32}/{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}
telegram: {num:9}:AA{word:33}
stripe: sk_live_{alnum:24}
stripe test: sk_test_{alnum:24}
stripe restricted: rk_live_{alnum:24}
stripe webhook: whsec_{alnum:32}
square: sq0atp-{word:22}
twilio: SK{hex:32}
sendgrid: SG.{word:22}.{word:43}
brevo: xkeysib-{hex:64}-{alnum:16}
mailchimp: {hex:32}-us12
shopify: shpat_{hex:32}
shopify app: shpca_{hex:32}
shopify secret: shpss_{hex:32}
npm: npm_{alnum:36}
pypi: pypi-AgEIcHlwaS5vcmc{word:60}
rubygems: rubygems_{hex:48}
clojars: CLOJARS_{lower:60}
docker hub: dckr_pat_{word:27}
digitalocean: dop_v1_{hex:64}
digitalocean oauth: doo_v1_{hex:64}
heroku: HRKU-AA{word:58}
vault: hvs.{word:24}
vault, long: hvs.{word:95}
vault batch: hvb.{word:140}
terraform cloud: {alnum:14}.atlasv1.{word:65}
databricks: dapi{hex:32}
planetscale: pscale_tkn_{word:43}
planetscale password: pscale_pw_{word:43}
supabase: sbp_{hex:40}
supabase secret: sb_secret_{word:31}
neon: napi_{lower:40}
render: rnd_{alnum:28}
fly: fo1_{word:43}
doppler: dp.pt.{alnum:43}
pulumi: pul-{hex:40}
grafana: glsa_{alnum:32}_{hex:8}
grafana cloud: glc_{b64:60}
sentry user: sntryu_{hex:64}
new relic: NRAK-{upper:27}
dynatrace: dt0c01.{upper:24}.{upper:64}
postman: PMAK-{hex:24}-{hex:34}
linear: lin_api_{alnum:40}
notion: ntn_{num:11}{alnum:35}
figma: figd_{word:40}
atlassian: ATATT3{word:186}
bitbucket: ATBB{alnum:32}
contentful: CFPAT-{word:43}
readme: rdme_{lower:70}
prefect: pnu_{alnum:36}
scalingo: tk-us-{word:48}
duffel: duffel_test_{word:43}
easypost: EZAK{alnum:54}
shippo: shippo_live_{hex:40}
facebook page: EAAC{alnum:110}
alibaba: LTAI{alnum:20}
1password: ops_eyJ{b64:300}
age: AGE-SECRET-KEY-1{bech:58}
jwt: eyJ{alnum:33}.eyJ{alnum:40}.{word:43}
azure ad: {alnum:3}8Q~{word:34}
openshift: sha256~{word:43}
artifactory: AKCp{alnum:69}
"""
PHRASES = """
basic login in an address: https://deploy:{alnum:16}@git.example.com/repo.git
database address: postgresql://app:{alnum:12}@db.internal:5432/shop
redis address: redis://:{alnum:20}@cache:6379/0
bearer header: Authorization: Bearer {word:40}
basic header: Authorization: Basic {b64:32}
key header: X-Api-Key: {alnum:32}
npmrc: //registry.example.com/:_authToken={hex:40}
npmrc, basic: //registry.example.com/:_auth={b64:40}
env password: DB_PASSWORD={alnum:14}
env password of letters: POSTGRES_PASSWORD=hunter{num:1}trees
env export: export API_TOKEN={alnum:32}
env secret key: AWS_SECRET_ACCESS_KEY={b64:40}
env quoted: SECRET_KEY="{word:50}"
json password: {"user": "app", "password": "{alnum:12}"}
json password of letters: {"password": "correcthorsebattery"}
json token: {"access_token": "{word:40}", "expires_in": 3600}
json escaped: "{\\"client_secret\\": \\"{alnum:32}\\"}"
yaml password: password: {alnum:16}
yaml quoted: client_secret: "{word:32}"
toml: api_key = "{alnum:32}"
ini: passwd = {alnum:14}
python: password = "{alnum:12}"
python mapping: {"api_key": '{hex:32}'}
ruby: secret_key => "{hex:64}"
query: GET /v1/items?access_token={alnum:32}&page=2
azure storage: AccountName=acme;AccountKey={b64:86}==;EndpointSuffix=core.windows.net
sql server: Server=db;User Id=sa;Password={alnum:14};
datadog: DATADOG_API_KEY={hex:32}
cloudflare: CLOUDFLARE_API_TOKEN={word:40}
twitter: twitter_secret = "{lower:45}"
discord client: discord_client = "{word:32}"
okta: okta_value = "00{word:40}"
heroku key: HEROKU = "{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}"
private key: -----BEGIN OPENSSH PRIVATE KEY----- {b64:70} {b64:70} -----END OPENSSH PRIVATE KEY-----
encrypted key: -----BEGIN ENCRYPTED PRIVATE KEY-----\\n{b64:64}\\n{b64:64}\\n-----END ENCRYPTED PRIVATE KEY-----
pgp key: -----BEGIN PGP PRIVATE KEY BLOCK-----\\nVersion: 2\\n\\n{b64:64}\\n=abcd\\n-----END PGP PRIVATE KEY BLOCK-----
ssh2 key: ---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\\n{b64:64}\\n---- END SSH2 ENCRYPTED PRIVATE KEY ----
openvpn key: -----BEGIN OpenVPN Static key V1-----\\n{hex:32}\\n{hex:32}\\n-----END OpenVPN Static key V1-----
putty key: Public-Lines: 1\\nAAAA\\nPrivate-Lines: 2\\n{b64:64}\\n{b64:64}\\nPrivate-MAC: 0123
flag: deploy --password {alnum:12} --to db
flag with equals sign: deploy --db-password={lower:14} --to db
flag in quotes: deploy --password '{word:16}'
token flag: deploy --api-token {alnum:24}
mysql: mysql -u root -h db -p{alnum:12} shop
sshpass: sshpass -p {alnum:12} ssh deploy@host
docker login: docker login -u deploy -p {alnum:12} registry.example.com
redis-cli: redis-cli -h cache -a {alnum:12} ping
curl: curl -s -u deploy:{alnum:12} https://example.com
curl on two lines: curl -X POST \\\\n  --user "deploy:{alnum:12}" https://example.com
keytool: keytool -list -storepass {alnum:12} -keystore k
openssl: openssl rsa -in k -passin pass:{alnum:12}
netrc: machine example.com login deploy password {alnum:12}
netrc on lines: machine example.com\\n  login deploy\\n  password {alnum:12}\\n
cookie: Cookie: theme=dark; session={alnum:24}; lang=en
set cookie: Set-Cookie: sid={alnum:24}; Path=/; HttpOnly
cookie in JSON: {"Cookie": "sid={alnum:24}"}
docker settings: {"auths": {"r.example.com": {"auth": "{b64:28}"}}}
env pass: DB_PASS={alnum:12}
env pwd: MYSQL_PWD={lower:12}
env pat: AZURE_PAT={lower:52}
json pass: {"user": "app", "pass": "{alnum:12}"}
token header: Authorization: token {hex:40}
header without scheme: {"Authorization": "{alnum:32}"}
xml: <password>{alnum:12}</password>
xml with prefix: <dbPassword>{alnum:12}</dbPassword>
spring: <property name="password" value="{alnum:12}"/>
net: <add key="DbPassword" value="{alnum:12}" />
sql identified: CREATE USER app IDENTIFIED BY '{alnum:12}';
sql identified with: ALTER USER app IDENTIFIED WITH caching_sha2_password BY '{alnum:12}';
sql password: ALTER ROLE app WITH PASSWORD '{alnum:12}';
kubernetes: - name: DB_PASSWORD\\n  value: {alnum:12}\\n
kubernetes quoted: - name: DB_PASSWORD\\n  value: "{alnum:12}"\\n
container settings: {"name": "DB_PASSWORD", "value": "{alnum:12}"}
yaml block: password: |\\n  {alnum:12}\\nport: 1
yaml folded: client_secret: >-\\n    {alnum:32}\\n
connection string: Server=db;Uid=sa;Pwd={alnum:12};
ftp address: ftp://deploy:{alnum:12}@files.example.com/x
address with at: postgres://app:p@{alnum:12}@db/shop
address with a token: https://{alnum:40}@git.example.com/repo.git
jdbc: jdbc:mysql://db/shop?user=app&password={alnum:12}
go address: app:{alnum:12}@tcp(db:3306)/shop
export with spaces: export PASSWORD='{alnum:12} horse battery'
flag with a word: deploy --password {letters:9} --to db
flag with a word at the end: deploy --db-password {letters:8}
curl behind spaces: curl -s -u     deploy:{alnum:12} https://example.com
short variable: DB_PASSWORD={letters:4}
short flag: deploy --password {letters:5} --to db
short flag with equals sign: deploy --password={letters:4} --to db
short json: {"user": "app", "password": "{letters:4}"}
short query: GET /login?user=app&password={letters:5}&page=2
short xml: <password>{letters:5}</password>
secret with a dot: client_secret={letters:3}{num:1}.{letters:5}{num:1}
docker pipe: echo {alnum:12} | docker login -u me --password-stdin
gh pipe: printf %s {alnum:12} | gh auth login --with-token
docker here-string: docker login --password-stdin <<< {alnum:12}
sudo pipe: echo '{letters:9}' | sudo -S apt-get install x
httpie login: http -a me:{letters:8} GET example.com
zip password: zip -er -P{letters:8} out.zip a
unzip password: unzip -P {letters:8} out.zip
7z password: 7z a -p{letters:8} out.7z b
unrar password: unrar x -p{letters:8} out.rar
rar password of names: rar a -hp{letters:8} out.rar b
azure sas: https://a.blob.core.windows.net/c?sv=2022-11-02&sig={alnum:43}%3D
azure sas first: BlobEndpoint=https://a.blob.core.windows.net/;SharedAccessSignature=sig={alnum:43}%3D&sv=2020
azure login: az login --service-principal -u app -p {letters:12} --tenant t
htpasswd: htpasswd -nb me {letters:8}
smbclient: smbclient //s/x -U me%{letters:8}
lftp: lftp -u me,{letters:8} ftp.example.com
sqlcmd: sqlcmd -U me -P {letters:8} -S db
sqlplus: sqlplus me/{letters:8}@db
twine: twine upload -u me -p {letters:8} dist/*
vault login: vault login {letters:12}
aws settings: aws configure set aws_secret_access_key {letters:12}
token flag with a word: deploy --token {letters:8} production
token flag with a word and equals sign: deploy --token={letters:8} production
yaml with a dot: client_secret: {letters:3}{num:1}.{letters:5}{num:1}
yaml with a number: password: {letters:6}{num:1}
words: password = "{letters:5} {letters:5} {letters:4}"
json with words: {"password": "{letters:5} {letters:5}"}
setting with a dot: client_secret = {letters:3}{num:1}.{letters:5}{num:1}
words in yaml: password: {letters:5} {letters:5} {letters:7} {letters:6}
sentence: The password is {letters:6}{num:2}, as told.
curl with words: curl -u "me:{letters:5} {letters:5}" https://example.com
curl with quoted words: curl -u me:'{letters:5} {letters:5}' https://example.com
docker login with words: docker login -u me -p '{letters:5} {letters:5}' registry
chpasswd: chpasswd <<< root:{letters:8}
chpasswd lines: chpasswd <<EOF\\nroot:{letters:8}\\nEOF
vault kv: vault kv put secret/x password={letters:8}
vault kv, second: vault kv put secret/x user=admin password={letters:8}
kubectl literal: kubectl create secret generic x --from-literal=password={letters:8}
gh secret: gh secret set NAME --body {letters:8}
ssh-keygen phrase: ssh-keygen -t ed25519 -N '{letters:5} {letters:5}' -f key
npm token: npm config set //r.example.com/:_authToken {letters:12}
json with quotes: {"password": "ab\\"{alnum:12}\\"cd"}
"""
CONTEXTS = ("{}", "The value is {}", "`{}`", "export X={}\n", '{{"value": "{}"}}', "see {}, then go")
ORDINARY = """
systemctl --no-ask-password --no-pager --legend=no list-units
systemctl --no-ask-password restart nginx
cryptenroll --password --recovery-key --wipe-slot=all
Pass --password interactively.
qemu --pass-through x86 --machine q35
build --pass-through=x86_64
go run ./cmd -pass test
pwd=`pwd`
{"password": "min"}
const secret = 'dev';
SECRET=dev
"""
HOSTILE = (
    "ghp_",
    "token=",
    "password: ",
    "://a:",
    "-----BEGIN ",
    "eyJ.",
    "twitter ",
    "api_key = '",
    '"secret": "',
    "Q~:AA",
)


def filled(template: str, source: random.Random) -> tuple[str, list[str]]:
    """Return an example of a shape and its random parts of at least four characters."""
    parts: list[str] = []

    def fill(found: re.Match[str]) -> str:
        letters = ALPHABETS[found[1]]
        text = "".join(source.choices(letters, k=int(found[2]) - 1)) + ("7" if "7" in letters else letters[-1])
        parts.extend([text] if len(text) >= 4 else [])
        return text

    return re.sub(r"\{(\w+):(\d+)\}", fill, template), parts


def secret_parts(parts: list[str], text: str) -> list[str]:
    """Return the parts of an example that must not be shown; for one without any, what follows its sign."""
    return parts or [re.split(r"[:=] ?\"?", text)[-1].strip('"}')]


def is_masked(name: str, template: str, context: str, redactor: Redactor) -> bool:
    """Return True if nothing of the longest random part of three examples is shown in that context."""
    source = random.Random(name)
    for _ in range(3):
        text, parts = filled(template, source)
        shown = redactor(context.format(text) if context != "{}" else text)
        secret = max(secret_parts(parts, text), key=len)
        if MASK not in shown or any(secret[at : at + 10] in shown for at in range(max(1, len(secret) - 9))):
            return False
    return True


def shapes() -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the shapes: name, template, contexts."""
    split = [
        (line.partition(": "), contexts)
        for text, contexts in ((TOKENS, CONTEXTS), (PHRASES, CONTEXTS[:1]))
        for line in text.strip().splitlines()
    ]
    return [(name, template.replace("\\n", "\n"), contexts) for (name, _, template), contexts in split]


def ordinary(size: int) -> str:
    """Return ordinary text: sources of the standard library, in the order of their names."""
    texts, length = list[str](), 0
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        texts.append(path.read_text(encoding="utf-8"))
        length += len(texts[-1])
        if length >= size:
            break
    return "".join(texts)[:size]


def seconds(text: str, redactor: Redactor) -> float:
    """Return the least processor time of three."""
    times: list[float] = []
    for _ in range(3):
        began = thread_time()
        redactor(text)
        times.append(thread_time() - began)
    return min(times)


def main() -> None:
    """Measure, and print the result."""
    redactor = Redactor()
    known = shapes()
    missed = [
        name
        for name, template, contexts in known
        if not all(is_masked(name, template, context, redactor) for context in contexts)
    ]
    text = ordinary(1_000_000)
    clean = text + ORDINARY
    lines = zip(clean.splitlines(), redactor(clean).splitlines(), strict=False)
    alarms = [(before.strip()[:80], after.strip()[:80]) for before, after in lines if before != after]
    plain, long = seconds(text, redactor), seconds(ordinary(4_000_000), redactor)
    hostile = {unit: 5 * seconds(unit * (200_000 // len(unit)), redactor) for unit in HOSTILE}
    print(
        json.dumps({
            "shapes": len(known),
            "masked": len(known) - len(missed),
            "missed": missed,
            "false_alarms": len(alarms),
            "found_where": alarms[:40],
            "ms_1mb": round(plain * 1000, 1),
            "slope": round(long / plain / (len(ordinary(4_000_000)) / len(text)), 2),
            "hostile_ratio": round(max(hostile.values()) / plain, 1),
            "worst_case": max(hostile, key=hostile.__getitem__),
        })
    )


if __name__ == "__main__":
    main()
