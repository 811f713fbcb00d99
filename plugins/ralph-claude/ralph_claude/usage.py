"""What a turn has used: counted while it goes on, and put right by what Claude Code says at its end."""

from collections.abc import Callable

from ralph import Usage
from ralph_claude.wire import Event, mapping, number, whole

__all__ = ["Meter"]

_PRICED = "list"
"""How Claude Code calls a cost that comes from a price list; for a model that it does not know it makes one up."""


class Meter:
    """Counts one turn, so that a limit on tokens can end it.

    Args:
        used: told what came on top.
    """

    def __init__(self, used: Callable[[Usage], None]) -> None:
        self._tell = used
        self._counted = Usage()

    def call_failed(self) -> None:
        """A request to the model failed."""
        self._used(Usage(model_calls=1))

    def call_began(self, usage: Event) -> None:
        """An answer of the model begins; its input is known by now."""
        self._used(
            Usage(
                input_tokens=_input(usage, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
                cache_read_tokens=whole(usage.get("cache_read_input_tokens")),
                model_calls=1,
            )
        )

    def call_ended(self, usage: Event) -> None:
        """An answer is complete, and so its output."""
        self._used(Usage(output_tokens=whole(usage.get("output_tokens"))))

    def turn_ended(self, models: Event) -> None:
        """Puts the sums right.

        Args:
            models: what the turn used of each model, sub-agents and all; nothing where that is not known.
        """
        totals = [mapping(model) for model in models.values()]
        if not totals:
            return
        names = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        sums = {
            "input_tokens": sum(_input(total, *names) for total in totals),
            "output_tokens": sum(whole(total.get("outputTokens")) for total in totals),
            "cache_read_tokens": sum(whole(total.get("cacheReadInputTokens")) for total in totals),
        }
        missing = {name: max(total - (getattr(self._counted, name) or 0), 0) for name, total in sums.items()}
        self._used(Usage(**missing, cost=_cost(totals)))

    def _used(self, usage: Usage) -> None:
        self._counted += usage
        self._tell(usage)


def _input(usage: Event, *names: str) -> int:
    """Anthropic counts what it writes to and reads from its cache beside the input; here it is a part of it."""
    return sum(whole(usage.get(name)) for name in names)


def _cost(totals: list[Event]) -> float | None:
    costs = [number(total.get("costUSD")) for total in totals if total.get("costBasis", _PRICED) == _PRICED]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(totals) else None
