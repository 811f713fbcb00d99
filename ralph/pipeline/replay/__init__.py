"""The loop without an agent: replies that were recorded go through the real analyzer, breaker, limits and decision.

`Loop` is what `Runner` does after a turn, over turns that somebody else has taken. `Replay` feeds it a recorded run,
pass by pass, and keeps account of what stopping there would have saved and cut.
"""

from ralph.pipeline.replay.account import Replay, Replayed, Step
from ralph.pipeline.replay.loop import Judging, Loop
from ralph.pipeline.replay.passes import Moves, Pass, failure_of

__all__ = ["Judging", "Loop", "Moves", "Pass", "Replay", "Replayed", "Step", "failure_of"]
