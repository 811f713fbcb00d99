"""The options of a judge, and the messages about what it was asked."""

import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import BaseModel, ValidationError

from ralph.errors import UsageError
from ralph_grounding.cli.printing import counted, one_line, print_json, print_rows
from ralph_grounding.settings import GroundingSettings, JudgeSettings

if TYPE_CHECKING:
    from ralph_grounding.judging.asking import Judging
    from ralph_grounding.result import JudgeUse
    from ralph_grounding.store.grounding import GroundingStore

__all__ = [
    "Estimate",
    "JudgeKeyName",
    "JudgeMode",
    "JudgeModel",
    "JudgeOptions",
    "JudgeUrl",
    "MaxCost",
    "Nli",
    "judging_for",
    "names_judge",
    "print_estimate",
    "report_use",
]

JudgeUrl = Annotated[
    str | None,
    typer.Option(
        "--judge", metavar="URL", help="Ask a model at this OpenAI-compatible endpoint about doubtful claims."
    ),
]
JudgeModel = Annotated[str | None, typer.Option("--judge-model", metavar="NAME", help="The model of --judge.")]
JudgeKeyName = Annotated[
    str | None,
    typer.Option("--judge-key-env", metavar="VARIABLE", help="The environment variable with the key of --judge."),
]
JudgeMode = Annotated[
    str | None, typer.Option("--judge-mode", metavar="MODE", help="The claims to ask about: doubtful or all.")
]
Nli = Annotated[
    str | None, typer.Option("--nli", metavar="FOLDER", help="Ask a local ONNX model for inference instead.")
]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", metavar="AMOUNT", help="The most that --judge may cost, by its prices.")
]
Estimate = Annotated[
    bool, typer.Option("--estimate", help="Print how many questions a judge would get and their cost; ask nothing.")
]

_KEY = "RALPH_JUDGE_KEY"


class JudgeOptions(BaseModel, frozen=True):
    """The options of a judge on the command line; those not given are the settings'. The key is not among them."""

    url: str | None = None
    model: str | None = None
    key_env: str | None = None
    mode: str | None = None
    nli: str | None = None
    max_cost: float | None = None

    def settings(self, base: JudgeSettings) -> JudgeSettings:
        """Return the settings in force. Raises `UsageError` for a value that is not valid."""
        given = self.model_dump(exclude={"key_env"}, exclude_none=True)
        if "@" in (self.url or ""):
            raise UsageError(
                "The address of --judge contains a name or a password.", "Use --judge-key-env VARIABLE for the key."
            )
        if "nli" in given and "url" not in given:
            given["url"] = ""
        if "url" in given and "nli" not in given:
            given["nli"] = ""
        try:
            return JudgeSettings.model_validate({**base.model_dump(), **given})
        except ValidationError as error:
            name = str(error.errors()[0]["loc"][0])
            option = {"mode": "--judge-mode", "max_cost": "--max-cost"}.get(name, name)
            remedy = {"mode": "Use doubtful or all.", "max_cost": "Name an amount above 0."}.get(name, "Correct it.")
            raise UsageError(f"{one_line(str(given.get(name)), 80)!r} is not valid for {option}.", remedy) from None

    def key(self) -> str:
        """Read the key from the environment. Raises `UsageError` if the named variable is not set."""
        if self.key_env is None:
            return os.environ.get(_KEY, "")
        if not (key := os.environ.get(self.key_env, "")):
            raise UsageError(
                f"The environment variable {one_line(self.key_env, 80)} is not set.",
                "Set it to the key of the judge's endpoint, or name another one with --judge-key-env.",
            )
        return key


def names_judge(settings: GroundingSettings, options: JudgeOptions) -> bool:
    """Return True if the options or the settings name a judge."""
    return bool(options.url or options.nli or settings.judge.url or settings.judge.nli)


def judging_for(
    settings: GroundingSettings, options: JudgeOptions, store: "GroundingStore | None", *, estimate: bool = False
) -> "Judging | None":
    """Make the judge in force, for use in `async with`; None without one.

    Args:
        settings: the settings in force.
        options: those of the command line.
        store: keeps the verdicts.
        estimate: only count the questions.

    Raises:
        UsageError: the options are not valid, or there is nothing to estimate.
    """
    from ralph_grounding.judging.asking import Judging
    from ralph_grounding.judging.choose import judge_for

    told = options.settings(settings.judge)
    judge = judge_for(told, options.key())
    if judge is None:
        if estimate or options != JudgeOptions():
            raise UsageError("No judge is named.", "Add --judge URL --judge-model NAME, or --nli FOLDER.")
        return None
    threshold = settings.completeness.similarity_threshold
    return Judging(judge, told, threshold=threshold, cache=store, only_estimate=estimate)


async def print_estimate(judging: "Judging", events: AsyncGenerator[Any], *, as_json: bool) -> None:
    """Score the answers offline, and print what the judge would be asked."""
    async with aclosing(events):
        async for _ in events:
            pass
    used = judging.used
    if as_json:
        print_json(used.model_dump(mode="json", exclude={"untaken"}))
        return
    print_rows(("", ""), [("judge", one_line(used.judge)), ("questions", _questions(used)), *_spent(used, "about ")])
    if used.cost is None:
        typer.echo("The cost is unknown: set plugins.grounding.judge.input_price and output_price.", err=True)


def report_use(judging: "Judging | None") -> None:
    """Report on standard error what a judge was asked, if there was one."""
    if judging is None:
        return
    used = judging.used
    said = ", ".join((_questions(used), *(f"{text} {name}" for name, text in _spent(used, ""))))
    why = one_line(judging.trouble, 300)
    untaken = f"; {counted(used.untaken, 'verdict')} not taken, the last because: {why}" if used.untaken else ""
    typer.echo(f"judge {one_line(used.judge)}: {said}{untaken}", err=True)


def _questions(used: "JudgeUse") -> str:
    return counted(used.questions, "question") + (f" and {used.cached} from the store" if used.cached else "")


def _spent(used: "JudgeUse", about: str) -> list[tuple[str, str]]:
    tokens = f"{about}{used.input_tokens:,} in, {used.output_tokens:,} out"
    return [("tokens", tokens), *([] if used.cost is None else [("cost", f"{about}{used.cost:.4f}")])]
