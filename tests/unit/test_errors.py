"""The errors a person is shown: one paragraph, an exit code, a remedy."""

import inspect
import re

import pytest

from ralph import errors
from ralph.errors import (
    ExecutorUnavailableError,
    OwnershipLostError,
    PluginConflictError,
    PluginError,
    ProvisionError,
    RalphError,
    RecordError,
    RunOwnedError,
    SettingError,
    StoreError,
    StoreUnusableError,
    UnconfinedError,
    UnknownNameError,
    UnmeasurableLimitError,
    UntrustedSettingsError,
    UsageError,
    VerifierError,
    WorkspaceBusyError,
    WorkspaceError,
    in_words,
    naming_store,
    nearest,
    plainly,
)

EXAMPLES: list[tuple[RalphError, int, list[str]]] = [
    (RalphError("It broke."), 1, ["It broke."]),
    (UsageError("The task is empty.", "Say what the agent should do."), 2, ["The task is empty. Say what the agent"]),
    (UnknownNameError("executor", "copilo", ["copilot", "scripted"]), 2, ["executor", "'copilo'", "'copilot'?"]),
    (SettingError("breaker.x", "ralph.toml", "no such setting."), 2, ["ralph.toml: breaker.x: no such setting."]),
    (UntrustedSettingsError("ralph.toml", ["verify", "store"]), 2, ["ralph.toml", "verify, store", "--trust"]),
    (UnmeasurableLimitError("--max-cost", "the cost", "Set a price."), 2, ["--max-cost", "the cost", "Set a price."]),
    (UnconfinedError("mine", "--deny 'url'", "deny"), 2, ["--deny 'url'", "mine", "'deny'", "copilot"]),
    (WorkspaceError("There is no folder x."), 2, ["no folder"]),
    (WorkspaceBusyError("/w", "r1", 42), 2, ["/w", "r1", "42", "ralph show r1"]),
    (VerifierError("There is no program 'x'."), 2, ["'x'"]),
    (PluginError("It cannot be made."), 2, ["It cannot be made."]),
    (PluginConflictError("executor", "echo", "one", "another"), 2, ["'echo'", "one", "another", "--no-plugins"]),
    (RunOwnedError("r1"), 2, ["r1", "ralph stop r1"]),
    (OwnershipLostError("r1"), 1, ["r1", "ralph show r1"]),
    (StoreError("The store is read-only."), 1, ["read-only"]),
    (StoreUnusableError("The store cannot be opened."), 2, ["opened"]),
    (RecordError("Record 3 cannot be read."), 1, ["Record 3"]),
    (ExecutorUnavailableError("Not logged in.", "Log in."), 6, ["Not logged in. Log in."]),
    (ProvisionError("npm is not there."), 6, ["npm"]),
]


def test_an_error_says_what_is_wrong_and_ends_with_its_code(subtests: pytest.Subtests) -> None:
    for error, code, told in EXAMPLES:
        with subtests.test(error=error):
            assert error.exit_code == code
            assert all(part in str(error) for part in told)
            assert "\n" not in str(error)
            assert not str(error).endswith(" ")


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = re.findall(r"(\w+Error)\b.*?(?:  (\d))?  ", errors.__doc__ or "")
    known = {
        name: kind for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, RalphError)
    }
    assert {name for name, _ in drawn} | {"RalphError"} == set(known) == set(errors.__all__) - {"plainly"}
    assert all(known[name].exit_code == int(code) for name, code in drawn if code)
    assert {type(error) for error, _, _ in EXAMPLES} == set(known.values())


@pytest.mark.parametrize(
    ("name", "known", "remedy"),
    [
        ("fixplan", ["fix_plan", "auto"], "Did you mean 'fix_plan'?"),
        ("zzz", ["b", "a"], "Known: a, b."),
        ("zzz", [], ""),
        ("", ["a"], "Known: a."),
    ],
)
def test_the_nearest_name_is_offered(name: str, known: list[str], remedy: str) -> None:
    assert nearest(name, known) == remedy


class _MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (UsageError("The token is missing.", "Set it."), "The token is missing. Set it"),
        (ValueError("3 is too much."), "ValueError: 3 is too much"),
        (ValueError(), "ValueError"),
        (_MuteError(), "_MuteError"),
    ],
    ids=["ours", "another", "bare", "mute"],
)
def test_what_is_ours_is_a_sentence_and_needs_no_class_in_front(error: Exception, words: str) -> None:
    assert in_words(error) == words


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Value error, a phrase needs a word", "a phrase needs a word"),
        ("Input should be a valid integer, unable to parse string as an integer", "it should be a whole number"),
        ("Input should be a valid integer, got a number with a fractional part", "it should be a whole number"),
        ("Input should be a valid number, unable to parse string as a number", "it should be a number"),
        ("Input should be a valid boolean, unable to interpret input", "it should be true or false"),
        ("Input should be greater than or equal to 3", "it should be at least 3"),
        ("Input should be 'a' or 'b'", "it should be 'a' or 'b'"),
    ],
)
def test_what_a_model_says_is_put_plainly(said: str, words: str) -> None:
    assert plainly(said) == words


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("`ralph show r1` tells.", "`ralph show --store a.db r1` tells."),
        (
            "`ralph runs` lists them; `ralph stop r1` ends it.",
            "`ralph runs --store a.db` lists them; `ralph stop --store a.db r1` ends it.",
        ),
        ("`ralph runs prune` and `ralph run`", "`ralph runs prune --store a.db` and `ralph run --store a.db`"),
        ("then `ralph breaker reset`", "then `ralph breaker reset --store a.db`"),
        ("Pipe it in: `ralph import - < PIPE`.", "Pipe it in: `ralph import --store a.db - < PIPE`."),
        ("`ralph show --store b.db r1` and `ralph doctor`", "`ralph show --store b.db r1` and `ralph doctor`"),
        ("a file called ralph show", "a file called ralph show"),
        ("Give a file made by `ralph export`.", "Give a file made by `ralph export`."),
    ],
)
def test_commands_name_the_store_that_they_do_not_name_yet(text: str, told: str) -> None:
    assert naming_store(text, " --store a.db") == told
    assert naming_store(text, "") == text
