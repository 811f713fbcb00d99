"""English words of what stops the work from outside, of the hand that it takes, and of how it goes on then."""

from itertools import product

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["IMPASSES", "NO_NEWS"]

_NOT = ("isn't", "is not", "aren't", "are not", "wasn't", "was not")
_AGAIN = ("start", "run", "restart", "relaunch", "rerun", "re-run")
_ADMINS = (
    *("an admin", "an administrator", "an owner", "the owner", "an account holder", "the account holder", "a dba"),
    *(
        "an operator",
        "the admin",
        "the administrator",
        "the on-call",
        "the release manager",
        "a maintainer",
        "the maintainer",
    ),
    *("the helpdesk", "the team", "a colleague"),
)

_COULD_YOU = tuple(
    f"{could} you {verb}"
    for could, verb in product(
        ("could", "can", "would", "will"),
        (
            *("run", "grant", "add", "restart", "renew", "plug", "unlock", "put", "give me", "enable", "refresh"),
            *("log in", "install", "approve", "start", "reset", "set", "connect", "free", "raise", "top up", "accept"),
            *("attach", "upload", "provide the", "allow", "send me"),
        ),
    )
)

_HAVE = ("i have", "i had", "i've", "i need", "i've had", "i therefore have", "so i have", "so i had")

IMPASSES: Words = {
    "person": alone(*_COULD_YOU),
    "barred": alone(
        *(f"{isnt} {there}" for isnt, there in product(_NOT, ("there", "here", "available", "installed", "permitted"))),
        *(
            f"{isnt} {there}"
            for isnt, there in product(_NOT, ("reachable", "accessible", "plugged in", "visible", "connected"))
        ),
        *(f"{isnt} in the {place}" for isnt, place in product(_NOT, ("environment", "repository", "repo", "vault"))),
        *("still not permitted", "not permitted", "not reachable", "not accessible", "nor in the", "is nowhere"),
        *("doesn't exist", "does not exist", "don't exist", "do not exist", "doesn't show up", "does not show up"),
        *("timed out", "times out", "time out", "refuses", "refused", "refusing", "refusing connections", "rejected"),
        *("denied", "declined", "forbidden", "forbids", "expired", "revoked", "suspended", "disabled", "locked"),
        *("frozen", "freeze", "exhausted", "quota", "out of quota", "out of credit", "out of disk"),
        *("disk is full", "is full", "no space left", "no access", "no permission", "no key", "no token"),
        *("no password",),
        *("no network", "no internet", "no rights", "no gpu", "no free", "no camera", "no docker", "no device"),
        *("no account",),
        *("asks for", "mfa", "captcha", "2fa", "unauthorized", "unreachable", "unavailable", "missing"),
        *("is empty", "no licence", "no license"),
        *(f"{ends} {code}" for ends, code in product(("with", "returns", "answers"), ("401", "403", "502", "503"))),
        *("taken away", "lost access", "lost its credentials", "a placeholder", "not activated"),
        *(
            "doesn't answer",
            "does not answer",
            "doesn't respond",
            "does not respond",
            "isn't responding",
            "not responding",
        ),
        *("no answer from", "connection closed", "connection refused", "connection reset"),
        *(f"{what} lacks" for what in ("token", "my role", "bot", "my account", "my key", "this session")),
        *("has no power", "is down", "are down", "can't be reached", "cannot be reached"),
        *("only has", "has only", "read-only", "stands still", "come to a halt", "came to a halt", "at a standstill"),
        *("waiting on", "waiting for", "awaiting", "needs a person", "needs a human", "needs somebody"),
        *("nothing i can do", "blocked on"),
        *("from here", "in here", "i have no", "we have no", "i don't have", "we don't have", "i need hands"),
        *("i need somebody", "i need someone"),
        *(
            f"{where} {place}"
            for where, place in product(
                ("from this", "in this", "on this", "from inside this"),
                ("environment", "sandbox", "machine", "container", "runner", "host"),
            )
        ),
        *("rejects", "declines", "denies", "one-time password"),
        *(
            f"requires a {what}"
            for what in (
                "password",
                "token",
                "login",
                "licence",
                "license",
                "key",
                "certificate",
                "signature",
                "one-time",
            )
        ),
        *("blocked by", "paused", "not been granted", "no such host", "sign-off", "under maintenance"),
        *("manual step required", "manual action required"),
    ),
    "hand": alone(
        *_COULD_YOU,
        *(f"either {verb}" for verb in ("add", "grant", "approve", "allow", "give", "enable", "set", "put")),
        *("you'd have to", "you would have to", "who can help", "who can ask", "wants a person"),
        *("i'd need from you", "i would need from you"),
        *(f"{again} {what}" for again, what in product(_AGAIN, ("me", "me again", "the loop", "the loop again"))),
        *(f"{again} {what}" for again, what in product(_AGAIN, ("this job", "the job", "the agent", "it again"))),
        *("required from you", "needed from you"),
        *("what i need", "what would help", "what is needed", "what's needed", "needed from", "required from"),
        *("needs you", "needs a person", "needs a human", "by a human", "by a person", "by someone"),
        *("need from you", "on your side", "on your end", "from your side", "ways out"),
        *("way out", "what would get", "to let me go on", "to let me continue", "for me to go on"),
        *("for me to continue", "on my behalf"),
        *("i need a", "i need an", "i need the", "could someone", "can someone", "could somebody", "can somebody"),
        *("could anyone", "someone with", "somebody with", "someone who", "somebody who", "someone on", "only you"),
        *(f"{admin} {has}" for admin, has in product(_ADMINS, ("needs", "has to", "must", "brings"))),
        *(f"until {admin}" for admin in _ADMINS),
        *(f"only {admin}" for admin in _ADMINS),
        *(f"{admin} only" for admin in _ADMINS),
        *(
            f"only {which} {who}"
            for which, who in product(("an org", "the org", "a repo", "the repo"), ("admin", "owner"))
        ),
        *(f"only {admins} can" for admins in ("admins", "owners", "maintainers", "administrators")),
    ),
    "lack": alone("needs a person", "needs a human", "needs somebody", "waiting on", "awaiting"),
    "bidding": alone(
        *("grant", "unlock", "restore", "renew", "supply", "plug", "allow", "approve", "unblock", "reset", "attach"),
        *("put the", "put it", "put a", "set the", "add the", "add a", "enable", "provide", "give me", "turn on"),
        *("restart this", "restart the", "connect"),
    ),
    "parting": alone(
        *("i'd need from you", "i would need from you", "i need from you", "required from you", "needed from you"),
        *(f"{again} {me}" for again, me in product(_AGAIN, ("me", "me again", "the loop again"))),
        *("i'm stopping", "i am stopping", "i stop here", "i stop at this", "i've stopped", "i have stopped"),
        *("so i stopped",),
        *("i therefore stopped", "i stopped here", "i stopped there", "i stopped before", "i'm pausing"),
        *("i am pausing",),
        *("i'll stop here", "i will stop here", "i've paused", "i have paused"),
        *("out of my hands", "outside my control", "beyond my control", "isn't mine to", "is not mine to"),
        *(f"{have} to stop{here}" for have, here in product(_HAVE, ("", " here", " there"))),
        *(
            "something i can't",
            "something i cannot",
            "where i stop",
            "as far as i can get",
            "as far as i can go",
            "as far as i can take",
            "as far as i get",
        ),
    ),
    "onward": alone(
        *(
            f"{i} {on}"
            for i, on in product(
                ("i can", "then i", "and i"),
                ("go on", "continue", "finish", "resume", "carry on", "proceed", "pick up"),
            )
        ),
        *(
            "i can then",
            "after that i",
            "afterwards i",
            "the rest takes",
            "does the rest",
            "is all it takes",
            "it resumes",
            "can go on",
        ),
        *("can continue", "resumes at", "resumes where", "can proceed", "the rest can"),
    ),
}

NO_NEWS: Words = {"plain": alone("right now", "for now", "just now")}
"""Words of time that tell of no change, for the table of claims."""
