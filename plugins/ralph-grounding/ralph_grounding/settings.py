"""The plug-in's settings: the table `[plugins.grounding]`, and the keys of `--verifier grounding:`."""

from typing import Any, Literal, Self

from pydantic import BaseModel, Field, SecretStr, model_validator

from ralph_grounding.ground_truth.pages import ReadingLimits

__all__ = [
    "AccuracySettings",
    "AnswerSettings",
    "AttributionSettings",
    "BatchSettings",
    "CompletenessSettings",
    "GroundingKeys",
    "GroundingSettings",
    "JudgeSettings",
    "LoopSettings",
    "ProviderSettings",
    "TierSettings",
    "WeightSettings",
]


class AccuracySettings(BaseModel, frozen=True, extra="forbid"):
    """The measure of similarity between a response and the expected answer."""

    chunking_strategy: Literal["none", "sentences", "paragraphs"] = Field(
        default="paragraphs", description="The pieces to cut a response into before the comparison."
    )
    aggregation: Literal["max", "mean"] = Field(
        default="max", description="How to join the pieces' similarities: the highest, or the mean weighted by length."
    )


class CompletenessSettings(BaseModel, frozen=True, extra="forbid"):
    """The conditions for finding an expected claim."""

    similarity_threshold: float = Field(
        default=0.75, ge=0, lt=1, description="The calibrated similarity that a found claim must exceed."
    )
    require_all_required: bool = Field(
        default=False, description="If a required claim is missing, the result does not pass; the score stays the same."
    )


class AttributionSettings(BaseModel, frozen=True, extra="forbid"):
    """The value of a mention of the source."""

    url_weight: float = Field(default=100, ge=0, le=100, description="The score for a page's address.")
    domain_weight: float = Field(default=75, ge=0, le=100, description="The score for the domain.")
    brand_weight: float = Field(default=50, ge=0, le=100, description="The score for a brand.")
    multi_mention_bonus: float = Field(default=10, ge=0, le=100, description="The bonus for each further mention.")
    max_score: float = Field(default=100, gt=0, le=100, description="The highest possible score.")


class TierSettings(BaseModel, frozen=True, extra="forbid"):
    """The lowest score of each tier; below `fair` is poor."""

    excellent: float = Field(default=85, ge=0, le=100)
    good: float = Field(default=70, ge=0, le=100)
    fair: float = Field(default=50, ge=0, le=100)

    @model_validator(mode="after")
    def _descend(self) -> Self:
        if not self.excellent > self.good > self.fair:
            raise ValueError(
                f"the tiers must descend, but excellent={self.excellent:g}, good={self.good:g}, fair={self.fair:g} "
                "do not: give each a lower score than the one before"
            )
        return self


class WeightSettings(BaseModel, frozen=True, extra="forbid"):
    """The weight of each metric in the combined score; one that was not measured is left out."""

    accuracy: float = Field(default=0.4, ge=0, le=100)
    completeness: float = Field(default=0.4, ge=0, le=100)
    attribution: float = Field(default=0.2, ge=0, le=100)

    @model_validator(mode="after")
    def _weigh(self) -> Self:
        if not self.accuracy + self.completeness + self.attribution > 0:
            raise ValueError("all weights are zero, which leaves nothing to combine: give one metric a weight")
        return self


class ProviderSettings(BaseModel, frozen=True, extra="forbid"):
    """The similarity provider."""

    similarity: Literal["lexical", "local", "endpoint", "hybrid"] = Field(
        default="lexical",
        description="Compare by words, by a local model, by an OpenAI-compatible endpoint, or by words and a model.",
    )
    embedding: Literal["local", "endpoint"] = Field(default="local", description="The model of `hybrid`.")
    embedding_model: str = Field(
        default="", description="The model's name at the endpoint, or its name or folder on this machine."
    )
    download: bool = Field(default=False, description="Download a missing local model.")
    url: str = Field(default="", description="The endpoint's base URL, up to and including /v1.")
    api_key: SecretStr = Field(default=SecretStr(""), description="The endpoint's key.")
    timeout: float = Field(default=30, gt=0, le=3600, description="The time limit of a call, in seconds.")
    retries: int = Field(default=3, ge=0, le=10, description="The retries of a call with a temporary failure.")
    calibration: str = Field(
        default="",
        description="A file of decision points from the fitting script; without it they are a guess.",
    )


class JudgeSettings(BaseModel, frozen=True, extra="forbid"):
    """The judge of claims, a model that is asked in addition. It is off unless `url` or `nli` is set, or `--judge`."""

    url: str = Field(
        default="",
        description="An OpenAI-compatible endpoint's base URL, up to and including /v1, or a plug-in's judge by name.",
    )
    model: str = Field(default="", description="The model's name.")
    nli: str = Field(
        default="", description="Instead of an endpoint, a folder with an ONNX model for natural language inference."
    )
    mode: Literal["doubtful", "all"] = Field(
        default="doubtful", description="Ask about claims with a doubtful offline verdict, or about all."
    )
    max_answer: int = Field(
        default=12_000,
        ge=200,
        le=1_000_000,
        description="The characters of an answer that the judge reads; of a longer one those around the best match.",
    )
    max_tokens: int = Field(default=512, ge=16, le=100_000, description="The maximum length of a reply, in tokens.")
    timeout: float = Field(default=30, gt=0, le=3600, description="The time limit of a call, in seconds.")
    retries: int = Field(default=3, ge=0, le=10, description="The retries of a call with a temporary failure.")
    concurrency: int = Field(default=4, ge=1, le=64, description="The maximum number of simultaneous calls.")
    input_price: float | None = Field(default=None, ge=0, description="The price of a million tokens of questions.")
    output_price: float | None = Field(default=None, ge=0, description="The price of a million tokens of replies.")
    max_cost: float | None = Field(
        default=None, gt=0, description="What a command may spend, in the currency of the prices; unset: any amount."
    )


class AnswerSettings(BaseModel, frozen=True, extra="forbid"):
    """The source of responses, if they do not come from a file."""

    url: str = Field(default="", description="An OpenAI-compatible endpoint's base URL, up to and including /v1.")
    model: str = Field(default="", description="The model's name.")
    api_key: SecretStr = Field(default=SecretStr(""), description="The endpoint's key.")
    temperature: float = Field(default=0.7, ge=0, le=2)
    max_tokens: int = Field(default=1024, ge=1, le=1_000_000)
    timeout: float = Field(default=30, gt=0, le=3600, description="The time limit of a call, in seconds.")
    concurrency: int = Field(default=3, ge=1, le=64, description="The maximum number of simultaneous calls.")
    retries: int = Field(default=3, ge=0, le=10, description="The retries of a call with a temporary failure.")
    trials: int = Field(default=1, ge=1, le=100, description="How often to ask each query, also with `--executor`.")


class BatchSettings(BaseModel, frozen=True, extra="forbid"):
    """The execution of a batch."""

    concurrency: int = Field(default=5, ge=1, le=64, description="The maximum number of responses to analyse at once.")
    retry_on_failure: bool = Field(default=True, description="Retry a failed analysis.")
    max_retries: int = Field(
        default=2, ge=0, le=10, description="The retries of an analysis, in addition to a provider's own."
    )
    continue_on_error: bool = Field(default=True, description="Continue the batch after a failure.")


class LoopSettings(BaseModel, frozen=True, extra="forbid"):
    """The material that `--analyzer grounding` holds each reply against. Paths are relative to the current folder.

    A reply below a minimum blocks a completion; without minimums the scores are only shown with the others.
    """

    claims: str = Field(default="", description="A file of claims, as YAML or JSON.")
    reference: str = Field(default="", description="A file with the expected text.")
    ground_truth: tuple[str, ...] = Field(default=(), description="The ground truth: files and folders.")
    domain: str = Field(default="", description="The site that a reply should credit.")
    brands: tuple[str, ...] = Field(default=(), description="Brands that count as credit, too.")
    min_accuracy: float | None = Field(default=None, ge=0, le=100)
    min_completeness: float | None = Field(default=None, ge=0, le=100)
    min_attribution: float | None = Field(default=None, ge=0, le=100)

    @property
    def names_nothing(self) -> bool:
        """True if there is nothing to hold a reply against."""
        return not (self.claims or self.reference or self.ground_truth or self.domain or self.brands)

    @model_validator(mode="after")
    def _stay_here(self) -> Self:
        if far := [place for place in self.ground_truth if "://" in place]:
            raise ValueError(f"{far[0]!r} is an address, but here the ground truth must be files: save the page first")
        return self


class GroundingSettings(BaseModel, frozen=True, extra="forbid"):
    """The table `[plugins.grounding]`."""

    accuracy: AccuracySettings = AccuracySettings()
    completeness: CompletenessSettings = CompletenessSettings()
    attribution: AttributionSettings = AttributionSettings()
    tiers: TierSettings = TierSettings()
    weights: WeightSettings = WeightSettings()
    providers: ProviderSettings = ProviderSettings()
    answers: AnswerSettings = AnswerSettings()
    judge: JudgeSettings = JudgeSettings()
    reading: ReadingLimits = ReadingLimits()
    batch: BatchSettings = BatchSettings()
    loop: LoopSettings = LoopSettings()
    max_response: int = Field(
        default=100_000,
        ge=100,
        le=10_000_000,
        description="The maximum length of a response, in characters; the rest is ignored.",
    )
    store: str | None = Field(
        default=None,
        description="The store: a URL of SQLite or PostgreSQL; unset: a database in the user's state folder.",
    )


_SCORE: Any = Field(default=None, ge=0, le=100)


class GroundingKeys(BaseModel, frozen=True, extra="forbid"):
    """The keys of the verifier. Separate several places or patterns in one key by commas, and quote them."""

    file: str = Field(
        default="", description="Patterns of the documents to judge; unset: those that the run has changed."
    )
    claims: str = Field(default="", description="A file of claims, as YAML or JSON.")
    reference: str = Field(default="", description="A file with the expected text.")
    ground_truth: str = Field(default="", description="The ground truth: files and folders.")
    domain: str = Field(default="", description="The site that the documents should credit.")
    brand: str = Field(default="", description="Brands that count as credit, too.")
    min_completeness: float | None = _SCORE
    min_accuracy: float | None = _SCORE
    min_attribution: float | None = _SCORE
    max_contradictions: int = Field(
        default=0, ge=0, description="The maximum number of statements that contradict a claim or the ground truth."
    )
    max_unsupported: int | None = Field(
        default=None,
        ge=0,
        description="The maximum number of statements that the ground truth does not support; needs ground_truth.",
    )
    timeout: float | None = Field(default=None, gt=0, description="The time limit, in seconds; unset: verify_timeout.")
