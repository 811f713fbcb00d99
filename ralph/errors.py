"""Errors that the user can fix.

```
RalphError                      Ralph cannot continue; exit code 1 unless a subclass has another one
├── UsageError                  2  the request cannot be carried out as it is
│   ├── UnknownNameError           an unknown name; the most similar known one is suggested
│   ├── SettingError               a setting that does not exist or has an invalid value
│   ├── UntrustedSettingsError     a workspace's own settings need consent to run programs or send data elsewhere
│   ├── UnmeasurableLimitError     a limit on a quantity that is not measured
│   ├── UnconfinedError            a bound of the agent that the executor does not keep
│   ├── PluginError                a required plug-in cannot be used
│   │   └── PluginConflictError    two plug-ins provide something with the same name
│   ├── WorkspaceError             the workspace is missing or cannot be used
│   │   └── WorkspaceBusyError     another run uses the workspace
│   └── VerifierError              a verifier cannot start
├── StoreError                  1  the store cannot be read or written
│   ├── StoreUnusableError      2  the store cannot be opened, or cannot take a new run
│   ├── RunOwnedError           2  another process owns the run
│   └── OwnershipLostError         another process has taken the run over
├── ExecutorUnavailableError    6  no executor can work: missing, not logged in, refused
│   └── ProvisionError             the agent's program could not be found or fetched
└── RecordError                 1  a stored record cannot be read back
```

Every error names the input, the problem and the remedy; `str(error)` is the one paragraph that the user sees. A failure
of the agent is not an exception but a value (`ralph.types.output.Failed`).
"""

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
    "UnconfinedError",
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
    (r"\ba valid dictionary\b(?: or instance of \w+)?", "an object"),
    (r"\ba valid datetime or date\b[^.]*", "a date and time such as 2026-07-03T22:00:00Z"),
    (r"^(?:String|Tuple|List) should have at least 1 (?:character|item).*", "it should not be empty"),
    (r"^Field required\b", "it is missing"),
    (r"\bgreater than or equal to\b", "at least"),
    (r"\bless than or equal to\b", "at most"),
)
"""Patterns in pydantic's messages, and the words for them; compiled only when there is an error."""

_OF_A_STORE = re.compile(
    r"(?<!made by )"
    r"`ralph (?:run|resume|pause|stop|tell|extend|runs(?: prune)?|show|logs|diff|rollback|export|import|breaker reset)"
    r"(?=[ `])(?! prune| --store)"
)


class RalphError(Exception):
    """The root of Ralph's errors.

    Attributes:
        problem: one or two sentences that name the input and the problem.
        remedy: what the user can do about it; empty if nothing is known to help.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.problem} {self.remedy}".strip()


class UsageError(RalphError):
    """The request cannot be carried out as it is."""

    exit_code = 2


class UnknownNameError(UsageError):
    """An unknown name.

    Args:
        kind: the kind of thing that the name stands for, such as "executor".
        name: the name as given.
        known: the known names.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, tuple(sorted(known))
        super().__init__(f"There is no {kind} called {name!r}.", nearest(name, self.known))


class SettingError(UsageError):
    """A setting that does not exist or has an invalid value.

    Args:
        key: the setting's full name, such as "breaker.no_progress".
        source: a file's name, "the environment" or "the command line".
        problem: the reason why it is not valid.
        remedy: what to write instead.
    """

    def __init__(self, key: str, source: str, problem: str, remedy: str = "") -> None:
        self.key, self.source = key, source
        super().__init__(f"{source}: {key}: {problem}", remedy)


class UntrustedSettingsError(UsageError):
    """A workspace's own settings need consent: they do more than tighten what holds without them."""

    def __init__(self, path: str, keys: Iterable[str], why: Iterable[str] = ()) -> None:
        self.path, self.keys = path, tuple(keys)
        super().__init__(
            f"{path} comes with the workspace and sets {', '.join(self.keys)}, which needs your consent"
            f"{': ' * bool(why)}{'; '.join(why)}.",
            "Read the file, then run again with --trust. Ralph remembers the consent until the file changes.",
        )


class UnmeasurableLimitError(UsageError):
    """A limit on a quantity that is not measured. It would never be reached, so it is an error at the start."""

    def __init__(self, limit: str, quantity: str, remedy: str) -> None:
        self.limit, self.quantity = limit, quantity
        super().__init__(f"{limit} cannot be enforced: nothing here measures {quantity}.", remedy)


class UnconfinedError(UsageError):
    """A bound of the agent that the executor does not keep. The agent would ignore it, so it is an error at the start.

    Args:
        executor: its name.
        option: the bound as the user asks for it, such as "--sandbox bwrap".
        bound: as `Executor.confines` names it.
        boxed: whether a sandbox would keep it.
    """

    def __init__(self, executor: str, option: str, bound: str, *, boxed: bool = False) -> None:
        self.executor, self.option, self.bound = executor, option, bound
        other = "Add --sandbox bwrap, use" if boxed else "Use"
        super().__init__(
            f"{option} cannot be enforced: the executor {executor} does not declare {bound!r} in `confines`.",
            f"{other} an executor that does, such as copilot, or leave the option out.",
        )


class PluginError(UsageError):
    """A required plug-in cannot be used."""


class PluginConflictError(PluginError):
    """Two plug-ins provide something with the same name.

    Args:
        kind: the kind of thing, such as "executor".
        name: the name that both use.
        first, second: the plug-ins.
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
    """Another run uses the workspace."""

    def __init__(self, path: str, run_id: str, pid: int) -> None:
        self.path, self.run_id, self.pid = path, run_id, pid
        super().__init__(
            f"{path} is in use by run {run_id} (process {pid}).",
            f"Wait for it, end it with `ralph stop {run_id}`, or work in parallel with --worktree; "
            f"`ralph show {run_id}` shows what it is doing.",
        )


class VerifierError(UsageError):
    """A verifier cannot start. The error comes before anything is spent."""


class StoreError(RalphError):
    """The store cannot be read or written.

    Attributes:
        passing: the problem may pass: a full disk, a lock, a lost connection. The operation had no effect, so it can
            be tried again.
    """

    def __init__(self, problem: str, remedy: str = "", *, passing: bool = False) -> None:
        super().__init__(problem, remedy)
        self.passing = passing


class StoreUnusableError(StoreError):
    """The store cannot be opened, or cannot take a new run. The user must repair it or name another one."""

    exit_code = 2


class RunOwnedError(StoreError):
    """Another process owns the run, as far as the store knows."""

    exit_code = 2

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(
            f"Another process is working on run {run_id}.",
            f"Wait for it, or end it with `ralph stop {run_id}`; if it has died, the run is free within a minute.",
        )


class OwnershipLostError(StoreError):
    """Another process has taken the run over, so the store rejects what this one adds to it."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(
            f"Run {run_id} no longer belongs to this process: another process has taken it over.",
            f"`ralph show {run_id}` shows how it continues there.",
        )


class ExecutorUnavailableError(RalphError):
    """No executor can work: missing, not logged in, refused."""

    exit_code = 6


class ProvisionError(ExecutorUnavailableError):
    """The agent's program could not be found or fetched."""


class RecordError(RalphError):
    """A stored record cannot be read back."""


def in_words(error: BaseException) -> str:
    """Return the message of an exception without a full stop; of a foreign one, with the name of its class."""
    try:
        said = str(error).rstrip(".")
    except Exception:  # noqa: BLE001 - even that may fail in foreign code
        said = ""
    name = type(error).__name__
    return (said if isinstance(error, RalphError) else f"{name}: {said}") if said else name


def plainly(said: str) -> str:
    """Return a message of pydantic in plain words, without a full stop."""
    for pattern, words in _PLAIN:
        said = re.sub(pattern, words, said)
    return said


def naming_store(text: str, option: str) -> str:
    """Return a message in which each `ralph` command for the user to type names the store.

    Args:
        text: the message; commands that already name a store stay as they are.
        option: the text to add to a command, such as " --store runs.db"; empty to change nothing.
    """
    return _OF_A_STORE.sub(lambda found: found[0] + option, text) if option else text


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the remedy for an unknown name: the most similar known one, or the list of all."""
    import difflib

    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5 if len(name) > 4 else 0.6)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"Known: {', '.join(names)}." if names else ""
