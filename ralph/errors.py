"""What can go wrong that a person can mend.

```
RalphError                      something stopped Ralph; exit code 1 unless a subclass says otherwise
├── UsageError                  2  what was asked cannot be done as it was asked
│   ├── UnknownNameError           a name that nothing goes by; the nearest one is offered
│   ├── SettingError               a setting that does not exist or has an impossible value
│   ├── UntrustedSettingsError     a workspace's own settings would run programs or send data elsewhere
│   ├── UnmeasurableLimitError     a limit on a quantity that nothing here measures
│   ├── PluginError                a plug-in that is needed and cannot be used
│   │   └── PluginConflictError    two plug-ins bring something of one name
│   ├── WorkspaceError             the workspace is missing or cannot be used
│   │   └── WorkspaceBusyError     another run is at work in it
│   └── VerifierError              a verifier that cannot start
├── StoreError                  1  the store cannot be read or written
│   ├── StoreUnusableError      2  it cannot even be opened, or take a new run
│   ├── RunOwnedError           2  another process is at work on the run
│   └── OwnershipLostError         another process has taken the run over
├── ExecutorUnavailableError    6  no executor can work: missing, not logged in, refused
│   └── ProvisionError             the agent's program could not be found or fetched
└── RecordError                 1  a stored record cannot be read back
```

Every error says what was given, what is wrong with it and what to do: `str(error)` is the one paragraph that a
person is shown. An agent's failure is not an exception but a value (`ralph.types.output.Failed`).
"""

import difflib
import re
from collections.abc import Iterable
from typing import ClassVar

__all__ = [
    "ExecutorUnavailableError",
    "OwnershipLostError",
    "PluginConflictError",
    "PluginError",
    "ProvisionError",
    "RalphError",
    "RecordError",
    "RunOwnedError",
    "SettingError",
    "StoreError",
    "StoreUnusableError",
    "UnknownNameError",
    "UnmeasurableLimitError",
    "UntrustedSettingsError",
    "UsageError",
    "VerifierError",
    "WorkspaceBusyError",
    "WorkspaceError",
    "plainly",
]

_PLAIN = (
    (r"^Value error, ", ""),
    (r"\bInput should\b", "it should"),
    (r"\ba valid integer, (?:unable|got)[^.]*", "a whole number"),
    (r"\ba valid number, unable[^.]*", "a number"),
    (r"\ba valid boolean, unable[^.]*", "true or false"),
    (r"\ba valid string, unable[^.]*", "text in UTF-8"),
    (r"\ba valid string\b", "text"),
    (r"\ba valid (?:tuple|list)\b", "a list"),
    (r"\ba valid datetime or date\b[^.]*", "a date and time such as 2026-07-03T22:00:00Z"),
    (r"^(?:String|Tuple|List) should have at least 1 (?:character|item).*", "it should not be empty"),
    (r"^Field required\b", "it is missing"),
    (r"\bgreater than or equal to\b", "at least"),
    (r"\bless than or equal to\b", "at most"),
)
"""What pydantic says, by patterns, and what a person is told; compiled when there is something to tell."""

_OF_A_STORE = re.compile(
    r"(?<!made by )"
    r"`ralph (?:run|resume|pause|stop|tell|extend|runs(?: prune)?|show|logs|diff|rollback|export|import|breaker reset)"
    r"(?=[ `])(?! prune| --store)"
)


class RalphError(Exception):
    """The root of Ralph's errors.

    Attributes:
        problem: what is wrong, naming the input; one sentence or two.
        remedy: what the person can do about it; empty where nothing is known to help.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.problem} {self.remedy}".strip()


class UsageError(RalphError):
    """What was asked cannot be done as it was asked."""

    exit_code = 2


class UnknownNameError(UsageError):
    """A name that nothing goes by.

    Args:
        kind: what was looked for, such as "executor".
        name: the name as given.
        known: the names that would have worked.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, tuple(sorted(known))
        super().__init__(f"There is no {kind} called {name!r}.", nearest(name, self.known))


class SettingError(UsageError):
    """A setting that does not exist or has an impossible value.

    Args:
        key: the setting's full name, such as "breaker.no_progress".
        source: where it was read: a file's name, "the environment", "the command line".
        problem: what is wrong with it.
        remedy: what to write instead.
    """

    def __init__(self, key: str, source: str, problem: str, remedy: str = "") -> None:
        self.key, self.source = key, source
        super().__init__(f"{source}: {key}: {problem}", remedy)


class UntrustedSettingsError(UsageError):
    """A workspace's own settings would run programs or send data elsewhere, and nobody agreed to that."""

    def __init__(self, path: str, keys: Iterable[str]) -> None:
        self.path, self.keys = path, tuple(keys)
        super().__init__(
            f"{path} comes with the workspace and sets {', '.join(self.keys)}, "
            "which can run programs or send data elsewhere.",
            "Read the file, then run again with --trust: that is remembered until the file changes.",
        )


class UnmeasurableLimitError(UsageError):
    """A limit on a quantity that nothing here measures would never trip, so it is refused at the start."""

    def __init__(self, limit: str, quantity: str, remedy: str) -> None:
        self.limit, self.quantity = limit, quantity
        super().__init__(f"{limit} cannot be enforced: nothing here measures {quantity}.", remedy)


class PluginError(UsageError):
    """A plug-in that is needed and cannot be used."""


class PluginConflictError(PluginError):
    """Two plug-ins bring something of one name, and nobody can tell which is meant.

    Args:
        kind: what it is, such as "executor".
        first, second: whose it is.
    """

    def __init__(self, kind: str, name: str, first: str, second: str) -> None:
        self.kind, self.name = kind, name
        super().__init__(
            f"The {kind} {name!r} exists twice: in {first} and in {second}.",
            "Remove one of the two, or start with --no-plugins.",
        )


class WorkspaceError(UsageError):
    """The workspace is missing or cannot be used."""


class WorkspaceBusyError(WorkspaceError):
    """Another run is at work in the workspace."""

    def __init__(self, path: str, run_id: str, pid: int) -> None:
        self.path, self.run_id, self.pid = path, run_id, pid
        super().__init__(
            f"{path} is in use by run {run_id} (process {pid}).",
            f"Wait for it, end it with `ralph stop {run_id}`, or work beside it with --worktree; `ralph show {run_id}` "
            "shows what it is doing.",
        )


class VerifierError(UsageError):
    """A verifier that cannot start: found out before anything is spent."""


class StoreError(RalphError):
    """The store cannot be read or written.

    Attributes:
        passing: it may pass without anything being lost: a full disk, a lock, a lost connection. Nothing of what was
            asked was done, so that it can be asked again.
    """

    def __init__(self, problem: str, remedy: str = "", *, passing: bool = False) -> None:
        super().__init__(problem, remedy)
        self.passing = passing


class StoreUnusableError(StoreError):
    """The store cannot even be opened, or take a new run: another one has to be named, or this one mended."""

    exit_code = 2


class RunOwnedError(StoreError):
    """Another process is at work on the run, as far as the store can tell."""

    exit_code = 2

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(
            f"Another process is working on run {run_id}.",
            f"Wait for it, or end it with `ralph stop {run_id}`; if it has died, the run is free within a minute.",
        )


class OwnershipLostError(StoreError):
    """Another process has taken the run over: what this one would add to it is not kept."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(
            f"Run {run_id} no longer belongs to this process: another one has taken it over since.",
            f"`ralph show {run_id}` shows how it goes on there.",
        )


class ExecutorUnavailableError(RalphError):
    """No executor can work: missing, not logged in, refused."""

    exit_code = 6


class ProvisionError(ExecutorUnavailableError):
    """The agent's program could not be found or fetched."""


class RecordError(RalphError):
    """A stored record cannot be read back."""


def in_words(error: BaseException) -> str:
    """What was raised, for people and without a full stop: Ralph's own sentence, or the class with what it says."""
    try:
        said = str(error).rstrip(".")
    except Exception:  # noqa: BLE001 - even that may fail in foreign code
        said = ""
    name = type(error).__name__
    return (said if isinstance(error, RalphError) else f"{name}: {said}") if said else name


def plainly(said: str) -> str:
    """What pydantic says of a value, in words for people who do not know it; no full stop behind."""
    for pattern, words in _PLAIN:
        said = re.sub(pattern, words, said)
    return said


def naming_store(text: str, option: str) -> str:
    """A text in which the commands that a person is told to type name the store, but for those that do so already.

    Args:
        option: what stands behind a command's name, such as " --store runs.db"; empty where nothing need be said.
    """
    return _OF_A_STORE.sub(lambda found: found[0] + option, text) if option else text


def nearest(name: str, known: Iterable[str]) -> str:
    """The remedy for a name that is not known: the nearest one, or the list of all."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"Known: {', '.join(names)}." if names else ""
