"""Choice of the similarity provider by the settings."""

from collections.abc import Mapping
from pathlib import Path

from ralph.errors import UsageError
from ralph_grounding.settings import ProviderSettings
from ralph_grounding.similarity.base import SimilarityProvider
from ralph_grounding.similarity.calibration import (
    UNFITTED,
    UNFITTED_HYBRID,
    DecisionPoints,
    read_decision_points,
)
from ralph_grounding.similarity.embeddings import EmbeddingProvider
from ralph_grounding.similarity.endpoint import EndpointProvider
from ralph_grounding.similarity.fallback import Fallback
from ralph_grounding.similarity.hybrid import HybridProvider
from ralph_grounding.similarity.lexical import LexicalProvider
from ralph_grounding.similarity.local import LocalProvider

__all__ = ["provider_for", "provider_without_fallback"]


def provider_for(settings: ProviderSettings) -> SimilarityProvider:
    """Make the provider that the settings name, not entered yet. A model falls back to words if it fails.

    Raises:
        UsageError: a required setting is missing or not valid.
    """
    points: Mapping[str, DecisionPoints] = {}
    if settings.calibration:
        points = read_decision_points(Path(settings.calibration).expanduser())
    provider = provider_without_fallback(settings, points)
    if isinstance(provider, LexicalProvider):
        return provider
    if points and points.keys().isdisjoint(_calibrated_names(settings, provider)):
        raise UsageError(
            f"The calibration {settings.calibration} is for {', '.join(sorted(points))}, not for {provider.name}.",
            "Fit one with `python -m ralph_grounding.similarity.fit`, or remove the setting.",
        )
    return Fallback(provider, LexicalProvider(), retries=settings.retries)


def _calibrated_names(settings: ProviderSettings, provider: SimilarityProvider) -> list[str]:
    """List the names with decision points for the provider: its own, and the model's in a hybrid."""
    of_model = [f"{settings.embedding}:{settings.embedding_model.strip()}"] if settings.similarity == "hybrid" else []
    return [provider.name, *of_model]


def provider_without_fallback(settings: ProviderSettings, points: Mapping[str, DecisionPoints]) -> SimilarityProvider:
    """Make the same provider without a fallback.

    Args:
        settings: names the provider.
        points: the decision points of models, by the providers' names. Without those of this one they are a guess.
    """
    if settings.similarity == "lexical":
        return LexicalProvider()
    if settings.similarity != "hybrid":
        return _by_model(settings, settings.similarity, points)
    model = _by_model(settings, settings.embedding, points)
    mean = points.get(HybridProvider.name_with(model), UNFITTED_HYBRID)
    return HybridProvider(LexicalProvider(), model, mean)


def _by_model(settings: ProviderSettings, where: str, points: Mapping[str, DecisionPoints]) -> EmbeddingProvider:
    model = settings.embedding_model.strip()
    of_model = points.get(f"{where}:{model}", UNFITTED)
    if where == "local":
        return LocalProvider(model, of_model, download=settings.download)
    key = settings.api_key.get_secret_value()
    return EndpointProvider(settings.url, model, of_model, key=key, timeout=settings.timeout)
