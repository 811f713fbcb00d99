"""The plug-in's hook implementations. Heavy modules load only on demand."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ralph.plugins import Command, Provider, VerifierProvider, hookimpl

if TYPE_CHECKING:
    import typer
    from pydantic import BaseModel

    from ralph.analysis import Analyzer
    from ralph.plugins import BuildContext, VerifierContext
    from ralph.verifiers import Verifier
    from ralph.watch.web import Page, PageRequest
    from ralph_grounding.settings import GroundingSettings

__all__ = ["ralph_analyzers", "ralph_commands", "ralph_pages", "ralph_settings", "ralph_verifiers"]


@hookimpl
def ralph_settings() -> "type[BaseModel]":
    """Return the model of the plug-in's settings."""
    from ralph_grounding.settings import GroundingSettings

    return GroundingSettings


@hookimpl
def ralph_commands(settings: "BaseModel | None") -> Iterator[Command]:
    """Return the plug-in's commands."""

    def app() -> "typer.Typer":
        from ralph_grounding.cli.app import app_for

        return app_for(_own(settings))

    yield Command("score", "Score answers against ground truth.", app)


@hookimpl
def ralph_pages(settings: "BaseModel | None") -> "Iterator[Page]":
    """Return the plug-in's page of the dashboard."""
    from ralph.watch.web import Page

    async def show(request: "PageRequest") -> str:
        from ralph_grounding.report.dashboard import show_scores

        return await show_scores(request, _own(settings))

    yield Page("scores", "Scores", show)


@hookimpl
def ralph_verifiers() -> Iterator[VerifierProvider]:
    """Return the plug-in's verifiers."""
    from ralph_grounding.settings import GroundingKeys

    def build(keys: GroundingKeys, context: "VerifierContext") -> "Verifier":
        from ralph_grounding.loop.verifier import GroundingVerifier

        return GroundingVerifier(keys, _own(context.own), timeout=keys.timeout or context.timeout)

    about = "what the agent wrote must make the expected claims, and agree with the expected text"
    yield VerifierProvider("grounding", about, GroundingKeys, build)


@hookimpl
def ralph_analyzers() -> Iterator[Provider]:
    """Return the plug-in's analyzers."""

    def build(context: "BuildContext") -> "Analyzer":
        from ralph_grounding.loop.analyzer import LoopAnalyzer

        return LoopAnalyzer(_own(context.own))

    yield Provider("grounding", "scores each reply against ground truth", build)


def _own(settings: "BaseModel | None") -> "GroundingSettings":
    from ralph_grounding.settings import GroundingSettings

    return settings if isinstance(settings, GroundingSettings) else GroundingSettings()
