"""What a replay is judged by: the settings in force, or those of a stored run, and what `--set` says."""

from collections.abc import Sequence
from pathlib import Path

from ralph.analysis import Keyword
from ralph.cli.plugin_loading import load_plugins
from ralph.cli.settings import read_settings
from ralph.cli.stored_settings import frozen
from ralph.decision.limits import Limits
from ralph.errors import SettingError
from ralph.pipeline.replay import Judging
from ralph.plugins import parts
from ralph.plugins.guards import analyzer_with
from ralph.records.record import RunRecord
from ralph.settings import SettingsFound, Source, load_settings
from ralph.types import evolve

__all__ = ["judgings", "unheard"]

_JUDGED_BY = {
    "analyzers",
    "breaker",
    "decision",
    "keywords",
    "limits",
    "preset",
    "promise",
    "status_fields",
    "strategy",
}


def judgings(wish: Source, run: RunRecord | None = None, *, compare: bool = False) -> list[Judging]:
    """As wished, and for comparison as without the wish.

    Args:
        wish: what `--set` says.
        run: a stored run, whose own settings count instead of those in force in this folder.

    Raises:
        UsageError: a setting will not do.
    """
    wishes: Sequence[Sequence[Source]] = ([wish], []) if compare and wish.values else ([wish],)
    return [_judging(_found(run, more)) for more in wishes]


def unheard(wish: Source) -> list[str]:
    """The sections and settings of a wish that change nothing in a replay: they are about the agent's work."""
    return sorted(wish.values.keys() - _JUDGED_BY)


def _found(run: RunRecord | None, more: Sequence[Source]) -> SettingsFound:
    if run is not None and (own := _frozen(run)) is not None:
        return load_settings([own, *more])
    return read_settings(Path.cwd(), own="shown", more=more)


def _judging(found: SettingsFound) -> Judging:
    """The default number of iterations is left out: the passes that were recorded are as many as they are."""
    limits = Limits(**found.settings.limits.model_dump())
    if "limits.max_iterations" not in found.origins:
        limits = evolve(limits, max_iterations=None)
    settings, plugins = found.settings, load_plugins(found, Path.cwd())
    plugins.require_sound()
    analyzer = analyzer_with(
        plugins,
        [Keyword(**keyword.model_dump()) for keyword in settings.keywords],
        further={name: parts.analyzer(plugins, name) for name in settings.analyzers},
        no_progress=settings.breaker_settings().no_progress,
    )
    strategy = parts.strategy(plugins, settings.strategy)
    fields = tuple(plugins.status_fields)
    return Judging.by(settings, limits=limits, strategy=strategy, analyzer=analyzer, fields=fields)


def _frozen(run: RunRecord) -> Source | None:
    """The settings that a run was made with; None where they are not known, or not those of this version."""
    source = frozen(run)
    try:
        load_settings([source])
    except SettingError:
        return None
    return source if source.values else None
