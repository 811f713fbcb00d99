"""The arguments of `Runner`: each part may be given as an instance, by its name, or as a path."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ralph.analysis import Analyzer, Keyword
from ralph.decision.breaker import CircuitBreaker
from ralph.decision.claims import Strategy
from ralph.decision.limits import Limits, Price
from ralph.decision.outcomes import DecisionSettings
from ralph.errors import UsageError
from ralph.executors.base import Executor
from ralph.pipeline.evaluate import Rules
from ralph.plugins import BuildContext, Plugins
from ralph.plugins.registry import open_store
from ralph.settings import ExecutorSettings
from ralph.status import StatusField
from ralph.store.base import Store
from ralph.store.memory import MemoryStore
from ralph.system.sandbox import Confinement
from ralph.system.text import Redactor
from ralph.verifiers import CommandVerifier, Verifier, parse_command
from ralph.workspace import Workspace, open_workspace
from ralph.workspace.base import NoWorkspace

__all__ = ["as_executor", "as_rules", "as_store", "as_verifiers", "as_workspace"]


def as_executor(given: Executor | str, plugins: Plugins, *, model: str | None, redactor: Redactor) -> Executor:
    """Return an executor, built with default settings if it is given by name.

    Raises:
        UnknownNameError: there is no executor with that name.
    """
    if isinstance(given, Executor):
        return given
    context = BuildContext(ExecutorSettings(name=given, model=model), confinement=Confinement(), redactor=redactor)
    return plugins.executor(given, context)


def as_workspace(given: Workspace | Path | str | None) -> Workspace:
    """Return a workspace: opened if it is given as a path; without any, changes are not observed.

    Raises:
        UsageError: the folder cannot be used.
    """
    if isinstance(given, Workspace):
        return given
    return NoWorkspace(Path.cwd()) if given is None else open_workspace(Path(given))


def as_store(given: Store | Path | str | None, plugins: Plugins) -> Store:
    """Return a store: opened if it is given as a path or a URL; in memory without any.

    Raises:
        UsageError: the name does not mean a store.
    """
    if isinstance(given, Store):
        return given
    return MemoryStore() if given is None else open_store(str(given), plugins)


def as_verifiers(
    given: Iterable[Verifier | str | Sequence[str]] | Verifier | str, redactor: Redactor
) -> list[Verifier]:
    """Return verifiers; a command is a program with arguments, as one text or as a sequence.

    Raises:
        UsageError: a command cannot be read, or needs a shell.
    """
    several = [given] if isinstance(given, Verifier | str) else given
    return [_verifier(each, redactor) for each in several]


def _verifier(given: Verifier | str | Sequence[str], redactor: Redactor) -> Verifier:
    if isinstance(given, Verifier):
        return given
    words = parse_command(given) if isinstance(given, str) else parse_command(shlex.join(given))
    return CommandVerifier(words, redactor=redactor)


def as_rules(
    plugins: Plugins,
    *,
    reading: tuple[Analyzer | None, Sequence[Analyzer | str], Sequence[Keyword]],
    limits: Limits | None,
    breaker: CircuitBreaker | None,
    decision: DecisionSettings | None,
    strategy: Strategy | str,
    status_fields: Sequence[StatusField],
    promise: str | None,
    prices: Mapping[str, Price] | None,
    model: str | None,
) -> Rules:
    """Return the rules of a run, extended by those of plug-ins.

    Raises:
        UsageError: keywords are given together with an own analyzer, or a name is unknown.
    """
    analyzer, analyzers, keywords = reading
    if analyzer is not None and keywords:
        raise UsageError(
            "keywords= has no effect together with analyzer=.",
            "Give the keywords to your analyzer, or add it to the built-in one with analyzers=[…].",
        )
    breaker = breaker or CircuitBreaker()
    return Rules(
        breaker,
        limits or Limits(),
        decision or DecisionSettings(),
        plugins.strategy(strategy) if isinstance(strategy, str) else strategy,
        plugins.analyzer_with(keywords, first=analyzer, further=analyzers, no_progress=breaker.settings.no_progress),
        plugins.fields_with(status_fields),
        promise,
        dict(prices or {}),
        model,
    )
