"""Responses from a model at an OpenAI-compatible endpoint."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Self
from urllib.parse import urlsplit

from ralph.errors import UsageError
from ralph_grounding.endpoint import Endpoint, fields, sendable
from ralph_grounding.errors import ProviderError
from ralph_grounding.materials import AIResponse, Query
from ralph_grounding.responses.answers import ResponseSource
from ralph_grounding.settings import AnswerSettings

__all__ = ["EndpointSource"]

_NEWER_LIMIT = "max_completion_tokens"
"""The parameter that some models require instead of "max_tokens"; their error names it."""


class EndpointSource(ResponseSource):
    """Client of `POST {url}/chat/completions`, with a separate conversation for each query.

    Args:
        settings: the endpoint, the model and the options of a call.
        provider: the provider's name in the responses; empty for the endpoint's host.

    Raises:
        UsageError: the URL or the model is missing or not valid.
    """

    def __init__(self, settings: AnswerSettings, provider: str = "") -> None:
        if not settings.model.strip():
            raise UsageError("plugins.grounding.answers.model is empty.", "Name the model to ask.")
        self._endpoint = Endpoint(
            settings.url,
            key=settings.api_key.get_secret_value(),
            timeout=settings.timeout,
            setting="plugins.grounding.answers.url",
        )
        self.provider, self.model = provider or urlsplit(self._endpoint.shown).hostname or "", settings.model
        self._settings, self._limit = settings, "max_tokens"
        self.concurrency, self.retries = settings.concurrency, settings.retries

    async def __aenter__(self) -> Self:
        await self._endpoint.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._endpoint.__aexit__(*raised)

    async def answer(self, query: Query) -> AIResponse:
        began = time.monotonic()
        said = await self._asked(sendable(query.text))
        reason, text = self._endpoint.message(said)
        if reason == "content_filter":
            problem = f"{self._endpoint.shown} withholds its answer to {query.id!r} because of its content rules."
            raise ProviderError(problem, "Leave the query out, or use another model.", kind="filtered")
        model, tokens = said.get("model"), fields(said.get("usage")).get("total_tokens")
        return AIResponse(
            query_id=query.id,
            response=text,
            provider=self.provider,
            model=sendable(model) if isinstance(model, str) and model else self.model,
            responded_at=datetime.now(UTC),
            tokens=tokens if isinstance(tokens, int) else None,
            latency=time.monotonic() - began,
            metadata={"finish_reason": reason} if reason else {},
        )

    async def _asked(self, text: str) -> Mapping[str, Any]:
        limit = self._limit
        try:
            return await self._endpoint.post("/chat/completions", self._body(text, limit))
        except ProviderError as error:
            if error.kind != "refused" or limit == _NEWER_LIMIT or _NEWER_LIMIT not in error.problem:
                raise
        self._limit = _NEWER_LIMIT
        return await self._asked(text)

    def _body(self, text: str, limit: str) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": [{"role": "user", "content": text}],
            "temperature": self._settings.temperature,
            limit: self._settings.max_tokens,
        }
