"""The requests that reach a run from elsewhere: another terminal, a web page, another machine.

A request is kept in the store, where the owner of the run finds it.
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, NonNegativeInt


class Request(BaseModel, frozen=True):
    """One request to a run.

    Attributes:
        seq: its place among the run's requests, counted from 1; 0 before the store has numbered it.
        at: when it was made, by the clock of its sender.
        text: the message for the agent (tell), or the reason (stop); empty for the others.
        once: the message goes with one prompt only, else with every one from then on (tell).
        limits: the amounts to add to limits, such as `{"max_iterations": 10}` (extend).
    """

    seq: NonNegativeInt = 0
    at: datetime
    kind: Literal["pause", "resume", "stop", "tell", "extend"]
    text: str = ""
    once: bool = False
    limits: dict[str, float] = {}
