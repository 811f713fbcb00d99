"""Counts of iterations in a row, which later decisions rest on."""

from pydantic import BaseModel, NonNegativeInt

from ralph.decision.claims import Case
from ralph.decision.outcomes import Decision, following, needs_user
from ralph.types import evolve
from ralph.types.output import Interrupted

__all__ = ["Streaks"]

_CALM = 3


class Streaks(BaseModel, frozen=True):
    """Counts of iterations in a row, a fold over the run that is kept in every record.

    Attributes:
        answered: an executor has answered at least once, even in a turn that failed or was cut short later.
        limited, refused, blocked, test_only: iterations of that kind in a row.
        logins: limited iterations in a row without a login.
        questions: iterations in a row that asked the user, the blocked ones included.
        pivoted: the loop was stuck, and has been asked to change its approach.
        calm: iterations in a row after that which were not stuck; after three, a loop that is stuck again gets another
            change of approach.
        confirming: the next iteration may confirm a claim of completion.
    """

    answered: bool = False
    limited: NonNegativeInt = 0
    logins: NonNegativeInt = 0
    refused: NonNegativeInt = 0
    blocked: NonNegativeInt = 0
    questions: NonNegativeInt = 0
    test_only: NonNegativeInt = 0
    pivoted: bool = False
    calm: NonNegativeInt = 0
    confirming: bool = False

    def after(self, case: Case) -> "Streaks":
        """Return the counts with one more iteration, before its decision.

        An iteration that Ralph itself cut short says nothing of the agent, nor does one in which a service that has
        answered before did not answer.
        """
        failure, analysis = case.output.failure, case.analysis
        if isinstance(case.output.outcome, Interrupted):
            return evolve(self, answered=self.answered or case.output.heard_model)
        if case.limited:
            logins = self.logins + 1 if case.logged_out else 0
            return evolve(self, limited=self.limited + 1, logins=logins)
        if case.unanswered and self.answered:
            return evolve(self, limited=0, logins=0, refused=0)
        answered = self.answered or failure is None or case.output.heard_model
        turned_down = failure is not None and (
            failure.failure == "refused" or (failure.failure == "unavailable" and not answered)
        )
        calm = self.calm + 1 if self.pivoted and not analysis.stuck.detected else 0
        recovered = calm >= _CALM or (calm > 0 and case.moved is True)
        return evolve(
            self,
            answered=answered,
            limited=0,
            logins=0,
            refused=self.refused + 1 if turned_down else 0,
            blocked=self.blocked + 1 if case.waits and analysis.state == "blocked" else 0,
            questions=self.questions + 1 if case.waits else 0,
            test_only=self.test_only + 1 if analysis.completion.test_only and not case.moved else 0,
            pivoted=self.pivoted and not recovered,
            calm=calm,
        )

    def decided(self, decision: Decision) -> "Streaks":
        """Return the counts after the iteration's decision; see `needs_user` for what an end resets."""
        if needs_user(decision):
            return evolve(self, blocked=0, questions=0, pivoted=False, calm=0)
        word = following(decision)
        if word is None:
            return self
        return evolve(self, pivoted=self.pivoted or bool(word.pivot), confirming=word.confirm)
