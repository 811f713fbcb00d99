"""The context that every command receives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from ralph_grounding.settings import GroundingSettings

if TYPE_CHECKING:
    import typer

    from ralph import Executor
    from ralph.plugins import CommandMaterials
    from ralph_grounding.ground_truth.pages import GroundTruth

__all__ = ["Situation", "executor_named", "ground_truth_of", "required_places", "situation_of"]


@dataclass(frozen=True, slots=True)
class Situation:
    """The settings in force, and what the program can create for a plug-in."""

    settings: GroundingSettings
    host: "CommandMaterials | None" = None

    def measured_by(self, similarity: str | None) -> GroundingSettings:
        """Return the settings with another similarity provider, if one is named. Raises `UnknownNameError`."""
        if similarity is None:
            return self.settings
        from typing import get_args

        from ralph.errors import UnknownNameError
        from ralph_grounding.settings import ProviderSettings

        names = get_args(ProviderSettings.model_fields["similarity"].annotation)
        if similarity not in names:
            raise UnknownNameError("similarity provider", similarity, names)
        chosen = cast("Literal['lexical', 'local', 'endpoint', 'hybrid']", similarity)
        providers = self.settings.providers.model_copy(update={"similarity": chosen})
        return self.settings.model_copy(update={"providers": providers})


def situation_of(context: "typer.Context") -> Situation:
    """Return the situation of a command."""
    return cast("Situation", context.obj)


async def ground_truth_of(
    context: "typer.Context", places: Sequence[str], domain: str, brands: Sequence[str]
) -> "GroundTruth":
    """Read the ground truth that the options name, within the limits of the settings; empty if they name no place."""
    from ralph_grounding.ground_truth import read_ground_truth
    from ralph_grounding.ground_truth.pages import GroundTruth

    if not places:
        return GroundTruth(domain=domain, brands=tuple(brands))
    limits = situation_of(context).settings.reading
    return await read_ground_truth(places, domain=domain, brands=tuple(brands), limits=limits)


def required_places(places: Sequence[str] | None) -> Sequence[str]:
    """Return the places that the options name. Raises `UsageError` if there are none."""
    from ralph.errors import UsageError

    if not places:
        raise UsageError("No ground truth is given.", "Add --ground-truth FILE, FOLDER or ADDRESS.")
    return places


def executor_named(context: "typer.Context", name: str) -> "Executor":
    """Create an executor by its name; "default" is the one of the settings in force. Raises `UsageError`."""
    from ralph.errors import UsageError

    host = situation_of(context).host
    if host is None:
        raise UsageError(f"There is no executor {name!r} here.", "Run it as `ralph score`.")
    return host.executor("" if name == "default" else name)
