"""Verifiers by name, with keys: what is typed, what is made of it, and what is wrong with it."""

import pytest
from pydantic import BaseModel

from ralph.errors import UnknownNameError, UsageError
from ralph.system.sandbox import Confinement
from ralph.system.secrets import Redactor
from ralph.testing import ScriptedExecutor
from ralph.verifiers import CommandVerifier, ReviewVerifier, Verifier
from ralph.verifiers.base import VerifierContext, VerifierProvider
from ralph.verifiers.registry import VERIFIERS, parse_specification, verifier_named

MATERIALS = VerifierContext(ScriptedExecutor(), Redactor(), Confinement(), timeout=77.0, rounds=1)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("review", {}),
        ("review:", {}),
        ("review:rounds=2,timeout=5m", {"rounds": "2", "timeout": "5m"}),
        ("command:command=pytest -q", {"command": "pytest -q"}),
        ("command: command = pytest -q , timeout = 5", {"command": "pytest -q", "timeout": "5"}),
        ('command:command="a,b",timeout=5', {"command": "a,b", "timeout": "5"}),
        ("command:command='a \"b\", c'", {"command": 'a "b", c'}),
        ("command:command=python -c 'print(1, 2)'", {"command": "python -c 'print(1, 2)'"}),
        ('command:command="one" "two, three"', {"command": '"one" "two, three"'}),
        (r"shell:command=cut -d\, -f1", {"command": "cut -d, -f1"}),
        (r"shell:command=echo a\\b\n", {"command": r"echo a\\b\n"}),
        ("shell:command=a=b,timeout=1", {"command": "a=b", "timeout": "1"}),
        ("shell:command=http://x:1/", {"command": "http://x:1/"}),
        ("shell:command=ends with \\", {"command": "ends with \\"}),
    ],
)
def test_commas_separate_but_where_they_are_quoted(text: str, keys: dict[str, str]) -> None:
    assert parse_specification(text) == (text.partition(":")[0], keys)


@pytest.mark.parametrize("text", ["command:pytest", "command:,", "command:=x", "command:a b=c", "command:x='a"])
def test_what_cannot_be_read_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_specification(text)
    assert repr(text) in str(caught.value)
    assert caught.value.remedy


def test_a_key_is_given_once() -> None:
    with pytest.raises(UsageError, match="'timeout' twice"):
        parse_specification("review:timeout=1,timeout=2")


def test_the_kinds_become_verifiers_with_their_keys_or_the_general_settings() -> None:
    command = verifier_named("command:command=pytest -q,timeout=90s", MATERIALS)
    shell = verifier_named("shell:command=make | tee log", MATERIALS)
    review = verifier_named("review:rounds=3,timeout=2m", MATERIALS)
    assert [type(each) for each in (command, shell, review)] == [CommandVerifier, CommandVerifier, ReviewVerifier]
    assert [each.name for each in (command, shell, review)] == ["pytest -q", "make | tee log", "review"]
    assert [each.timeout for each in (command, shell, review)] == [90.0, 77.0, 120.0]
    assert [each.before_run for each in (command, shell, review)] == [True, True, False]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("reveiw", "There is no verifier called 'reveiw'. Did you mean 'review'?"),
        ("", "There is no verifier called ''."),
        ("review:round=2", "The verifier 'review' has no key 'round'. Did you mean 'rounds'?"),
        ("review:zzz=2", "The verifier 'review' has no key 'zzz'. Known: diff, rounds, timeout."),
        ("shell", "The verifier 'shell' needs the key 'command'. Write shell:command=… (what is run)."),
        ("review:rounds=0", "rounds is '0', which is not valid"),
        ("review:timeout=soon", "write a duration as 90s, 15m or 2h"),
        ("command:command=", "command is ''"),
        ("command:command=a | b", "--verify-shell"),
    ],
)
def test_what_is_wrong_is_said_in_one_paragraph(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        verifier_named(text, MATERIALS)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_secret_in_a_value_is_not_repeated() -> None:
    token = f"ghp_{'a1B2' * 9}"
    with pytest.raises(UsageError) as caught:
        verifier_named(f"review:rounds={token}", MATERIALS)
    assert token not in str(caught.value)


def test_another_kind_is_one_more_entry() -> None:
    class Keys(BaseModel, extra="forbid"):
        files: int

    class Counting(Verifier):
        def __init__(self, files: int) -> None:
            self.name = f"{files} files"

    kind = VerifierProvider("counting", "counts files", Keys, lambda keys, _: Counting(keys.files))
    kinds = {**VERIFIERS, kind.name: kind}
    assert verifier_named("counting:files=4", MATERIALS, kinds).name == "4 files"
    with pytest.raises(UnknownNameError, match="'counting'"):
        verifier_named("countin", MATERIALS, kinds)


@pytest.mark.parametrize("text", ["command:" + "a=b," * 50_000, "shell:" + '"' * 200_000, "review:" + "\\" * 200_000])
def test_a_huge_one_is_refused_in_no_time_and_few_words(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        verifier_named(text, MATERIALS)
    assert len(str(caught.value)) < 1_000
