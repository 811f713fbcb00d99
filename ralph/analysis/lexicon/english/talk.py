"""English words of talk with a person: questions, pleas, offers, and what keeps the agent from going on."""

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["TALK"]

TALK: Words = {
    "blocked": alone(
        *("i am blocked", "i'm blocked", "we are blocked", "i remain blocked", "i am still blocked"),
        *("i'm still blocked", "cannot proceed", "can't proceed", "cannot continue", "can't continue"),
        *("unable to proceed", "unable to continue", "waiting for you", "waiting for your", "waiting on you"),
        *("need your approval", "needs your approval", "requires your approval", "need your permission"),
        *("i need permission", "i need access", "i need credentials", "approval is required before"),
    ),
    "person": alone(
        *("you", "your", "shall i", "should i", "should we", "shall we", "do i", "may i", "can i", "could i"),
        *("which", "what", "how", "where", "who", "when", "ok to", "okay to"),
    ),
    "plea": alone(
        *("let me know", "please tell me", "please confirm", "please advise", "please clarify", "please choose"),
        *("please decide", "please specify", "tell me which", "your call", "up to you", "awaiting your"),
    ),
    "pleading": alone(
        *("please tell me", "please confirm", "please advise", "please clarify", "please choose", "please decide"),
        *("please specify", "tell me which", "awaiting your"),
    ),
    "offer": alone(
        *("anything else", "would you like me to", "do you want me to", "want me to", "shall i also"),
        *("should i also", "any questions", "is there anything", "would you like to"),
    ),
}
