"""What the agent is told."""

from pydantic import BaseModel, PositiveInt

__all__ = ["Prompt"]


class Prompt(BaseModel, frozen=True):
    """What an agent is handed for one iteration.

    Attributes:
        text: all of it, as it is sent.
        task: the person's own words within it.
        iteration: counted from 1.
    """

    text: str
    task: str
    iteration: PositiveInt = 1
