"""The interface of judges: an answer and a claim in, a verdict with a quotation out."""

import json
from hashlib import sha256
from typing import NamedTuple, Protocol, Self

from pydantic import BaseModel, Field

from ralph_grounding.result import Outcome

__all__ = ["Judge", "JudgeQuestion", "Tokens", "Verdict", "VerdictCache"]


class Tokens(NamedTuple):
    """Tokens of a call."""

    input: int = 0
    output: int = 0


class JudgeQuestion(NamedTuple):
    """A question to a judge: does the answer make the claim?

    Attributes:
        question: what the answer is an answer to; may be empty.
        answer: the answer, or the part of a long one that the judge reads.
    """

    question: str
    claim: str
    answer: str

    @property
    def key(self) -> str:
        """A hash of the three texts; labels are stored under it."""
        return sha256(json.dumps(self).encode()).hexdigest()


class Verdict(BaseModel, frozen=True):
    """The verdict of a judge.

    Attributes:
        outcome: None if the judge replied, but gave no verdict.
        quote: the words of the answer that make the claim, or contradict it; they are looked up in the answer.
        trouble: the reason for no verdict.
        input_tokens, output_tokens: as the endpoint counts them; 0 for a model on this machine.
    """

    outcome: Outcome | None
    quote: str = ""
    trouble: str = ""
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)


class Judge:
    """A judge of claims. Subclass it, give it a name and a version, and implement `verdict`.

    Enter it before use (`async with`); several tasks may share it. A distribution offers one to `--judge NAME` with an
    entry point in the group `ralph_grounding.judges`: a function from `JudgeSettings` to the judge.

    Attributes:
        name: names the model; verdicts are cached by it.
        version: changes whenever the same question may get another verdict, as by another prompt.
    """

    name: str = ""
    version: str = ""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    def tokens(self, asked: JudgeQuestion) -> Tokens:
        """Estimate the tokens of a question and its reply; none for a judge that costs nothing."""
        return Tokens()

    async def verdict(self, asked: JudgeQuestion) -> Verdict:
        """Judge one claim.

        Raises:
            ProviderError: the judge cannot be reached or refuses to answer.
        """
        raise NotImplementedError


class VerdictCache(Protocol):
    """A place for verdicts, such as a `GroundingStore`."""

    async def verdict(self, key: str) -> Verdict | None:
        """Return the verdict with this key, if there is one."""
        ...

    async def keep_verdict(self, key: str, judge: str, verdict: Verdict) -> None:
        """Keep a verdict; an existing one with the same key stays."""
        ...
