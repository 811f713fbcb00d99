"""What is asked of a run from elsewhere: another terminal, a web page, another machine.

A request is kept in the store, and whoever owns the run finds it there.
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, NonNegativeInt

__all__ = ["Request"]


class Request(BaseModel, frozen=True):
    """One thing that is asked of a run.

    Attributes:
        seq: its place among the run's requests, counted from 1; 0 before the store has given it one.
        at: when it was asked, by the clock of who asked.
        text: what the agent is told (tell), or why (stop); empty for the others.
        limits: what is added to which limit, such as `{"max_iterations": 10}` (extend).
    """

    seq: NonNegativeInt = 0
    at: datetime
    kind: Literal["pause", "resume", "stop", "tell", "extend"]
    text: str = ""
    limits: dict[str, float] = {}
