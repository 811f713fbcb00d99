"""Choice of the judge by the settings."""

from importlib.metadata import entry_points
from typing import cast

from ralph.errors import UnknownNameError, UsageError
from ralph_grounding.judging.base import Judge
from ralph_grounding.judging.endpoint import EndpointJudge
from ralph_grounding.judging.nli import NliJudge
from ralph_grounding.settings import JudgeSettings

__all__ = ["GROUP", "judge_for"]

GROUP = "ralph_grounding.judges"
"""The group of entry points with judges of plug-ins: functions from `JudgeSettings` to a `Judge`."""


def judge_for(settings: JudgeSettings, key: str = "") -> Judge | None:
    """Make the judge that the settings name, not entered yet; None if they name none.

    Args:
        settings: name an endpoint, a folder, or a plug-in's judge.
        key: the endpoint's.

    Raises:
        UsageError: the settings conflict, or name no judge that exists.
    """
    if settings.url and settings.nli:
        raise UsageError("--judge and --nli cannot be combined.", "Use one of them.")
    if settings.nli:
        return NliJudge(settings.nli)
    if not settings.url:
        return None
    if "/" in settings.url or ":" in settings.url:
        return EndpointJudge(settings, key=key)
    offered = {point.name: point for point in entry_points(group=GROUP)}
    if settings.url not in offered:
        raise UnknownNameError("judge", settings.url, sorted(offered))
    try:
        made: object = offered[settings.url].load()(settings)
    except Exception as error:  # the code of a plug-in
        raise UsageError(
            f"The judge {settings.url!r} cannot be loaded: {type(error).__name__}: {error}.",
            "Update or remove the distribution that brings it.",
        ) from error
    return cast("Judge", made)
