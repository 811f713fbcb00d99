"""English words of talk with a person: questions, pleas, offers, what keeps the agent from going on, and work."""

from itertools import product

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["TALK"]

_UNABLE = (
    *("i cannot", "i can't", "i can not", "i still cannot", "i still can't", "i am unable to", "i'm unable to"),
    *("i am still unable to", "i'm still unable to", "i have been unable to", "i've been unable to"),
    *("i am not able to", "i'm not able to", "we cannot", "we can't", "we are unable to", "this session cannot"),
    *("this loop cannot", "the session cannot", "i could not", "i couldn't", "i was unable to", "i was not able to"),
    *("i won't be able to", "i will not be able to", "until then i cannot", "until then i can't"),
)
_GO_ON = (
    *("proceed", "continue", "go on", "go any further", "move forward", "make progress", "make any progress"),
    *("make further progress", "make any further progress", "complete this task", "complete the task", "complete this"),
    *("finish this task", "finish the task", "do this without", "work without", "change anything", "do anything"),
    *("write anything", "edit anything", "complete anything", "make any changes", "make any change"),
    *("apply any of", "make any of", "get any further"),
)
_IS = (
    *("i am", "i'm", "we are", "we're", "i remain", "i am still", "i'm still", "i am currently", "i'm currently"),
    *(
        "i am completely",
        "i'm completely",
        "i am fully",
        "i'm fully",
        "i am now",
        "i'm now",
        "i have been",
        "i've been",
    ),
    *("i have now been", "this session is", "session is", "session remains", "this task is", "the task is"),
    *("this story is", "all work is", "work is", "progress is", "further progress is", "session", "status:", "state:"),
)
_HELD = alone(
    *(f"{subject} blocked" for subject in _IS),
    "blocked again",
    *(f"nothing {more} i can do" for more in ("more", "else", "more that", "else that", "that")),
    *("nothing i can do", "no other work i can do", "no work that i can do", "only you can"),
)
_HINDERED = alone(
    *("still blocked", "blocked on", "blocked until", "blocked pending", "blocked waiting", "loops blocked"),
)
_PLEADING = (
    *("please tell me", "please confirm", "please advise", "please clarify", "please choose", "please decide"),
    *("please specify", "please provide", "please share", "please select", "tell me which", "tell me what"),
    *("tell me how", "let me know which", "let me know what", "let me know how", "let me know whether"),
    *("awaiting your", "waiting for your answer", "waiting for your decision", "waiting for your input"),
    *("waiting for your instructions", "waiting for your reply", "waiting for your response"),
)
_ABOUT_TO = ("i'll", "i will", "let me", "let's", "i'm going to", "i am going to")

TALK: Words = {
    "blocked": {**_HELD, **alone(*(f"{unable} {go_on}" for unable, go_on in product(_UNABLE, _GO_ON)))},
    "halted": alone("blocked", "stopped", "halted"),
    "obstacle": {
        **_HINDERED,
        **alone(
            *("cannot proceed", "can't proceed", "cannot continue", "can't continue", "unable to proceed"),
            *("unable to continue", "is read-only", "read-only file system", "re-run me", "rerun me", "restart me"),
            *("run me with", "start the loop again", "unblock me", "call was rejected", "was denied", "were denied"),
            *("getting rejected", "getting denied", "being rejected", "rejected again", "denied again", "was refused"),
            *("step in", "need from you", "following from you", "i need the following"),
            *("yourself", "by you", "i need a person", "i need a human", "a person to", "a human to", "a human must"),
            *("waiting for you", "waiting on you", "need you to", "needs you to", "please approve", "you approve"),
            *("needs to be approved", "need to be approved", "must be approved", "to unblock", "please grant"),
            *("human intervention", "manual intervention", "human action required", "user action required"),
            *("needs a human", "requires a human", "manually run", "run manually", "manually apply", "apply manually"),
            *("run it yourself", "run this yourself", "run these yourself", "run them yourself", "run it manually"),
            *("run this manually", "run these manually", "run these commands manually", "run this command manually"),
            *("run the following command manually", "run the following commands manually", "execute manually"),
            *("please run the following", "please execute", "please log in", "please authenticate"),
        ),
    },
    "qualifier": {**_HELD, **_HINDERED, **alone("blocked")},
    "leave": alone(
        *("permission", "permissions", "approval", "approvals", "your authorization", "write access"),
        *("edit access", "read access", "push access", "credentials", "sign-off", "your go-ahead", "your consent"),
        *(
            "token",
            "tokens",
            "api key",
            "api keys",
            "secret",
            "secrets",
            "access to your",
            "login",
            "access to",
            "have access",
            "access to",
        ),
    ),
    "lack": alone(
        *("need", "needs", "needed", "require", "requires", "required", "requiring", "waiting for", "wait for"),
        *("waiting on", "awaiting", "pending", "lack", "lacks", "lacking", "missing", "grant", "grant me", "granting"),
        *("not granted", "not been granted", "hasn't been granted", "haven't been granted", "not yet granted"),
        *("denied", "refused", "rejected", "give me", "asking for", "blocked by", "restricted", "insufficient"),
        *("get your", "to get", "request", "requested", "requesting", "provide", "waiting for your", "awaiting your"),
        *("please provide", "please give", "isn't set", "is not set", "aren't set", "are not set", "please add"),
    ),
    "unable": alone(
        *("cannot", "can't", "couldn't", "could not", "unable to", "not able to", "won't be able to", "not possible"),
        *("impossible", "isn't possible"),
    ),
    "demand": alone(
        *("please", "you'll have to", "you will have to", "you have to", "you need to", "you'll need to", "you must"),
        *("you will need to", "i need you", "need you to", "someone", "somebody", "a human", "a person", "from you"),
        *("on your side", "on your end", "by hand", "tell me when", "let me know when", "let me know once"),
    ),
    "condition": alone("if", "when", "whenever", "unless", "whether", "once", "where", "in case", "would"),
    "person": alone(
        *("you", "your", "shall i", "should i", "should we", "shall we", "do i", "may i", "can i", "could i"),
        *("ok to", "okay to", "do we", "can we"),
    ),
    "interrogative": alone("which", "what", "how", "where", "who", "when"),
    "plea": alone(
        *_PLEADING,
        *("let me know", "your call", "up to you", "please reply", "please respond", "waiting for your"),
    ),
    "pleading": alone(*_PLEADING),
    "offer": alone(
        *("anything else", "would you like me to", "do you want me to", "want me to", "shall i also"),
        *("should i also", "any questions", "is there anything", "would you like to"),
    ),
    "future": alone(*_ABOUT_TO),
    "ongoing": alone(
        *(
            "i'll",
            "i will",
            "let me",
            "let's",
            "i'm going to",
            "i am going to",
            "i'm now",
            "i am now",
            "now i",
            "first i",
        ),
        *("i'm working on", "i am working on", "working on", "i see the", "i found", "i've found", "i've got", "i got"),
        *("looks like", "is running", "are running", "still running", "running", "in the background"),
        *("in progress", "underway", "continues", "continuing", "monitoring", "waiting for the", "applying"),
        *("searching", "checking", "next:", "tests", "the build", "compiles", "succeeded", "is fulfilled"),
    ),
    "plain": alone(
        *("let me know", "let me see", "let me think"),
        *(
            f"{who} without"
            for who in ("user", "users", "request", "requests", "account", "accounts", "members", "those")
        ),
        *("anyone without", "everyone without", "clients without", "calls without"),
    ),
}
