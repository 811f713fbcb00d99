"""English words of talk with a person: questions, pleas, offers; and of work that goes on."""

from collections.abc import Iterable
from itertools import product

from ralph.analysis.lexicon.base import Words, alone
from ralph.analysis.lexicon.english.completion import COMPLETION
from ralph.analysis.lexicon.english.faults import FAULTS

__all__ = ["TALK"]

_PLEADING = (
    *("please tell me", "please confirm", "please advise", "please clarify", "please choose", "please decide"),
    *("please specify", "please provide", "please share", "please select", "tell me which", "tell me what"),
    *("could you tell me", "can you tell me", "could you confirm", "can you confirm", "could you clarify"),
    *("can you clarify", "need you to decide", "i need a decision", "need your decision"),
    *("tell me whether", "tell me when i may", "tell me who", "tell me where", "let me know who"),
    *("tell me how", "let me know which", "let me know what", "let me know how", "let me know whether"),
    *("awaiting your", "waiting for your answer", "waiting for your decision", "waiting for your input"),
    *("waiting for your instructions", "waiting for your reply", "waiting for your response"),
)
_ABOUT_TO = ("i'll", "i will", "let me", "let's", "i'm going to", "i am going to")


def _did(verbs: Iterable[str]) -> tuple[str, ...]:
    """What the agent did itself: a phrase of its own, so that no longer one hides it."""
    return tuple(f"{who} {verb}" for who, verb in product(("i", "we"), verbs))


TALK: Words = {
    "person": alone(
        *("you", "your", "shall i", "should i", "should we", "shall we", "do i", "do we", "may i", "can i", "can we"),
        *("could i", "ok to", "okay to", "should it", "should they", "should this", "should that", "should the"),
    ),
    "plea": alone(
        *_PLEADING,
        *("let me know", "your call", "up to you", "please reply", "please respond", "waiting for your"),
        *("just tell me", "just reply", "just say", "reply with"),
        *("wait for your", "i'll wait", "i'll hold off", "i will hold off", "holding off until", "i'll hold"),
    ),
    "pleading": alone(*_PLEADING),
    "offer": alone(
        *("anything else", "would you like me to", "do you want me to", "want me to", "shall i also"),
        *("how can i help", "how may i help", "how can i assist", "what can i do for you"),
        *("should i also", "any questions", "is there anything", "would you like to"),
    ),
    "resume": alone(
        *("continue", "proceed", "go on", "go ahead", "move on", "start", "begin", "next"),
    ),
    "future": alone(*_ABOUT_TO, "i'll wait"),
    "work": alone(*_did(COMPLETION["work"])),
    "mended": alone(*_did(set(FAULTS["mended"]) & set(COMPLETION["work"]))),
    "ongoing": alone(
        *_ABOUT_TO,
        *("i'm now", "i am now", "now i", "first i", "i'm working on", "i am working on", "working on", "worked on"),
        *("i see the", "i found", "i've found", "i've got", "i got", "i looked", "i used", "looks like", "applying"),
        *("is running", "are running", "still running", "running", "in the background", "in progress", "underway"),
        *("continues", "continuing", "monitoring", "waiting for the", "searching", "checking", "next:", "tests"),
        *("the build", "compiles", "succeeded", "is fulfilled", "this loop", "this iteration", "remaining"),
        *("still missing",),
    ),
    "plain": alone(
        *("let me know", "let me see", "let me think", "which let me", "that let me", "which lets me", "that lets me"),
        *("this next:", "it next:", "here next:", "them next:", "nothing to do with"),
    ),
}
