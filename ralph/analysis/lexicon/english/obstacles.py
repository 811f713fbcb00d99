"""English words of what keeps the agent from going on: that it cannot, and permissions and hands that it lacks."""

from itertools import product

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["OBSTACLES"]

_UNABLE = (
    *("i cannot", "i can't", "i can not", "i still cannot", "i still can't", "i am unable to", "i'm unable to"),
    *("i am still unable to", "i'm still unable to", "i have been unable to", "i've been unable to", "i couldn't"),
    *("i am not able to", "i'm not able to", "i could not", "i was unable to", "i was not able to", "we cannot"),
    *("i won't be able to", "i will not be able to", "until then i cannot", "until then i can't", "we can't"),
    "we are unable to",
    *(f"{which} {run} cannot" for which, run in product(("this", "the"), ("session", "loop", "run", "iteration"))),
)
_GO_ON = (
    *("proceed", "continue", "go on", "go any further", "get any further", "move forward", "make progress"),
    *("make any progress", "make further progress", "make any further progress", "make any changes", "make any change"),
    *("complete this task", "complete the task", "finish this task", "finish the task", "do this without"),
    *("work without", "change anything", "do anything", "write anything", "edit anything", "complete anything"),
    *("apply any of", "make any of"),
)
_IS = (
    *("i am", "i'm", "i am still", "i'm still", "i am currently", "i'm currently", "i am now", "i'm now", "i remain"),
    *("i am completely", "i'm completely", "i am fully", "i'm fully"),
    *(f"{i_have} {again}been" for i_have, again in product(("i have", "i've"), ("", "now ", "again ", "still "))),
    *("we are", "we're", "this session is", "session is", "session remains", "session", "this task is", "the task is"),
    *("this story is", "all work is", "work is", "progress is", "further progress is", "status:", "state:"),
)
_IDLE = ("no work was", "nothing was", "no progress was", "no progress is", "no further progress is")
_MORE = ("", "useful ", "more ", "else ", "further ", "more that ", "else that ", "further that ", "that ")
_HELD = alone(
    *(f"{subject} blocked" for subject in _IS),
    *(
        f"{i} stuck {until}"
        for i, until in product(("i'm", "i am", "we're", "we are"), ("until", "here", "without", "on"))
    ),
    *(f"{nothing} possible" for nothing in _IDLE),
    *(f"nothing {more}i can do" for more in _MORE),
    *("blocked again", "nothing could be done", "no work could be done", "no other work i can do", "only you can"),
)
_HINDERED = alone("still blocked", "blocked on", "blocked until", "blocked pending", "blocked waiting", "loops blocked")
_WAITING = ("waiting for", "waiting on", "awaiting")
_GIVEN = ("approval", "the approval", "permission", "the permission", "credentials", "the credentials", "sign-off")
_STILL_WAITING = tuple(
    f"{i}still {waiting} {leave}" for i, waiting, leave in product(("", "i'm ", "i am "), _WAITING, _GIVEN)
)
_BY_HAND = tuple(
    f"{verb} {what} {how}"
    for verb, what, how in product(
        ("run", "execute", "apply"),
        ("it", "this", "these", "them", "the command", "these commands", "the following commands", "the changes"),
        ("manually", "by hand"),
    )
)
_OF_A_PERSON = (
    *_BY_HAND,
    *("waiting for you", "waiting on you", "need you to", "needs you to", "by you", "please approve", "you approve"),
    *("must be approved", "needs to be approved", "need to be approved", "please grant", "please execute"),
    *("please run the following", "please log in", "please authenticate", "run me with", "start me with"),
    *("re-run me", "rerun me", "restart me", "start the loop again", "to unblock", "unblock me", "step in"),
    *("need from you", "following from you", "i need the following", "i need someone", "i need somebody"),
    *("needs someone", "an administrator has to", "an admin has to", "an administrator must", "an admin must"),
    *("administrator needs to", "admin needs to", "please allow", "until a new", "until the owner"),
    *("without somebody", "without someone", "i'm waiting for the credentials", "waiting for credentials"),
    *("somebody needs to", "someone needs to", "please renew", "with admin rights", "somebody has to"),
    *("someone has to", "somebody must", "someone must", "someone with", "somebody with", "please re-upload"),
    *("please upload", "please attach", "please add the missing", "until somebody", "until someone", "approval by"),
    *("human intervention", "manual intervention", "human action required", "user action required"),
    *("needs a human", "requires a human", "i need a human", "i need a person", "a human to", "a human must"),
    *("a person to", "yourself", "manually run", "run manually", "manually apply", "apply manually"),
)

OBSTACLES: Words = {
    "blocked": {**_HELD, **alone(*(f"{unable} {go_on}" for unable, go_on in product(_UNABLE, _GO_ON)))},
    "halted": alone(
        *("blocked", "stopped", "halted"),
        *_STILL_WAITING,
    ),
    "obstacle": {
        **_HINDERED,
        **alone(
            *_OF_A_PERSON,
            *_STILL_WAITING,
            *("cannot proceed", "can't proceed", "cannot continue", "can't continue", "unable to proceed"),
            *("unable to continue", "was denied", "were denied", "was refused", "call was rejected", "rejected again"),
            *("denied again", "getting rejected", "getting denied", "being rejected", "is read-only"),
            *("read-only file system", "is on hold", "are refused", "is refused", "mounted read-only"),
            *("does not let me", "doesn't let me", "won't let me", "was declined", "were declined", "has been revoked"),
            *("was revoked", "isn't reachable", "is not reachable", "not allowed to do", "i am not allowed"),
            *("i'm not allowed", "nothing i write", "out of options", "stop here until", "stopping here"),
            *("which i don't have", "have to stop there", "have to stop here", "had to stop there"),
            *("worked around from", "i can resume"),
        ),
    },
    "hand": alone(*_OF_A_PERSON),
    "qualifier": {**_HELD, **_HINDERED, **alone("blocked")},
    "leave": alone(
        *("permission", "permissions", "approval", "approvals", "your authorization", "write access", "edit access"),
        *("read access", "push access", "have access", "access to", "credentials", "sign-off", "your go-ahead"),
        *("your consent", "confirmed by a user", "confirmation", "network access", "internet access"),
    ),
    "lack": alone(
        *("need", "needs", "needed", "require", "requires", "required", "requiring", "waiting for", "wait for"),
        *("waiting on", "waiting for your", "awaiting", "awaiting your", "pending", "lack", "lacks", "lacking"),
        *(
            *("expired", "unreachable", "no network", "sandbox blocks", "missing", "grant", "grant me", "granting"),
            *("give me", "please give", "provide", "please provide"),
        ),
        *("not granted", "not been granted", "hasn't been granted", "haven't been granted", "not yet granted"),
        *("denied", "refused", "rejected", "asking for", "blocked by", "restricted", "insufficient", "get your"),
        *("to get", "request", "requested", "requesting"),
    ),
    "unable": alone(
        *("cannot", "can't", "couldn't", "could not", "unable to", "not able to", "won't be able to", "not possible"),
        *("impossible", "isn't possible", "refuses", "refuse", "couldn't get", "could not get", "i don't have"),
        *("i do not have",),
        *("there is no way", "there's no way", "no way to"),
    ),
    "demand": alone(
        *("please", "you'll have to", "you will have to", "you have to", "you need to", "you'll need to", "you must"),
        *("you will need to", "i need you", "need you to", "someone", "somebody", "a human", "a person", "from you"),
        *("on your side", "on your end", "by hand", "tell me when", "let me know when", "let me know once"),
        *("i need the", "i need a", "i need an", "only an owner", "only the owner", "only an admin", "until a new"),
        *("only an administrator", "by an owner", "by an admin", "by an administrator", "who has access"),
    ),
    "condition": alone(
        "if",
        "if you",
        "if any",
        "when",
        "when you",
        "whenever",
        "unless",
        "whether",
        "once",
        "where",
        "in case",
        "would",
    ),
    "plain": alone(
        *(f"{who} without" for who in ("user", "users", "request", "requests", "account", "accounts", "clients")),
        *("please note", "please see", "please be aware", "please have a look", "please keep in mind"),
        *(f"while {who}" for who in ("somebody", "someone", "a person", "a human", "an admin", "another")),
        *("somebody's", "someone's", "somebody else", "someone else", "those without", "anyone without"),
        *("everyone without", "calls without", "members without"),
    ),
}
