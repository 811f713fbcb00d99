"""A judge behind an OpenAI-compatible endpoint."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from ralph.errors import UsageError
from ralph_grounding.endpoint import Endpoint, fields, sendable
from ralph_grounding.errors import ProviderError
from ralph_grounding.judging.base import Judge, JudgeQuestion, Tokens, Verdict
from ralph_grounding.judging.prompt import PROMPT_VERSION, SCHEMA, messages, read_reply
from ralph_grounding.retrying import Sleep, retry
from ralph_grounding.settings import JudgeSettings

__all__ = ["EndpointJudge"]

_CHARACTERS = 4
"""Characters of a token, about, in texts with an alphabet; an East Asian character is about one token."""
_EAST_ASIAN = "\u2e80"
_REPLY = 60
"""Tokens of a usual reply, for the estimate."""


class _Form(NamedTuple):
    """The parameters of a request that not every endpoint accepts."""

    reply: Literal["json_schema", "json_object", ""] = "json_schema"
    limit: str = "max_tokens"
    temperature: bool = True

    def simpler(self, refusal: str) -> "_Form | None":
        """Return the form to try next after a refusal with this message; None after the simplest."""
        if "max_completion_tokens" in refusal and self.limit == "max_tokens":
            return self._replace(limit="max_completion_tokens")
        if "temperature" in refusal and self.temperature:
            return self._replace(temperature=False)
        if self.reply:
            return self._replace(reply="json_object" if self.reply == "json_schema" else "")
        return None


class EndpointJudge(Judge):
    """Client of `POST {url}/chat/completions` with a structured reply, at temperature 0.

    An endpoint that refuses a JSON schema is asked for any JSON object, and then for text.

    Args:
        settings: the endpoint and the limits.
        key: sent as a bearer token; in no message. Empty for none.
        sleep: waits between retries, in seconds; None for real time.

    Raises:
        UsageError: the URL or the model is missing or not valid.
    """

    def __init__(self, settings: JudgeSettings, *, key: str = "", sleep: Sleep | None = None) -> None:
        if not settings.model.strip():
            raise UsageError("No model of the judge is named.", "Add --judge-model NAME.")
        self._endpoint = Endpoint(settings.url, key=key, timeout=settings.timeout, setting="--judge")
        self.name = f"{settings.model}@{urlsplit(self._endpoint.shown).hostname}"
        self.version = f"{PROMPT_VERSION} {self._endpoint.shown}"  # kept verdicts are of this very address
        self._settings, self._sleep = settings, sleep
        self._form = _Form()

    async def __aenter__(self) -> Self:
        await self._endpoint.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._endpoint.__aexit__(*raised)

    def tokens(self, asked: JudgeQuestion) -> Tokens:
        text = "".join(message["content"] for message in messages(asked))
        wide = sum(letter >= _EAST_ASIAN for letter in text)
        return Tokens(wide + (len(text) - wide) // _CHARACTERS, min(_REPLY, self._settings.max_tokens))

    async def verdict(self, asked: JudgeQuestion) -> Verdict:
        said = await retry(lambda: self._asked(asked), retries=self._settings.retries, sleep=self._sleep)
        usage = fields(said.get("usage"))
        estimated = self.tokens(asked)
        spent = Tokens(
            _count(usage.get("prompt_tokens"), estimated.input),
            _count(usage.get("completion_tokens"), estimated.output),
        )
        reason, text = self._endpoint.message(said)
        reply = read_reply(text)
        if reply is None:
            trouble = "its reply was cut off" if reason == "length" else "its reply is not the requested JSON"
            return Verdict(outcome=None, trouble=trouble, input_tokens=spent.input, output_tokens=spent.output)
        return Verdict(outcome=reply.verdict, quote=reply.quote, input_tokens=spent.input, output_tokens=spent.output)

    async def _asked(self, asked: JudgeQuestion) -> Mapping[str, Any]:
        while True:
            form = self._form
            try:
                return await self._endpoint.post("/chat/completions", self._body(asked, form))
            except ProviderError as error:
                simpler = form.simpler(error.problem) if error.kind == "refused" else None
                if simpler is None:
                    raise
                if self._form == form:
                    self._form = simpler

    def _body(self, asked: JudgeQuestion, form: _Form) -> dict[str, Any]:
        said = [{"role": each["role"], "content": sendable(each["content"])} for each in messages(asked)]
        body: dict[str, Any] = {"model": self._settings.model, "messages": said, form.limit: self._settings.max_tokens}
        if form.temperature:
            body["temperature"] = 0
        if form.reply == "json_schema":
            schema = {"name": "verdict", "strict": True, "schema": SCHEMA}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif form.reply:
            body["response_format"] = {"type": form.reply}
        return body


def _count(given: object, otherwise: int) -> int:
    return given if isinstance(given, int) and 0 <= given < 1_000_000_000 else otherwise
