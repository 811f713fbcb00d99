"""English: completion, certainty, errors, idleness, limits, talk with the user, and what bars the agent's way.

The words of claims have a module of their own.
"""

from ralph.analysis.lexicon import Lexicon, keywords, words
from ralph.analysis.lexicon.english_claims import CLAIMS

_TESTS = "tests | the tests | unit tests | specs | test cases"
_PASSING = "pass | passed | passing | green | are (passing|now passing|green) | now pass | have passed | succeed"
_REMAINING = "remaining | outstanding | open"

_KEYWORDS = f"""
done/done:
done/complete: completed | feature-complete | feature complete
done/finished:
enough/all tests passing: all # ({_TESTS}) ({_PASSING}) | tests all pass
enough/no remaining issues: no ({_REMAINING}) (issues|problems|errors) | no issues (remain|remaining)
ready/ready for review: ready (for code review|for your review|to merge|to be merged|for merge|to ship|to be shipped)
no_more_work/no more work: no (further work|remaining work|work remains|remaining tasks|open tasks)
    nothing (left to do|more to do|else to do|remains to be done)
"""


_COMPLETION = """
success: success
negation: no | not | 0 | zero | never | none | nothing | neither | nor | without | cannot | isn't | aren't | wasn't
    weren't | hasn't | haven't | hadn't | don't | doesn't | didn't | can't | couldn't | won't | wouldn't | shouldn't
    not yet | yet to | no longer | far from | instead of | rather than | not fully | not completely
absence: no | 0 | zero | without | free of | no longer | never | any more
contrast: but | however | except | although | though | unfortunately | (minus|bar|save for|aside from) (the|one|two)
qualifier: still | remain | remains | remaining | failing | fails | todo | todos | partial | partially | partly | almost
    nearly | mostly | not yet | yet to | pending | in progress | unfinished | incomplete | wip | broken | left to do
    to go | blocked | outstanding | halfway | so far | for the time being | for the moment | apart from | other than
    needs work | half (done|finished|complete) | half-done
future: will | would | shall | should | must | going to | to (be|get|complete|finish) | (need|needs|have|has|plan|want
    trying|try|aim) to | once | when | if | until | till | unless | before | after | whether | as soon as | hopefully
    presumably | supposed to | i'll | we'll | it'll | let me | let's | (can|could|may|might) be | mark as
    (failed|fails|unable|failing|not able) to | couldn't get | consider | considered | definition of | criteria for
    reply | respond with | say
more: next (task|step|steps|phase|story|up|iteration) | moving on to | move on to | next i | next we
    remaining (tasks|work) | still to do
plain: not only | but also | nothing but | all remaining | previously failing | still (pass|passes|valid|supported
    accepted|available) | remaining tests | still (passing|work|works|green|succeed) | no problem
    done (by|via|through|on|per) | well done | complete (list|the|this|all|these|it) | a complete | the complete
    how it is done | successfully | complete guide | task complete when | if any | (what was|what's|what i've
    what i have|what has been) done | (what was|work) completed | completed work | definition of done
    while done
progress/progress: progress
progress/complete: complete | completed | completion
progress/done: done
progress/finished: finished
progress/of it: of (it|the way|the work|the task|the tasks|the feature|the project)
progress/through: implemented | way through
unrelated: coverage | covered | cpu | memory | ram | disk | gpu | faster | slower | smaller | larger | quicker | speedup
    confidence | confident | sure | certain | accuracy | accurate | precision | recall | threshold | discount | battery
    opacity | width | height | zoom | utilization | utilisation | latency | usage | reduction | improvement | increase
    decrease | error rate | hit rate | sampling | probability | tax | fee
    fps | users | requests | quality | quota | sla
work: added | adds | created | implemented | modified | updated | changed | wrote | written | fixed | refactored
    removed | renamed | moved | replaced | resolved | introduced | extended | committed | rewrote | deleted | installed
    configured | migrated | merged | built | converted | extracted
"""


_CERTAINTY = """
certain: confident | sure | certainly | absolutely
likely: likely | probably
unsure: unsure | uncertain | unclear | not certain | not clear | don't know | do not know | no idea | not confident
    not sure | unconfident | doesn't know | can't tell | cannot tell | unlikely | (not entirely|not completely|not quite
    can't be|cannot be) certain | dont know | no confidence | hard to say
hedge/might: might | might be
hedge/could: could | could be
hedge: maybe | approximately | roughly | basically | i think | perhaps
hedge/doubt: doubt | doubts | doubtful
certainty: definitely | certainly | absolutely | undoubtedly | assured | guaranteed
certainty/without doubt: (without|without a|without any|no|beyond) doubt
plain: (make|makes|making|made) sure | be sure to | to be sure | could not | most likely to | (make|made|making) certain
    make absolutely sure | make doubly sure
lost: (not sure|don't know|do not know|no idea) what to do | (not sure|don't know) how to proceed | unsure what to do
    unsure how to proceed | (not sure|don't know) where to start | not sure how to continue
"""

_RAISED = """
    assertion | attribute | connection | import | index | key | modulenotfound | name | os | permission | range
    reference | runtime | syntax | timeout | type | unicodedecode | value | zerodivision | filenotfound | indentation
    recursion | notimplemented | lookup | overflow | memory
"""
"""The names of errors that a program ends with: "ValueError: …"."""
_NONE_OF = "none of | neither of | not a single"

_FAULTS = f"""
absence: {_NONE_OF}
negation: {_NONE_OF}
fault/error: error | errors | errored | erroring | ({_RAISED})error:
fault/failed: failed | failed to | fail | fails | fails to | failing | failing to | failure | failures | crash | crashed
    crashes | exit code | exit status | exited (with code|with status|with)
fault/exception: exception | exceptions | traceback | stack trace
fault/issue: issue | issues
fault/problem: problem | problems
fault/bug: bug | bugs | buggy
fault/mistake: mistake | mistakes | mistaken
fatal: segmentation fault | segfault | core dumped | out of memory | kernel panic | panic: | panicked at | fatal error
    unrecoverable | oomkilled | oom killed | oom-killed | killed by (oom|the oom killer) | out-of-memory
    outofmemoryerror | "traceback (most recent call last)"
mended: fixed | fixes | resolved | resolves | solved | addressed | corrected | eliminated | repaired | caught | prevent
    prevented | preventing | prevents | avoid | avoided | avoiding | avoids | handled | handles | cleared | gone
    previously | closed | closes | squashed | mended
nothing: none | nothing | n/a | no | nil
plain: error (handling|handler|handlers|message|messages|page|checking|boundary|boundaries|type|types|class|state|states
    case|cases|path|paths|code|codes|response|responses) | exception (handling|handler|class) | issue tracker
    issue template | bug tracker | bug report | failure mode | error free | bug free | (with the|the) exception of
    exception to the rule | failure modes | failed to do so | problem statement | issue number | failed login
    failed logins
"""

_BEFORE = "(in|during|by) (a|the|an) (previous|prior|earlier) (run|session|iteration|loop|pass|turn)"
_UNCHANGED = """
    no (changes|further changes|additional changes|new changes|code changes|action|further action) (|are|is|were
    was) (needed|required|necessary)
"""
_BEHIND = "(running|continues|continues to run|continuing|still|working|going|proceeding) in the background"

_IDLENESS = f"""
idle/already: already | (is|are|was|were) already | (has|have|had) already been
idle/nothing to do: nothing (to do|further to do|remaining to do) | there is nothing left
    nothing (left for me to do|has changed|changed since) | no changes (were made|made) | no new work
    nothing (new|else was done|was done) | no work to do | no work was needed | made no changes
idle/no changes needed: {_UNCHANGED}
idle/in an earlier run: {_BEFORE} | (in previous|in earlier) iterations
idle/no-op: (no-op|noop) (session|sessions|iteration|iterations|run|turn) | (consecutive|another) (no-op|noop)
    (session|iteration|run|turn) # (is|was) a (no-op|noop) | this (is|was) a (no-op|noop) | ": a no-op"
    (session:|iteration:|summary:) (no-op|noop)
standby: (waiting for|awaiting|wait for) your (command|commands|instruction|instructions|next instruction|next task
    next instructions|orders|word|go-ahead) | ready when you are | whenever you (want|are ready|like|say) | standing by
    ready for (the next|next|your next) (task|phase|step|story|instruction|instructions) | ready for (phase|step) #
    ready to (run|start|begin|go) whenever | at your command | what would you like me to do next
idle/asks to be stopped: (stop the|stop this|end the) loop | stop invoking me | stop calling me
    (loop|ralph) (should|can|must|needs to) (stop|end|terminate|be stopped|be killed) | please stop | exit the loop
    (stop|kill) ralph | stop spawning
change: change | changes | changed | changing | modify | modified | modifying | modification | modifications | edit
    edits | edited | editing | touch | touched | updates | commits | action | actions | progress | news
watching: still (running|in progress|ongoing|going|compiling|building|training|processing|executing|downloading
    installing) | {_BEHIND} | keeps running | continues to run | not finished yet | has not finished | hasn't finished
    (no result|no results|no output) yet | check again later | check back | (waiting|wait) for it to finish
    waiting for it to complete | nothing new yet
"""

_SPAN = """
    usage | session | weekly | monthly | daily | 5-hour | five-hour | hourly | spending | spend | premium request
    opus weekly
"""
_LIMIT = "limit | (usage|rate|request|premium request|token) limit | quota"
_USED_UP = "reached | exceeded | hit | has been reached | was reached | exhausted"

_LIMITS = f"""
limit/usage limit: ({_SPAN}) limit ({_USED_UP}) | your limit (will reset|resets) | limit (will reset at|reached ∙ resets
    reached · resets) | quota will reset after | exceeded your current quota | your allowance resets
    (monthly spend|monthly spending|your spend|your spending) cap | used (all of your|up all of your|all your|up your)
    no requests left
limit/credit: credit balance (is too low|too low) | insufficient (credits|credit|balance) | out of credits
    payment required | no quota | not have enough (credits|credit) | not enough credits | have no credits
    no credits left
limit/rate limit: api error: 429 | (api error|error:|error|http|status|status:|status code|status code:) 429
    429 too many requests | rate limit reached for | "api error (429"
limit/overloaded: api error: 529 | (api error|error:|http|status) 529 | repeated 529 overloaded errors | 529 overloaded
    overloaded error | (currently|server is|model is|service is) overloaded | "api error (529"
limit/login: please run /login | run (/login|claude login|codex login|copilot login) | please log in again
    please sign in again | oauth token (has expired|expired|revoked|has been revoked)
    no authentication information found | your session has expired | api error: 401 | (api error|error:|status|http) 401
    "api error (401"
limiting/rate limit: rate limit | a rate limit | rate limits | rate-limit | rate (limit exceeded|limit reached|limited)
    rate-limited | rate limit hit | too many requests | request limit exceeded | throttled | request throttled
    (tokens|requests) per minute limit | request limit reached | exceeded api limit | at capacity | limit reached
    limit exceeded
limiting/usage limit: your ({_LIMIT}) | your ({_SPAN}|current|opus|free) ({_LIMIT}) | your (usage cap|usage allowance
    premium request allowance|copilot token usage) | extra usage | free credits | usage credits | premium requests
    out of credits | usage limit | quota exceeded | quota reached | exceeded quota | quota has been exceeded
limiting/overloaded: overloaded | service unavailable due to load | server busy | server is busy
limiting/login: invalid api key | incorrect api key provided | not logged in | not authenticated | unauthorized
    authentication (failed|required) | login required | you are not logged in
"""

_PLEADING = """
    please (tell me|confirm|advise|clarify|choose|decide|specify|provide|share|select) | tell me which | tell me what
    (could|can) you tell me | (could|can) you confirm | (could|can) you clarify | need you to decide | i need a decision
    need your decision | tell me (whether|when i may|who|where) | let me know who | tell me how
    let me know (which|what|how|whether) | awaiting your | waiting for your (answer|decision|input|instructions|reply
    response)
"""
_ABOUT_TO = "i'll | i will | let me | let's | i'm going to | i am going to"

_TALK = f"""
person: you | your | shall i | should i | should we | shall we | do i | do we | may i | can i | can we | could i | ok to
    okay to | should (it|they|this|that|the)
plea: {_PLEADING} | let me know | your call | up to you | please reply | please respond | waiting for your
    just (tell me|reply|say) | reply with | wait for your | i'll wait | i'll hold off | i will hold off
    holding off until | i'll hold
pleading: {_PLEADING}
offer: anything else | (would you like|do you want|want) me to | shall i also | how (can i help|may i help|can i assist)
    what can i do for you | should i also | any questions | is there anything | would you like to
resume: continue | proceed | go on | go ahead | move on | start | begin | next
future: {_ABOUT_TO} | i'll wait
work: (i|we) (added|adds|created|implemented|modified|updated|changed|wrote|written|fixed|refactored|removed|renamed
    moved|replaced|resolved|introduced|extended|committed|rewrote|deleted|installed|configured|migrated|merged|built
    converted|extracted)
mended: (i|we) (fixed|resolved)
ongoing: {_ABOUT_TO} | i'm now | i am now | now i | first i | (i'm working|i am working|working|worked) on | i see the
    i found | i've found | i've got | i (got|looked|used) | looks like | applying | (is|are|still) running | running
    in the background | in progress | underway | continues | continuing | monitoring | waiting for the | searching
    checking | next: | tests | the build | compiles | succeeded | is fulfilled | this loop | this iteration | remaining
    still missing
plain: let me (know|see|think) | (which let|that let|which lets|that lets) me | (this|it|here|them) next:
    nothing to do with
"""

_UNABLE = """
    i (cannot|can't|can not|still cannot|still can't|am unable to) | (i'm|i am still|i'm still|i have been
    i've been) unable to | i couldn't | (i am|i'm) not able to | i (could not|was unable to|was not able to) | we cannot
    (i won't|i will not) be able to | until then i (cannot|can't) | we can't | we are unable to
    (this|the) (session|loop|run|iteration) cannot
"""
_GO_ON = """
    proceed | continue | go on | (go|get) any further | move forward | make (progress|any progress|further progress
    any further progress|any changes|any change) | (complete this|complete the|finish this|finish the) task
    do this without | work without | (change|do|write|edit|complete) anything | apply any of | make any of
"""
_IS = """
    i am | i'm | i am still | i'm still | (i am|i'm) currently | i am now | i'm now | i remain | (i am|i'm) completely
    i am fully | i'm fully | (i have|i've) (|now|again|still) been | we are | we're | this session is | session is
    session remains | session | (this task|the task|this story|all work|work|progress|further progress) is | status:
    state:
"""
_IDLE = "(no work|nothing|no progress) was | (no|no further) progress is"
_HELD = f"""
    ({_IS}) blocked | (i'm|i am|we're|we are) stuck (until|here|without|on) | ({_IDLE}) possible
    nothing (|useful|more|else|further|more that|else that|further that|that) i can do | blocked again
    (nothing|no work) could be done | no other work i can do | only you can
"""
_HINDERED = "still blocked | blocked (on|until|pending|waiting) | loops blocked"
_WAITING = "waiting for | waiting on | awaiting"
_GIVEN = "approval | the approval | permission | the permission | credentials | the credentials | sign-off"
_STILL_WAITING = f"(|i'm|i am) still ({_WAITING}) ({_GIVEN})"
_COMMAND = "it|this|these|them|the command|these commands|the following commands|the changes"
_BY_HAND = f"(run|execute|apply) ({_COMMAND}) (manually|by hand)"
_OF_A_PERSON = f"""
    {_BY_HAND} | waiting for you | waiting on you | need you to | needs you to | by you | please approve | you approve
    (must|needs to|need to) be approved | please (grant|execute|run the following|log in|authenticate) | run me with
    start me with | (re-run|rerun|restart) me | start the loop again | to unblock | unblock me | step in | need from you
    following from you | i need (the following|someone|somebody) | needs someone | an (administrator has to|admin has to
    administrator must|admin must) | administrator needs to | admin needs to | please allow | until a new
    until the owner | without somebody | without someone | (i'm waiting for the|waiting for) credentials
    somebody needs to | someone needs to | please renew | with admin rights | somebody has to | someone has to
    somebody must | someone must | someone with | somebody with | please (re-upload|upload|attach|add the missing)
    until somebody | until someone | approval by | (human|manual) intervention | (human|user) action required
    (needs|requires|i need) a human | i need a person | a (human to|human must|person to) | yourself | manually run
    run manually | manually apply | apply manually
"""

_OBSTACLES = f"""
blocked: {_HELD}
blocked: ({_UNABLE}) ({_GO_ON})
halted: blocked | stopped | halted | {_STILL_WAITING}
obstacle: {_HINDERED}
obstacle: {_OF_A_PERSON} | {_STILL_WAITING} | cannot proceed | can't proceed | cannot continue | can't continue
    unable to (proceed|continue) | was denied | were denied | was refused | call was rejected | rejected again
    denied again | getting rejected | getting denied | being rejected | is read-only | read-only file system
    is on hold | are refused | is refused | mounted read-only | (does not|doesn't|won't) let me | was declined
    were declined | has been revoked | was revoked | (isn't|is not) reachable | not allowed to do
    (i am|i'm) not allowed | nothing i write | out of options | stop here until | stopping here | which i don't have
    have to stop (there|here) | had to stop there | worked around from | i can resume
hand: {_OF_A_PERSON}
qualifier: {_HELD}
qualifier: {_HINDERED}
qualifier: blocked
leave: permission | permissions | approval | approvals | your authorization | (write|edit|read|push|have) access
    access to | credentials | sign-off | your go-ahead | your consent | confirmed by a user | confirmation
    network access | internet access
lack: need | needs | needed | require | requires | required | requiring | waiting for | wait for | waiting on
    waiting for your | awaiting | awaiting your | pending | lack | lacks | lacking | expired | unreachable | no network
    sandbox blocks | missing | grant | grant me | granting | give me | please give | provide | please provide
    (not|not been|hasn't been|haven't been|not yet) granted | denied | refused | rejected | asking for | blocked by
    restricted | insufficient | get your | to get | request | requested | requesting
unable: cannot | can't | couldn't | could not | (unable|not able|won't be able) to | not possible | impossible
    isn't possible | refuses | refuse | couldn't get | could not get | i don't have | i do not have | there is no way
    there's no way | no way to
demand: please | (you'll|you will|you) have to | you need to | you'll need to | you must | you will need to | i need you
    need you to | someone | somebody | a human | a person | from you | on your side | on your end | by hand
    tell me when | let me know (when|once) | i need (the|a|an) | only (an owner|the owner|an admin) | until a new
    only an administrator | by an (owner|admin|administrator) | who has access
condition: if | if you | if any | when | when you | whenever | unless | whether | once | where | in case | would
plain: (user|users|request|requests|account|accounts|clients) without | please (note|see|be aware|have a look
    keep in mind) | while (somebody|someone|a person|a human|an admin|another) | somebody's | someone's | somebody else
    someone else | (those|anyone|everyone|calls|members) without
"""

_IS_NOT = "isn't | is not | aren't | are not | wasn't | was not"
_AGAIN = "start | run | restart | relaunch | rerun | re-run"
_ADMINS = """
    an (admin|administrator|owner) | the owner | (an|the) account holder | a dba | an operator
    the (admin|administrator|on-call|release manager) | (a|the) maintainer | the helpdesk | the team | a colleague
"""
_COULD_YOU = """
    (could|can|would|will) you (run|grant|add|restart|renew|plug|unlock|put|give me|enable|refresh|log in|install
    approve|start|reset|set|connect|free|raise|top up|accept|attach|upload|provide the|allow|send me)
"""
_I_HAD = "i have | i had | i've | i need | i've had | i therefore have | so i have | so i had"

_IMPASSES = f"""
person: {_COULD_YOU}
barred: ({_IS_NOT}) (there|here|available|installed|permitted) | ({_IS_NOT}) (reachable|accessible|plugged in|visible
    connected) | ({_IS_NOT}) in the (environment|repository|repo|vault) | (still not|not) permitted | not reachable
    not accessible | nor in the | is nowhere | (doesn't|does not|don't|do not) exist | doesn't show up
    does not show up | (timed|times|time) out | refuses | refused | refusing | refusing connections | rejected | denied
    declined | forbidden | forbids | expired | revoked | suspended | disabled | locked | frozen | freeze | exhausted
    quota | out of (quota|credit|disk) | disk is full | is full | no (space left|access|permission|key|token|password
    network|internet|rights|gpu|free|camera|docker|device|account) | asks for | mfa | captcha | 2fa | unauthorized
    unreachable | unavailable | missing | is empty | no licence | no license | (with|returns|answers) (401|403|502|503)
    taken away | lost access | lost its credentials | a placeholder | not activated | doesn't answer | does not answer
    doesn't respond | does not respond | (isn't|not) responding | no answer from | connection (closed|refused|reset)
    (token|my role|bot|my account|my key|this session) lacks | has no power | is down | are down
    (can't|cannot) be reached | only has | has only | read-only | stands still | (come|came) to a halt | at a standstill
    waiting on | waiting for | awaiting | needs (a person|a human|somebody) | nothing i can do | blocked on | from here
    in here | i have no | we have no | (i|we) don't have | i need (hands|somebody|someone)
    (from this|in this|on this|from inside this) (environment|sandbox|machine|container|runner|host) | rejects
    declines | denies | one-time password | requires a (password|token|login|licence|license|key|certificate|signature
    one-time) | blocked by | paused | not been granted | no such host | sign-off | under maintenance
    manual step required | manual action required
hand: {_COULD_YOU} | either (add|grant|approve|allow|give|enable|set|put) | you'd have to | you would have to
    who can help | who can ask | wants a person | (i'd|i would) need from you | ({_AGAIN}) (me|me again|the loop
    the loop again) | ({_AGAIN}) (this job|the job|the agent|it again) | required from you | needed from you
    what (i need|would help|is needed) | what's needed | needed from | required from | needs (you|a person|a human)
    by (a human|a person|someone) | need from you | on your side | on your end | from your side | ways out | way out
    what would get | to let me (go on|continue) | for me to (go on|continue) | on my behalf | i need (a|an|the)
    could someone | can someone | could somebody | can somebody | could anyone | someone with | somebody with
    someone who | somebody who | someone on | only you | ({_ADMINS}) (needs|has to|must|brings) | until ({_ADMINS})
    only ({_ADMINS}) | ({_ADMINS}) only | only (an org|the org|a repo|the repo) (admin|owner)
    only (admins|owners|maintainers|administrators) can
lack: needs (a person|a human|somebody) | waiting on | awaiting
bidding: grant | unlock | restore | renew | supply | plug | allow | approve | unblock | reset | attach | put (the|it|a)
    set the | add the | add a | enable | provide | give me | turn on | restart this | restart the | connect
parting: (i'd need|i would need|i need|required|needed) from you | ({_AGAIN}) (me|me again|the loop again)
    i'm stopping | i (am stopping|stop here|stop at this) | (i've|i have|so i|i therefore) stopped
    i stopped (here|there|before) | i'm pausing | i am pausing | (i'll|i will) stop here | i've paused | i have paused
    out of my hands | (outside|beyond) my control | isn't mine to | is not mine to | ({_I_HAD}) to stop (|here|there)
    something i (can't|cannot) | where i stop | as far as i (can get|can go|can take|get)
onward: (i can|then i|and i) (go on|continue|finish|resume|carry on|proceed|pick up) | i can then | after that i
    afterwards i | the rest takes | does the rest | is all it takes | it resumes | can go on | can continue | resumes at
    resumes where | can proceed | the rest can
"""


LEXICON = Lexicon(
    keywords=keywords("en", _KEYWORDS),
    words=words(_COMPLETION, _CERTAINTY, _FAULTS, _IDLENESS, _LIMITS, _TALK, _OBSTACLES, _IMPASSES),
    claims=CLAIMS,
)
