"""English: completion, certainty, errors, idleness and limits.

Words of blockers and of claims have modules of their own.
"""

from ralph.analysis.lexicon.base import Keyword, Lexicon, Words, forms, merged, phrases
from ralph.analysis.lexicon.english_blockers import BLOCKERS
from ralph.analysis.lexicon.english_claims import CLAIMS

__all__ = ["LEXICON"]

_TESTS = "tests | the tests | unit tests | specs | test cases"
_PASSING = "pass | passed | passing | green | are (passing|now passing|green) | now pass | have passed | succeed"
_REMAINING = "remaining | outstanding | open"

KEYWORDS = (
    Keyword(text="done", group="done"),
    Keyword(text="complete", forms=forms("completed | feature-complete | feature complete"), group="done"),
    Keyword(text="finished", group="done"),
    Keyword(
        text="all tests passing",
        weight="very_high",
        forms=forms(f"all # ({_TESTS}) ({_PASSING}) | tests all pass"),
        points=0,
    ),
    Keyword(
        text="no remaining issues",
        weight="very_high",
        forms=forms(f"no ({_REMAINING}) (issues|problems|errors) | no issues (remain|remaining)"),
        points=0,
    ),
    Keyword(
        text="ready for review",
        forms=forms("ready (for code review|for your review|to merge|to be merged|for merge|to ship|to be shipped)"),
        group="ready",
    ),
    Keyword(
        text="no more work",
        forms=forms("""
            no (further work|remaining work|work remains|remaining tasks|open tasks)
            nothing (left to do|more to do|else to do|remains to be done)
        """),
        group="no_more_work",
        points=15,
    ),
)


_COMPLETION: Words = {
    "success": phrases("success"),
    "negation": phrases("""
        no | not | 0 | zero | never | none | nothing | neither | nor | without | cannot | isn't | aren't | wasn't
        weren't | hasn't | haven't | hadn't | don't | doesn't | didn't | can't | couldn't | won't | wouldn't
        shouldn't | not yet | yet to | no longer | far from | instead of | rather than | not fully | not completely
    """),
    "absence": phrases("no | 0 | zero | without | free of | no longer | never | any more"),
    "contrast": phrases("but | however | except | although | though | unfortunately"),
    "qualifier": phrases("""
        still | remain | remains | remaining | failing | fails | todo | todos | partial | partially | partly | almost
        nearly | mostly | not yet | yet to | pending | in progress | unfinished | incomplete | wip | broken
        left to do | to go | blocked | outstanding | halfway | so far | for the time being | for the moment
        apart from | other than | needs work | half (done|finished|complete) | half-done
    """),
    "future": phrases("""
        will | would | shall | should | must | going to | to (be|get|complete|finish)
        (need|needs|have|has|plan|want|trying|try|aim) to | once | when | if | until | till | unless | before | after
        whether | as soon as | hopefully | presumably | supposed to | i'll | we'll | it'll | let me | let's
        (can|could|may|might) be | mark as | (failed|fails|unable|failing|not able) to | couldn't get | consider
        considered | definition of | criteria for | reply | respond with | say
    """),
    "more": phrases("""
        next (task|step|steps|phase|story|up|iteration) | moving on to | move on to | next i | next we
        remaining (tasks|work) | still to do
    """),
    "plain": phrases("""
        not only | but also | nothing but | all remaining | previously failing
        still (pass|passes|valid|supported|accepted|available) | remaining tests
        still (passing|work|works|green|succeed) | no problem | done (by|via|through|on|per) | well done
        complete (list|the|this|all|these|it) | a complete | the complete | how it is done | successfully
        complete guide | task complete when | if any | (what was|what's|what i've|what i have|what has been) done
        (what was|work) completed | completed work | definition of done
    """),
    "progress": {
        "progress": forms("progress"),
        "complete": forms("complete | completed | completion"),
        "done": forms("done"),
        "finished": forms("finished"),
        "of it": forms("of (it|the work|the task|the tasks|the feature|the project)"),
        "through": forms("implemented | way through"),
    },
    "unrelated": phrases("""
        coverage | covered | cpu | memory | ram | disk | gpu | faster | slower | smaller | larger | quicker | speedup
        confidence | confident | sure | certain | accuracy | accurate | precision | recall | threshold | discount
        battery | opacity | width | height | zoom | utilization | utilisation | latency | usage | reduction
        improvement | increase | decrease | error rate | hit rate | sampling | probability | tax | fee
    """),
    "work": phrases("""
        added | adds | created | implemented | modified | updated | changed | wrote | written | fixed | refactored
        removed | renamed | moved | replaced | resolved | introduced | extended | committed | rewrote | deleted
        installed | configured | migrated | merged | built | converted | extracted
    """),
}


_CERTAINTY: Words = {
    "certain": phrases("confident | sure | certainly | absolutely"),
    "likely": phrases("likely | probably"),
    "unsure": phrases("""
        unsure | uncertain | unclear | not certain | not clear | don't know | do not know | no idea | not confident
        not sure | unconfident | doesn't know | can't tell | cannot tell | unlikely
        (not entirely|not completely|not quite|can't be|cannot be) certain | dont know | no confidence | hard to say
    """),
    "hedge": {
        "might": forms("might | might be"),
        "could": forms("could | could be"),
        **phrases("maybe | approximately | roughly | basically | i think | perhaps"),
        "doubt": forms("doubt | doubts | doubtful"),
    },
    "certainty": {
        **phrases("definitely | certainly | absolutely | undoubtedly | assured | guaranteed"),
        "without doubt": forms("(without|without a|without any|no|beyond) doubt"),
    },
    "plain": phrases("""
        (make|makes|making|made) sure | be sure to | to be sure | could not | most likely to
        (make|made|making) certain | make absolutely sure | make doubly sure
    """),
    "lost": phrases("""
        (not sure|don't know|do not know|no idea) what to do | (not sure|don't know) how to proceed
        unsure what to do | unsure how to proceed | (not sure|don't know) where to start | not sure how to continue
    """),
}

_RAISED = """
    assertion | attribute | connection | import | index | key | modulenotfound | name | os | permission | range
    reference | runtime | syntax | timeout | type | unicodedecode | value | zerodivision | filenotfound | indentation
    recursion | notimplemented | lookup | overflow | memory
"""
"""What a program calls the errors that it ends with: "ValueError: …"."""
_NONE_OF = phrases("none of | neither of | not a single")

_FAULTS: Words = {
    "absence": _NONE_OF,
    "negation": _NONE_OF,
    "fault": {
        "error": forms(f"error | errors | errored | erroring | ({_RAISED})error:"),
        "failed": forms("""
            failed | failed to | fail | fails | fails to | failing | failing to | failure | failures | crash | crashed
            crashes | exit code | exit status | exited (with code|with status|with)
        """),
        "exception": forms("exception | exceptions | traceback | stack trace"),
        "issue": forms("issue | issues"),
        "problem": forms("problem | problems"),
        "bug": forms("bug | bugs | buggy"),
        "mistake": forms("mistake | mistakes | mistaken"),
    },
    "fatal": phrases(
        """
        segmentation fault | segfault | core dumped | out of memory | kernel panic | panic: | panicked at
        fatal error | unrecoverable | oomkilled | oom killed | oom-killed | killed by (oom|the oom killer)
        out-of-memory | outofmemoryerror
    """,
        "traceback (most recent call last)",
    ),
    "mended": phrases("""
        fixed | fixes | resolved | resolves | solved | addressed | corrected | eliminated | repaired | caught
        prevent | prevented | preventing | prevents | avoid | avoided | avoiding | avoids | handled | handles
        cleared | gone | previously | closed | closes | squashed | mended
    """),
    "nothing": phrases("none | nothing | n/a | no | nil"),
    "plain": phrases("""
        error (handling|handler|handlers|message|messages|page|checking|boundary|boundaries|type|types|class|state
        states|case|cases|path|paths|code|codes|response|responses)
        exception (handling|handler|class) | issue tracker | issue template | bug tracker | bug report | failure mode
        error free | bug free | (with the|the) exception of | exception to the rule | failure modes | failed to do so
        problem statement | issue number | failed login | failed logins
    """),
}

_BEFORE = "(in|during|by) (a|the|an) (previous|prior|earlier) (run|session|iteration|loop|pass|turn)"
_UNCHANGED = """
    no (changes|further changes|additional changes|new changes|code changes|action|further action) (|are|is|were
    was) (needed|required|necessary)
"""
_BEHIND = "(running|continues|continues to run|continuing|still|working|going|proceeding) in the background"

_IDLENESS: Words = {
    "idle": {
        "already": forms("already | (is|are|was|were) already | (has|have|had) already been"),
        "nothing to do": forms("""
            nothing (to do|further to do|remaining to do) | there is nothing left
            nothing (left for me to do|has changed|changed since) | no changes (were made|made) | no new work
            nothing (new|else was done|was done) | no work to do | no work was needed | made no changes
        """),
        "no changes needed": forms(_UNCHANGED),
        "in an earlier run": forms(f"{_BEFORE} | (in previous|in earlier) iterations"),
        "asks to be stopped": forms("""
            (stop the|stop this|end the) loop | stop invoking me | stop calling me
            the loop (should stop|can stop|can be stopped) | please stop | exit the loop
        """),
    },
    "change": phrases("""
        change | changes | changed | changing | modify | modified | modifying | modification | modifications | edit
        edits | edited | editing | touch | touched | updates | commits | action | actions | progress | news
    """),
    "watching": phrases(f"""
        still (running|in progress|ongoing|going|compiling|building|training|processing|executing|downloading
        installing)
        {_BEHIND} | keeps running | continues to run | not finished yet | has not finished | hasn't finished
        (no result|no results|no output) yet | check again later | check back | (waiting|wait) for it to finish
        waiting for it to complete | nothing new yet
    """),
}

_SPAN = """
    usage | session | weekly | monthly | daily | 5-hour | five-hour | hourly | spending | spend | premium request
    opus weekly
"""
_LIMIT = "limit | (usage|rate|request|premium request|token) limit | quota"
_USED_UP = "reached | exceeded | hit | has been reached | was reached | exhausted"

_LIMITS: Words = {
    "limit": {
        "usage limit": forms(f"""
            ({_SPAN}) limit ({_USED_UP}) | your limit (will reset|resets)
            limit (will reset at|reached ∙ resets|reached · resets) | quota will reset after
            exceeded your current quota | your allowance resets
            (monthly spend|monthly spending|your spend|your spending) cap
            used (all of your|up all of your|all your|up your) | no requests left
        """),
        "credit": forms("""
            credit balance (is too low|too low) | insufficient (credits|credit|balance) | out of credits
            payment required | no quota | not have enough (credits|credit) | not enough credits | have no credits
            no credits left
        """),
        "rate limit": forms(
            """
            api error: 429 | (api error|error:|error|http|status|status:|status code|status code:) 429
            429 too many requests | rate limit reached for
        """,
            "api error (429",
        ),
        "overloaded": forms(
            """
            api error: 529 | (api error|error:|http|status) 529 | repeated 529 overloaded errors | 529 overloaded
            overloaded error | (currently|server is|model is|service is) overloaded
        """,
            "api error (529",
        ),
        "login": forms(
            """
            please run /login | run (/login|claude login|codex login|copilot login) | please log in again
            please sign in again | oauth token (has expired|expired|revoked|has been revoked)
            no authentication information found | your session has expired | api error: 401
            (api error|error:|status|http) 401
        """,
            "api error (401",
        ),
    },
    "limiting": {
        "rate limit": forms("""
            rate limit | a rate limit | rate limits | rate-limit | rate (limit exceeded|limit reached|limited)
            rate-limited | rate limit hit | too many requests | request limit exceeded | throttled | request throttled
            (tokens|requests) per minute limit | request limit reached | exceeded api limit | at capacity
            limit reached | limit exceeded
        """),
        "usage limit": forms(f"""
            your ({_LIMIT}) | your ({_SPAN}|current|opus|free) ({_LIMIT})
            your (usage cap|usage allowance|premium request allowance|copilot token usage) | extra usage
            free credits | usage credits | premium requests | out of credits | usage limit | quota exceeded
            quota reached | exceeded quota | quota has been exceeded
        """),
        "overloaded": forms("overloaded | service unavailable due to load | server busy | server is busy"),
        "login": forms("""
            invalid api key | incorrect api key provided | not logged in | not authenticated | unauthorized
            authentication (failed|required) | login required | you are not logged in
        """),
    },
}


LEXICON = Lexicon(
    language="en",
    keywords=KEYWORDS,
    words=merged(_COMPLETION, _CERTAINTY, _FAULTS, _IDLENESS, _LIMITS, BLOCKERS),
    claims=CLAIMS,
)
