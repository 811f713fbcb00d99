"""The options of a batch, stored with its run so that the run can be continued."""

from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ValidationError

from ralph.errors import UsageError
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.materials import Query
from ralph_grounding.settings import GroundingSettings
from ralph_grounding.store.records import GroundingRun

__all__ = ["Plan", "scored_by"]

_SCORING = {"accuracy", "completeness", "attribution", "tiers", "weights", "max_response"}


class Plan(BaseModel, frozen=True):
    """The options of a batch; paths are absolute.

    Attributes:
        responses: a file of answers; without one the answers are requested.
        ask: request the answers from the endpoint of the settings.
        executor: request the answers from this executor's agent; None: from no agent.
    """

    queries: str | None = None
    claims: str | None = None
    responses: str | None = None
    ask: bool = False
    executor: str | None = None
    ground_truth: tuple[str, ...] = ()
    domain: str = ""
    brands: tuple[str, ...] = ()
    limit: int = 50
    similarity: str | None = None

    @classmethod
    def of_run(cls, run: GroundingRun) -> Self:
        """Return the plan that a run was begun with. Raises `UsageError` if another command began it."""
        try:
            return cls.model_validate(run.options.get("plan"))
        except ValidationError:
            raise UsageError(
                f"`ralph score batch` did not start the run {run.id}, so it cannot continue it.",
                "Continue it with the program that started it, or start a new run.",
            ) from None

    def require_sound(self) -> None:
        """Raise `UsageError` unless the plan names exactly one source of answers."""
        sources = {"--responses": self.responses, "--ask": self.ask, "--executor": self.executor}
        named = [name for name, value in sources.items() if value]
        if len(named) == 1:
            return
        problem = "No source of answers is given." if not named else f"{' and '.join(named)} cannot be combined."
        raise UsageError(problem, "Use one of --responses FILE, --ask and --executor NAME.")

    def read_queries(self, ground: GroundTruth) -> tuple[Query, ...]:
        """Read the queries of the file, or make them from the ground truth; add the claims of the other file.

        Raises:
            UsageError: a file is not valid, or the ground truth gives no questions.
        """
        from ralph_grounding.ground_truth import read_claims_by_query
        from ralph_grounding.queries import make_queries, read_queries, with_claims

        found = read_queries(Path(self.queries)) if self.queries else make_queries(ground, limit=self.limit)
        return with_claims(found, read_claims_by_query(Path(self.claims))) if self.claims else found

    def options(self, settings: GroundingSettings, ground: GroundTruth) -> dict[str, Any]:
        """Return what the scores depend on: the plan, the scoring settings and the ground truth's version."""
        return {"plan": self.model_dump(mode="json"), **scored_by(settings, ground)}


def scored_by(settings: GroundingSettings, ground: GroundTruth) -> dict[str, Any]:
    """Return what the scores of the same answers depend on, as it is stored with a run."""
    providers = settings.providers
    return {
        "scoring": settings.model_dump(mode="json", include=_SCORING),
        "similarity": [providers.similarity, providers.embedding, providers.embedding_model],
        "ground_truth": ground.version if ground.pages else "",
    }
