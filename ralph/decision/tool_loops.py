"""How long Ralph bears with a turn whose tool calls get nowhere: an agent in such a circle goes on until its time is
over, and every round of it costs a call of the model.
"""

from collections import deque

from ralph.system.text import pattern
from ralph.types.output import Interrupted, ToolCall

__all__ = ["Patience"]

_DENIALS = 20
"""Denied tool calls in a row that end a turn: an agent that hears nothing but no can go on so for ever."""

_ROUNDS = 60
_DIFFERENT = 3
"""So many tool calls in a row that are no more than so many different ones, with the same results, end a turn."""

_SLOW = 2.0
"""Seconds from which on a call waits for something, which may take as many calls as it takes."""

_NUMBERED = pattern(r"[Ii]d\W{0,2}\d+")
"""A running number that a tool gives to its calls, such as a shell's."""
_CUT = 2_000
"""Characters from which on arguments may be cut, so that nobody knows whether two are the same."""

_SHOWN = 50
"""Characters that are shown of a call's beginning and of its end, where the name of a file often stands."""


class Patience:
    """Hears of every tool call of a turn, and says when it is enough.

    A call of which nobody knows what exactly it was to do or what came of it, and one that takes its time, are no
    rounds of a circle.
    """

    def __init__(self) -> None:
        self._denied = 0
        self._recent: deque[tuple[str, str, str]] = deque(maxlen=_ROUNDS)

    def lost(self, call: ToolCall) -> Interrupted | None:
        """How the turn is to be cut short after one more finished call; None where it may go on."""
        self._denied = self._denied + 1 if call.denied else 0
        if self._denied == _DENIALS:
            return Interrupted(by="denials", detail=f"{self._denied} tool calls in a row were denied")
        known = call.result and 0 < len(call.arguments) < _CUT
        if not known or call.duration >= _SLOW:
            self._recent.clear()
            return None
        self._recent.append((call.name, call.arguments, _NUMBERED.sub("", call.result)))
        different = set(self._recent)
        if len(self._recent) < _ROUNDS or len(different) > _DIFFERENT:
            return None
        self._recent.clear()
        same = "the same" if len(different) == 1 else f"the same {len(different)}"
        last = " ".join(f"{call.name} {call.arguments}".split())
        if len(last) > 2 * _SHOWN:
            last = f"{last[:_SHOWN]}…{last[-_SHOWN:]}"
        return Interrupted(
            by="circles", detail=f"{_ROUNDS} tool calls in a row were {same} with the same result: {last}"
        )
