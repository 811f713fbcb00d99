"""Which variables are passed on, and what the search path opens to a sandbox."""

from itertools import pairwise
from pathlib import Path

import pytest

from ralph.system.sandbox import Confinement, Sandbox, Variables

ENVIRON = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "LC_ALL": "C",
    "EDITOR": "vi",
    "NPM_TOKEN": "1",
    "NPM_CONFIG_REGISTRY": "https://example.test",
    "DB_PASSWORD": "2",
    "RALPH_EXECUTOR__API_KEY": "3",
    "RALPH_STORE": "postgresql://me:4@host/db",
    "RALPH_PLUGINS__NOTIFY__URLS": "discord://6/7",
    "GH_TOKEN": "5",
}
LEADING = {
    "SSH_AUTH_SOCK": "/tmp/agent.1",
    "NPM_CONFIG__AUTH": "dXNlcjpwdw==",
    "DOCKER_AUTH_CONFIG": "{}",
    "OAUTH2_CLIENT": "x",
    "XAUTHORITY": "/run/x",
    "BASIC_AUTHORIZATION": "x",
    "DATABASE_URL": "sqlite:///x.db",
    "TEST_DATABASE_URL": "postgres://host/db",
    "GIT_ASKPASS": "/usr/bin/helper",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "api-key=of-the-collector",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
    "CACHE": "redis://:pw@host:6379/0",
    "AMQP_URL": "amqp://me:pw@host/",
    "CHAT": "https://hooks.slack.com/services/T0123ABCD/B0123ABCD/" + "Ab3dEf6hIj9kLm2nOp5qRs8t",
    "STORAGE": "AccountName=a;AccountKey=" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z" * 2,
    "MY_SETTINGS": '{"password": "hunter2x"}',
    "GIT_CONFIG_PARAMETERS": "'http.extraheader=Authorization: Basic dXNlcjpwYXNz'",
    "BW_SESSION": "Ab3dEf6hIj9k",
}
HARMLESS = {
    "GIT_AUTHOR_NAME": "me",
    "AUTHOR": "me",
    "PACKAGE_AUTHORS": "me, you",
    "HTTPS_PROXY": "http://me:pw@proxy:3128",
    "REDIS_URL": "redis://localhost:6379/0",
    "PW_TEST_HTML": "on",
    "LESS": "-R --token",
    "IN_LATIN": "/srv/caf\udce9",
    "DOCS": "https://example.com/a:b@c",
}


def test_what_leads_to_a_secret_is_passed_on_only_if_it_is_named():
    assert Variables().of({**LEADING, **HARMLESS}) == HARMLESS
    assert Variables(keep=("*",)).of(LEADING) == LEADING
    assert Variables(only=("SSH_AUTH_SOCK",)).of(LEADING) == {"SSH_AUTH_SOCK": "/tmp/agent.1"}
    assert set(Variables().of(LEADING, {"DATABASE_URL"})) == {"DATABASE_URL"}


def test_what_looks_secret_is_not_passed_on():
    assert set(Variables().of(ENVIRON)) == {"PATH", "HOME", "LC_ALL", "EDITOR", "NPM_CONFIG_REGISTRY"}


def test_what_the_program_needs_is_passed_on_in_any_case():
    assert "GH_TOKEN" in Variables().of(ENVIRON, {"GH_TOKEN"})
    assert "GH_TOKEN" in Variables(only=()).of(ENVIRON, {"GH_TOKEN"})


def test_what_is_to_be_kept_is_passed_on_although_it_looks_secret():
    assert set(Variables(keep=("DB_*",)).of(ENVIRON)) - set(Variables().of(ENVIRON)) == {"DB_PASSWORD"}


@pytest.mark.parametrize(
    ("only", "more"),
    [((), set[str]()), (("EDITOR",), {"EDITOR"}), (("EDITOR, NPM_*",), {"EDITOR", "NPM_TOKEN", "NPM_CONFIG_REGISTRY"})],
)
def test_a_strict_list_passes_on_what_it_names_and_what_no_program_can_do_without(
    only: tuple[str, ...], more: set[str]
):
    assert set(Variables(only=only).of(ENVIRON)) == {"PATH", "HOME", "LC_ALL"} | more


def test_a_sandbox_opens_the_programs_in_the_home_folder_and_never_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    home = tmp_path.resolve() / "home"
    (home / "bin").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home}:{home}/bin:/usr/bin")
    argv = Confinement(sandbox=Sandbox(kind="bwrap")).command(["true"], cwd=tmp_path)
    opened = [place for option, place in pairwise(argv) if option == "--ro-bind-try"]
    assert opened == [f"view:{home}/bin"]
