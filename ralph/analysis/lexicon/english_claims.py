"""English words of claims: who says that what is finished, what is left, and what comes next."""

from ralph.analysis.lexicon import words

_ACHIEVED = """
    implemented | fixed | resolved | built | delivered | refactored | migrated | ported | shipped | solved | addressed
    rewrote | rewritten | reworked | redesigned | converted | integrated | upgraded | replaced | fixes | closes
    resolves | (wired|hooked|wrapped) up | corrected | closed | accomplished | repaired
"""
_OPEN = "unchecked | open | remaining | outstanding | pending | unfinished | incomplete | unticked"
_PIECES = "items | tasks | work | todos | boxes | checkboxes | stories | steps | work items | action items"
_NONE = "no | zero | 0"
_PIECE = """
    bug | issue | task | story | item | requirement | criterion | feature | test | step | problem | two | milestone
    phase
"""
_NUMBERS = "two | three | four | five | six | seven | eight | nine | ten"
_CHANGES = "changes | further changes | code changes | action | further action | work | further work"
_RUNNING = """
    running | rerunning | re-running | updating | adding | checking | tightening | applying | doing | trying | going
    starting | creating | writing | implementing | fixing | testing | verifying | moving | continuing | proceeding
    looking | investigating | recording | documenting | replacing | making | installing | cleaning | removing | wiring
    building | reading | taking | switching
"""
_ACTS = """
    let me | let's | let us | i'll | i will | we'll | we will | (i am going|i'm going|i plan|i need|i now need) to
    now i need | we need to | i should | we should | i (have to|must|still need to|still have to) | now i can | next i
    i want to | i can now | i'm about to | i am about to | i'm now | i am now | time to | it's time to | next,
"""
_GOING_ON = "continuing with | now on to | on to the next | moving on to | picking up | i'd tackle"
_ACTING = f"(i'm|i am|now) ({_RUNNING})"
_COMMANDS = """
    update | add | create | write | fix | check | implement | commit | verify | wire | remove | replace | install | move
    refactor | build | register | import | extend | rewrite | rename | document | review
"""
_FOLLOWING = """
    next: | next (task|story|phase|up|iteration|loop|item|pass|session|milestone|is) | is up next | are up next
    come after it | next sprint | next priority | the next one | (is|are|comes|come) next
    (moving on|move on|proceed) to | continue with | continuing with
"""
_REMAINING = "(tasks|items|stories) (remaining|remain|left)"
_PROVISOS = "after approval | after you | when approved | should you | in case"

_CLAIMS = f"""
all: all | every | each | both | all (remaining|of the remaining|existing) | the ({_NUMBERS})
everything: everything | the (whole thing|entire project|entire task) | everything on your list
    (everything|all) you (asked for|listed|wanted) | everything the (ticket|issue|task|story|brief) asks for
goal: task | tasks | project | feature | features | story | stories | user stories | user story | implementation | work
    acceptance (criteria|criterion) | success criteria | criteria | definition of done | requirement | requirements
    deliverables | objectives | goals | milestones | steps | phases | todos | items | checklist | checkboxes | boxes
    subtasks | sub-tasks | spec | specification | issue | issues | ticket | tickets | bug | migration | refactoring
    refactor | integration | plan | features and fixes | prd | functionality | changes | fixes | checks | parts
    components | modules | endpoints | quality gates | gates | assignment | request | job | points | findings | defects
    bugs | crashes | comments | remarks | brief | complaints | wishes
closed/met: met | meet | meets | satisfied | satisfy | satisfies | fulfilled | fulfills | fulfil
closed/implemented: implemented | delivered | built | shipped
closed/resolved: addressed | resolved | fixed | closed | handled
closed/checked off: checked | checked off | ticked | ticked off | crossed off
closed/in place: in place
closed/covered: covered | accomplished | achieved | verified | made | applied | carried out | executed | performed
closed/passing: pass | passes | passed | passing | green
nothing left: ({_NONE}) ({_OPEN}) ({_PIECES}) | ({_NONE}) ({_PIECES}) (left|remaining|remain)
    nothing (left to do|more to do|else to do|further to do|to do|left to implement|remains|remains to be done|is left)
    there is nothing left | nothing is missing | no (work left|work remains|more work|further work|remaining work
    more tasks|more items|more stories) | nothing to add | no (further loops|further iterations|more loops
    more iterations) | exit condition is (met|fulfilled) | (fulfils|meets|satisfies) the exit condition
needless: no ({_CHANGES}) (|is|are|was|were) (needed|required|necessary) | nothing (needs to be done|needed to be done
    more is needed|else is needed)
achieve: {_ACHIEVED}
agent: i've | i have | we've | we have | successfully | (has|have) successfully
passive: has been | have been | is now | are now | is fully | are fully | been | already | fully
outright: successfully | (has|have) successfully
yours: your
part: this loop | this loop's | loop's | this (iteration|iteration's|pass|round|turn|cycle) | for today | for tonight
    current loop | current iteration | one (task|item|story) | sub-task | subtask | first half | first part
    (half|part|parts|some|most) of | for now | the core of | a first version | initial version | groundwork
    scaffolding | a subset | proof of concept | the (infrastructure for|foundation for|first step) | several of
    (first|second|third|fourth) ({_PIECE}) | from (fix plan.md|@fix plan.md|the fix plan|the plan|the list|todo.md
    the backlog|prd.json|the prd) | highest priority | highest-priority | top priority | top-priority | one item
    next item on | the basics | the easy part | a prototype | (one|two|three|four) of the
preparation: analysis | exploration | planning | plan | investigation | research | design document | task list
    groundwork | reading | exploring | analyzing | analysing | reviewing | investigating | researching | looking
    searching | discovery | survey | assessment | diagnosis | download | brainstorming
stage: phase | phases | step | steps | stage | stages | part | parts | iteration | iterations | milestone | milestones
    sprint | batch | wave | round | loop | pass | increment
proviso: once | if | unless | until | as soon as | assuming | provided that | pending | subject to
    (nothing|nothing left|nothing more) to do without | {_PROVISOS}
reported: you (said|mentioned|asked|told me) | the user said | the user says | claims that | claimed that | claims the
    claimed the | claims to | supposedly | allegedly | ostensibly | claimed it | the (log says|log said|plan said)
    reported that | claiming | for example | the (readme says|issue says|previous agent|prompt says) | example:
act: {_ACTS} | {_ACTING} | {_GOING_ON} | now ({_COMMANDS})
closer: summary | summarize | summarise | recap | overview | status report | final report | submit | conclude | wrap up
    final output | final answer | note that | mention | point out | stop here | wait for | wait until | leave it
    leave the | happy to | glad to | be here | be available | let me know | (complete|finish|mark) the task | mark this
    mark it | notify | explain | highlight | list what | walk
recap: summary | in summary | to summarize | here's what | here is what | what was done | what's done
    what (was implemented|was built|was delivered|was accomplished|was completed|i did|i've done|i have done|i changed
    changed) | what's in place | what (i implemented|i built|was changed|was fixed|has been done) | changes made
    files (modified|changed|created) | created files | modified files | key changes | main changes | key features
    implementation (details|summary) | changes: | changed: | the changes | deliverables | verification | validation
    updated: | added: | modified: | testing: | what was added | implemented files | highlights | implemented features
    features implemented | recap | overview of changes | it includes
verified: (compiles|passes|pass|builds|passed) cleanly | compiles | all green | (build|compilation) successful
    (builds|compiles) successfully | cleanly | no warnings | verified (with|by|in) | tested with | tested in
    no failures
passes: passes | pass | passed | passing | succeeds | succeeded | is green | are green | successful | is clean
    are clean | clean | works
committed: committed | commit created | pushed
following: {_FOLLOWING} | remaining (tasks|stories|phases|items|steps) | {_REMAINING}
ready: ready | ready for | ready to
later: next steps | next step | what's next | next priorities | upcoming | next actions
left: remaining | pending | remaining work | todo | todos | to do | to-do | still to do | outstanding
    (not yet|not) implemented | what's left | what is left | left to do | missing | incomplete | unfinished
    work remaining | deferred | in progress | what remains | half-way | halfway | untouched | not started | not begun
    still (open|missing|to come) | not (done|yet done|yet) | tomorrow | open (items|points|tasks) | to be done
    unresolved
open: open | left | remaining | remain | remains | unchecked | outstanding | to go | unfinished | still to do
begin: start | begin | proceed | continue | move on | starting | proceeding | moving on
underway: 🔄 | ⏳ | 🚧 | ⌛ | in progress | wip | under way | underway
optional: optional | optionally | optional/future | future/optional | future | low-priority | low priority
    nice to have | nice-to-have | out of scope | follow-up | follow-ups | later | could | recommended | suggested
    consider
    beyond this | not part of | beyond the scope | you (can|may|could) | polish | limitations | known limitations
    caveats | not in scope | suggestions | ideas | stretch | post-launch | backlog | not blocking | non-blocking
    cosmetic
check: build | builds | compilation | tests | test | test suite | suite | lint | linter | typecheck | type check
    type checks | ci | pipeline | smoke test | smoke | checks | type checker
failing: fails | fail | failing | failed | broken | does not compile | doesn't compile | (do not|does not|don't
    doesn't) pass | is red | are red | not passing
beyond: sandbox | sandboxed | sandbox's | environment | environment's | pre-existing | preexisting | unrelated | network
    offline | credentials | api key | not installed | unavailable | flaky | this machine | display | container
    here because | (earlier|prior) iterations | denied | on main | on master | permission | permissions | previously
    used to | known | without my change | without this change | nothing to do with | not related to | unmodified branch
    (was|were|been) there before | (has|have|had) always been there | (was|were) there already
    (was|were) already there | long before this | (isn't|is not|wasn't|was not|aren't|weren't) on the list
    (isn't|wasn't|aren't|weren't) (part of|in scope) | (not|aren't|isn't) ours | it's theirs | they're theirs
    (comes|come) from the vendor | vendored | predate | predates | not caused by | not introduced by
    no (fixed version|fixed release|fix upstream|upstream fix|patch upstream)
"""

_CHANGED = """
    added | created | implemented | updated | fixed | moved | replaced | removed | renamed | split | extracted
    introduced | bumped | switched | converted | migrated | rewrote | dropped | wired | built | wrote | refactored
    deleted | extended | reworked | applied | separated | merged | set | exposed | enabled | disabled | documented
    cleaned up | simplified | adapted | ported | upgraded | translated | published | registered | integrated | resolved
    corrected | adjusted | tightened
"""
_OF_CODE = "retry | event | infinite | for | while | main | inner | outer | game | render | polling"
_NEXT = "story | task | feature | step | item | milestone | component | endpoint | thing | piece | part"
_EVENTS = """
    entry | boot | startup | start-up | demand | load | launch | login | first | every | each | click | connect
    reconnect | mount | request | power-up | wake-up | activation | change | save | open
"""

_STATEMENTS = f"""
whole: task | project | migration | refactor | refactoring | assignment | upgrade | rewrite | port | prd | the job
    this job | goal | target | work on | work for | conversion | translation | epic | clean-up | cleanup | rework
    overhaul | redesign | rollout
piece: feature | story | user story | issue | implementation | integration | change request | fix | specification | spec
trouble: leak | crash | bug | race | race condition | deadlock | error | problem | regression | failure | flakiness
    infinite loop | defect | vulnerability | slowdown | bottleneck | warning | warnings
member: item | box | checkbox | step | phase | milestone | point | todo | subtask | deliverable
stands/gone: gone | eliminated | cured
stands/reached: reached | hit
stands/in place: is in. | are in. | is in: | is in now | live | merged
changed: {_CHANGED} | deployed | released | shipped | pushed | rolled out | installed | set up | all set | all sorted
news: now | is now | are now | no longer | out of the dependency tree | is written | are written | is working
    are working | is (operational|usable|playable) | works (for|on|with|without) | work for | is up and running
    went out | is stable | are stable | (works|work|runs|builds|compiles) again
regarded: see | changed | edited | modified | touched | played | looked | checked | started | tried | attempted
    reviewed | analyzed | analysed | investigated | explored | inspected | noticed | needed | wanted | searched
    confirmed | verified | opened | listed | planned | examined | identified | failed | blocked | stopped | paused
    skipped | asked | based | continued | limited | received | reached | exceeded | expected | unexpected | related
    required | discussed | proposed | considered | compared | tested | reproduced | profiled | measured | learned
    completed | finished | reverted | worked | indeed | need | detailed | retried | re-checked | waited | rechecked
    monitored | queued | scheduled | debugged | traced | narrowed | isolated | suspected
cause: root cause | the cause | cause: | caused by | came from | comes from | was due to | reason: | the reason was
    the culprit | because | the (bug was|problem was|issue was)
pieced: loop | iteration | phase | phases | milestone | milestones | sprint | backlog | fix plan
    (the|my|this) next ({_NEXT}) | the plan | so far | fix plan.md | prd.json | @fix plan.md | first step | for now
    todo.md | checkpoint: | checkpoint. | approval | approve | permission | failing tests | failing test
last: was the (last|final|last open|last unchecked|last remaining) (one|task|item|story|step|box)
proof: asserts this | asserts it | assert this | covers it | cover it | covers this | cover this | covers the case
    regression | reproduces | used to
plain: (that is|that are|which is|which are|whatever is) left | (which let|that let|which lets|that lets) me
    (is|are) built (from|with|on|by) | (i|you|users|one) can follow | (this|it|here|them) next:
    ({_OF_CODE}) (loop|loops)
part: a failing test | failing test for | failing tests for
proviso: before (my change|the change|i|we|that)
following: come later | comes later | will follow | are to follow
optional: is left to | are left to | is left out | are left out | is left as | are left as
yet: yet
persisting: (is|are) untouched | still have | is still | are still | still (use|uses|need|fail) | remain
described: if | when | whenever | while a | while an | is part of | are part of | how many | how much | whether | shows
    show | displays | display | lists | says | explains | explain | prints | returns | reports | users can | user can
    you can see | reads | marks | mark them | filter by | named | called | labelled | e.g | such as | where | whose
    that are | which are | so that a | did most of | raises | rejects | handles | handle | answers | on every
    in case of | started on ({_EVENTS}) | still (happens|occurs) (through|via|as before)
wanted: goal | goals | the goal | criterion | criteria | requires | required | requirement | expected | asks for
    asked for | said | says | definition of done | expectation | should be | wants | wanted | target | instructions
    aim | is to
verified: (exits|exit|exited|exits with|exit code) 0 | all (pass|passing|passed|of which pass|of them pass|succeed
    succeeded) | both (pass|passed|succeeded|commands succeeded) | pass now | passes now | now pass | now passes
    before (and pass now|and passes now|and pass with it|the fix and pass|the fix and passes) | match now | matches now
    i ran it | ran it on | ran it against | tried (with|on|it) | has been silent | ran it twice | was executed
    were executed | contract tests cover | tests cover | installs from | checked with | i (verified|confirmed|tested
    checked|compared|tried it) | checked in | checked on | tested on | tested against | verified on
    confirmed (with|in) | covered by | validates | suites green | (0|no) violations | both succeed | build successful
    updated and passing | no diff | without a diff | validated (with|against) | no (offenses|offences|regressions
    differences|difference|findings|leaks) | without (warnings|errors|a failure) | no type errors | no lint errors
    0 (broken|failures|errors|failed|warnings) | zero warnings | (tests|tests are|suite|suite is|ci|and) green
    without a single failure | without any failure | no failed | which (pass|passes|all pass) | is quiet | are quiet
    is silent | identical results | same results | same result | the same output
"""

_COUNTED = "thing | item | task | step | story | box | issue | point | piece | test | service"
_HAVE_NOT = "haven't | have not | hasn't | has not"
_UNBEGUN = """
    been (started|dealt with|converted|migrated|ported|done|written|covered|translated|implemented|addressed) | started
    begun
"""
_UNDONE = "closed | merged | released | called done | called finished | ticked | checked off | marked as done"
_NOT_TICKED = "open | unticked | unchecked | unfinished | incomplete"
_BACK = "reverted | rolled back | backed out | undid | discarded"
_WHAT = "the change | my change | the changes | my changes | everything"

_UNFINISHED = f"""
unfinished: ({_COUNTED}) (is left|is missing|is open|remains) | ({_COUNTED})s (are left|are missing|are open) | is left
    are left | remains to be (done|written) | remain to be done | still to do | is missing | are missing | is pending
    are pending | (has to|have to|should) follow | more (stories|tasks|items|phases) | (items|tasks|stories) remain
    still to (be done|be written|come) | (is|are) still missing | still needs to be | still need to be
    (not|not been|haven't|have not) started | not begun | half written | half-written | half finished | half-finished
    half done | (can't|cannot|can not|must not) be ({_UNDONE}) | is a stub | are stubs | is stubbed | are stubbed
    only a stub | still a stub | does nothing yet | not (fixed|fixed yet|yet fixed|finished yet|done yet|complete yet
    implemented yet|written yet) | isn't (finished|done|implemented) | (aren't|is not|are not|not yet) implemented
    not yet (written|migrated|started|done|finished|complete|wired|connected) | yet to be | i have not tried
    i haven't tried | have not tested | haven't tested | have not verified | haven't verified
    not (tested yet|yet tested|verified yet) | untested | unverified | more work is needed | needs more work
    only the first is | work in progress | (is|are) still open | (is|are) still failing | (is|are) still red
    (story|task|box|item|issue|ticket|it) (stays|remains) ({_NOT_TICKED}) | did not tick | didn't tick | not ticked
    did not mark | didn't mark | not marked | (left|leave it|left it) unticked | (left|leave|keep|kept) it open
    ({_HAVE_NOT}) ({_UNBEGUN}) | ({_BACK}) ({_WHAT}) | still (on|use|uses|using) the (old|legacy|previous) | had no time
    no time to | (didn't|did not) have time | committed a checkpoint | show placeholders | shows a placeholder
    are placeholders | is a placeholder | largest gaps | biggest gaps | the gap to | for most files | in most cases
    come out wrong | all that is left | all that's left | that leaves | which leaves | what's missing | what is missing
    (ran|run) out of time | still (has to be|have to be|has to|have to|need to|needs to) | only stubbed | is stubbed out
    (needs|need) another pass | half-way there | halfway there | is halfway | is half-way | are half-way
    (halfway|half-way|thirds|of the way) through | way there | can follow | (have yet|has yet|not been able
    haven't been able|didn't get|did not get|have not got|haven't got) to | could not finish | couldn't finish
    (is|are) outstanding | a first step | more to come | to be continued | (is|are|still) in progress | is under way
    is underway | started on | have begun | i began to | began with | progress so far | done so far | left for the next
    (left for|come in|comes in) later | will come in | (follow|follows|comes|come) tomorrow | not finished
    not complete | only partly | only partially | partly done | partially done | is up for | are up for
    (still|is still|are still) there | still (happens|occurs|crashes|reproduces|wrong|broken|on the list)
    haven't decided | have not decided | (is|are) not there yet
"""

_PASSES = "iteration | loop | session | pass | round | run | turn | sprint | increment"
_THIS = "(not in|not part of|not done in|skipped in|left out of) this"
_LATER = "(for|left for|in) the next | for (another|the following|a later)"
_BE = "is | are"
_NEXT_UP = "natural | obvious | logical | next natural | best"
_PLACES = "next (step|piece|candidate|task|one) | starting point | continuation"
_TAKES_UP = "can (pick up|start with|start on|begin with|continue with|tackle)"
_TAKEN_UP = "should (pick up|start with|begin with|continue with|tackle)"
_NEXT_ONE = "iteration | loop | session | pass | round | agent | sprint"
_UNSEEN = """
    been (looked at|begun|tackled|attempted|wired|connected|moved|processed|replaced|switched|integrated|built|created
    set up|checked yet|reviewed yet)
"""
_WRITTEN = "written | built | implemented | converted | migrated | ported | translated | wired | connected"
_I_HAVE_NOT = f"looked at | (got|gotten|come) to | solved | figured out | managed | begun | {_WRITTEN}"
_FOUND = "found | turns out | turned out | shows | showed | found out | it seems | noticed | saw | means"
_AFTER_ALL = "it (hasn't|has not|isn't|is not|wasn't|was not) | they (aren't|are not|haven't|have not|weren't|were not)"
_NOT_JOINED = "wired up | hooked up | connected yet | wired in | (connected|wired) to it yet"
_IS_NOT = "isn't | aren't | is not | are not"
_STILL = "a stub | stubs | a draft | a placeholder | placeholders | off by | wrong | broken | rudimentary"
_FAKES = "stubbed | mocked | hard-coded | hardcoded | faked | simulated | a placeholder"
_THIS_IS = "this is | that is | that's | this was | that was"
_SAID = "(ticket|task|issue|spec|brief|story|plan) says"
_DO = "migrate | port | convert | translate | write | build | implement | fix | review | test | move | add"
_SUGGEST = "suggest | recommend | propose | add | consider"
_MORE = "iterations | sessions | loops | rounds | passes"
_DOING = """
    analysing | analyzing | working on | working through | examining | reviewing | comparing | converting | migrating
    porting | refactoring | translating | preparing | debugging | tracing | exploring | searching | reproducing
    measuring | profiling | extracting | inspecting | going through | digging into
"""
_UNSUPPORTED = "supported | working | there | covered | converted | handled | translated | ported"
_QUICK = "straightforward | mechanical | routine | quick | similar | more of the same | still to come"
_SCARCE = "running low | running out | almost full | nearly full | almost used up | nearly used up | getting full"
_MEANS = "context | my context | (my|the) context window"
_GOOD = "a (good|clean|natural|sensible|safe|convenient)"
_LISTS = "backlog | open | left | remaining | still open | queue | todo | to do | what's left | on the list"

_AHEAD = f"""
left: ({_LISTS}) after this ({_PASSES}) | what (doesn't:|does not:|doesn't yet:|does not yet:) | ({_THIS}) ({_PASSES})
    ({_LATER}) ({_PASSES}) | (in|for) the following ({_MORE}) | left to ({_DO}) | (what isn't|what is not
    what's not) there | (what isn't|what is not|what's not) done | what (doesn't work|does not work|works in part
    works partly|isn't there yet|is not there yet) | what's not there yet | (what's|what is) still missing
    (what's|what is) still open | what doesn't work yet | not (touched|covered so far|converted|migrated|translated
    handled|working) | (partly|partially|half) done | to come | still ahead | for next time | left over | open:
    open ends | loose ends | left: | for tomorrow | not (there yet|working yet|yet there|yet working|yet covered
    yet done|yet supported|supported yet|yet converted|yet migrated) | to be continued with
open: to do
optional: ({_SAID}) to | as the ({_SAID}) | rules (it out|them out|that out|this out) | as (agreed|you asked|requested)
    (only asks|asks only|does not ask|doesn't ask) for
later: next | (suggested|recommended|proposed) order | order of work | suggested sequence | steps that follow
    what (comes next|follows|is next|comes after) | coming next | coming up | up next | to follow | following steps
    after that: | where to continue | the next steps | where to go from here | the steps that follow
    next (on the list|in the plan|in line|tasks|items|stories|phases|up|in this plan|on the plan)
following: next (unticked|unchecked|open) (one|box|story) | (for the next|in the next) ({_PASSES})
    the next thing (on|is) | next tasks can | (will be|would be|to tackle) next | ({_BE}) the next (milestone|task|story
    step|item|big) | ({_NEXT_UP}) ({_PLACES}) | next ({_NEXT_ONE}) ({_TAKES_UP}|{_TAKEN_UP}|picks up with|starts with)
    (after that|after this|after those) (come|comes) | (come|comes) (after that|after this|after those) | next come the
    next comes the | on to task | (on to the|coming up|up|is up|are up) next | (is next|next) in the plan
    (planned for|scheduled for|on the list for|left for) the next | (is scheduled|are scheduled|is planned|are planned
    scheduled|to be tackled|to tackle|to do|to be done) next | (more|tasks|endpoints|parts) to follow
    loop can continue | (will follow|follow|follows) in the next | in the next (loop|round|iteration|session)
    (in|with) the upcoming | in a later loop
unfinished: ({_MEANS}) is ({_SCARCE}) | i'm (running low on|running out of) (|my) context | i'm out of context
    (before the|before my) context runs out | low on context | ({_GOOD}) (stopping point|place to stop|point to stop)
    stopping at a point (where|at which) | ({_HAVE_NOT}) ({_UNSEEN}) | i (haven't|have not) ({_I_HAVE_NOT})
    that (i haven't|i have not) (solved|figured out) | ({_FOUND}) that ({_AFTER_ALL}) | ({_IS_NOT}) ({_NOT_JOINED})
    ({_BE}) still ({_STILL}) | ({_FAKES}) for now | ({_BE}) (what's left|what is left|all that's left)
    what remains (is|are|to) | still on paper | only on paper | on paper only | (is|are) still without | still ahead of
    (is still|are still|still lie|still lies|lie|lies) ahead | (is|are) ahead of us | only (thing missing is
    thing missing:|thing left is|gap is|gap:) | gap remains | one gap is | the last missing piece is
    (is|are) the last missing piece | missing piece is | missing pieces are | (one|the) open point | one open problem
    open problem is | odd one out | has begun | (i've begun|i have begun|i've started|i have started) with
    (i've|i have) started on | partly there | works in part | partly works | works partly | works only partly
    only works in part | skipped until | bigger chunk | the easy half | the hard half | it's a start | it is a start
    first part of (the work|this) | ({_THIS_IS}) the first of (two|three|four|five|six|seven|eight|nine|ten|the two
    the three|the four|the five|the six|the seven|the eight|the nine|the ten) | (did not|didn't|haven't
    have not) get around to | there's more in | there is more (in|on) | there's more on | but not ({_WRITTEN}|tested
    finished) | tomorrow. | i stopped before | another pass | left for last | for last since | for last because
    saved for last | keep it for last | another (iteration|session|loop|round of|batch) | another (two|few|couple of
    two or three) ({_MORE}) | (a session|an iteration|a loop) of its own | (will need|needs) more time | nothing of the
    exists so far | exist so far | whoever continues | whoever picks this up | (marked|ticked|ticked off
    checked off) the first | (that was|that's|this is) part one | before this can (ship|be closed|be merged|be called)
    before it can be (closed|called) | keeping the (checkbox|box|task open|story open) | keep the task open
    keep the story open | leaving the (task|box|story) | dropped altogether | is left open for
    i stopped after (section|task|item|chapter|step|phase|story|part) | the rest (is|should be|will be) ({_QUICK})
    not ({_UNSUPPORTED}) yet | not yet ({_UNSUPPORTED}) | (don't|doesn't|do not|does not) exist yet
    (;|—|–|, now) on to | (isn't|aren't) there yet | (for|on) another day | (is|are) up to the next
plain: (when|if|once|as soon as|whenever|that) (context|the context|its context|a context
    the context window) is ({_SCARCE}) | next (i'd|i would|one could|you could) ({_SUGGEST})
    rest of the (code|file|module|api|tests|app) ({_BE}) (untouched|unchanged) | what isn't there (any more|anymore)
    (next iteration|next run|next pass|next round|next turn) of the
persisting: need | needs | have to be | has to be | require | requires | wait | are waiting | follow | follows | still
underway: 🔜 | ⬜ | 🔲 | ☐ | ◻ | ◽ | ▢
act: (i'm|i am|now|i'm now|currently|i'm currently) ({_DOING})
fraction/50: half | half of
fraction/90: almost all | nearly all
fraction/33: a third | one third | one-third
fraction/67: two thirds | two-thirds
fraction/25: a quarter | one quarter
fraction/75: three quarters | three-quarters
groundwork: ready for (feature development|development|implementation|coding) | ready (for the implementation
    for the actual|to be implemented|for feature work) | foundation is (in place|laid) | the foundation is
    (laid|set up|all of) the foundation | foundations are in place | project bootstrapped | vertical slice | first slice
    walking skeleton | first cut | project initialized | project initialised | (scaffold|skeleton) is in place
    groundwork is | the groundwork | first loop | this first (iteration|session|pass) | first iteration of
    implementation is split | broken down into | broke the spec | broke it down into | implementation can (start|begin)
    the implementation comes next
handover: merge | merging | merged | deploy | deploying | deployment | release | review | reviewing | pull request | pr
    staging | production | roll out | rollout | monitor | for you | for a human | possible | potential
    if (you like|you want|wanted|desired) | publish | announce | run it | try it | tag | go live | for whoever
    for the team | manually | your
"""


_TIME = """
plain: (right|for|just) now
"""
"""Words of time that do not report a change."""

CLAIMS = words(_CLAIMS, _STATEMENTS, _UNFINISHED, _AHEAD, _TIME)
