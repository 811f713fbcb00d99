"""English words of talk with the user, and of what keeps the agent from continuing."""

from ralph.analysis.lexicon.base import Words, merged, phrases

__all__ = ["BLOCKERS"]

_PLEADING = """
    please (tell me|confirm|advise|clarify|choose|decide|specify|provide|share|select) | tell me which | tell me what
    (could|can) you tell me | (could|can) you confirm | (could|can) you clarify | need you to decide
    i need a decision | need your decision | tell me (whether|when i may|who|where) | let me know who | tell me how
    let me know (which|what|how|whether) | awaiting your
    waiting for your (answer|decision|input|instructions|reply|response)
"""
_ABOUT_TO = "i'll | i will | let me | let's | i'm going to | i am going to"

_TALK: Words = {
    "person": phrases("""
        you | your | shall i | should i | should we | shall we | do i | do we | may i | can i | can we | could i
        ok to | okay to | should (it|they|this|that|the)
    """),
    "plea": phrases(f"""
        {_PLEADING} | let me know | your call | up to you | please reply | please respond | waiting for your
        just (tell me|reply|say) | reply with | wait for your | i'll wait | i'll hold off | i will hold off
        holding off until | i'll hold
    """),
    "pleading": phrases(_PLEADING),
    "offer": phrases("""
        anything else | (would you like|do you want|want) me to | shall i also
        how (can i help|may i help|can i assist) | what can i do for you | should i also | any questions
        is there anything | would you like to
    """),
    "resume": phrases("continue | proceed | go on | go ahead | move on | start | begin | next"),
    "future": phrases(f"{_ABOUT_TO} | i'll wait"),
    "work": phrases("""
        (i|we) (added|adds|created|implemented|modified|updated|changed|wrote|written|fixed|refactored|removed
        renamed|moved|replaced|resolved|introduced|extended|committed|rewrote|deleted|installed|configured|migrated
        merged|built|converted|extracted)
    """),
    "mended": phrases("(i|we) (fixed|resolved)"),
    "ongoing": phrases(f"""
        {_ABOUT_TO} | i'm now | i am now | now i | first i | (i'm working|i am working|working|worked) on | i see the
        i found | i've found | i've got | i (got|looked|used) | looks like | applying | (is|are|still) running
        running | in the background | in progress | underway | continues | continuing | monitoring | waiting for the
        searching | checking | next: | tests | the build | compiles | succeeded | is fulfilled | this loop
        this iteration | remaining | still missing
    """),
    "plain": phrases("""
        let me (know|see|think) | (which let|that let|which lets|that lets) me | (this|it|here|them) next:
        nothing to do with
    """),
}

_UNABLE = """
    i (cannot|can't|can not|still cannot|still can't|am unable to)
    (i'm|i am still|i'm still|i have been|i've been) unable to | i couldn't | (i am|i'm) not able to
    i (could not|was unable to|was not able to) | we cannot | (i won't|i will not) be able to
    until then i (cannot|can't) | we can't | we are unable to | (this|the) (session|loop|run|iteration) cannot
"""
_GO_ON = """
    proceed | continue | go on | (go|get) any further | move forward
    make (progress|any progress|further progress|any further progress|any changes|any change)
    (complete this|complete the|finish this|finish the) task | do this without | work without
    (change|do|write|edit|complete) anything | apply any of | make any of
"""
_IS = """
    i am | i'm | i am still | i'm still | (i am|i'm) currently | i am now | i'm now | i remain | (i am|i'm) completely
    i am fully | i'm fully | (i have|i've) (|now|again|still) been | we are | we're | this session is | session is
    session remains | session | (this task|the task|this story|all work|work|progress|further progress) is | status:
    state:
"""
_IDLE = "(no work|nothing|no progress) was | (no|no further) progress is"
_HELD = phrases(f"""
    ({_IS}) blocked | (i'm|i am|we're|we are) stuck (until|here|without|on) | ({_IDLE}) possible
    nothing (|useful|more|else|further|more that|else that|further that|that) i can do | blocked again
    (nothing|no work) could be done | no other work i can do | only you can
""")
_HINDERED = phrases("still blocked | blocked (on|until|pending|waiting) | loops blocked")
_WAITING = "waiting for | waiting on | awaiting"
_GIVEN = "approval | the approval | permission | the permission | credentials | the credentials | sign-off"
_STILL_WAITING = f"(|i'm|i am) still ({_WAITING}) ({_GIVEN})"
_COMMAND = "it|this|these|them|the command|these commands|the following commands|the changes"
_BY_HAND = f"(run|execute|apply) ({_COMMAND}) (manually|by hand)"
_OF_A_PERSON = f"""
    {_BY_HAND} | waiting for you | waiting on you | need you to | needs you to | by you | please approve | you approve
    (must|needs to|need to) be approved | please (grant|execute|run the following|log in|authenticate) | run me with
    start me with | (re-run|rerun|restart) me | start the loop again | to unblock | unblock me | step in
    need from you | following from you | i need (the following|someone|somebody) | needs someone
    an (administrator has to|admin has to|administrator must|admin must) | administrator needs to | admin needs to
    please allow | until a new | until the owner | without somebody | without someone
    (i'm waiting for the|waiting for) credentials | somebody needs to | someone needs to | please renew
    with admin rights | somebody has to | someone has to | somebody must | someone must | someone with | somebody with
    please (re-upload|upload|attach|add the missing) | until somebody | until someone | approval by
    (human|manual) intervention | (human|user) action required | (needs|requires|i need) a human | i need a person
    a (human to|human must|person to) | yourself | manually run | run manually | manually apply | apply manually
"""

_OBSTACLES: Words = {
    "blocked": {
        **_HELD,
        **phrases(f"({_UNABLE}) ({_GO_ON})"),
    },
    "halted": phrases(f"blocked | stopped | halted | {_STILL_WAITING}"),
    "obstacle": {
        **_HINDERED,
        **phrases(f"""
            {_OF_A_PERSON} | {_STILL_WAITING} | cannot proceed | can't proceed | cannot continue | can't continue
            unable to (proceed|continue) | was denied | were denied | was refused | call was rejected | rejected again
            denied again | getting rejected | getting denied | being rejected | is read-only | read-only file system
            is on hold | are refused | is refused | mounted read-only | (does not|doesn't|won't) let me | was declined
            were declined | has been revoked | was revoked | (isn't|is not) reachable | not allowed to do
            (i am|i'm) not allowed | nothing i write | out of options | stop here until | stopping here
            which i don't have | have to stop (there|here) | had to stop there | worked around from | i can resume
        """),
    },
    "hand": phrases(_OF_A_PERSON),
    "qualifier": {
        **_HELD,
        **_HINDERED,
        **phrases("blocked"),
    },
    "leave": phrases("""
        permission | permissions | approval | approvals | your authorization | (write|edit|read|push|have) access
        access to | credentials | sign-off | your go-ahead | your consent | confirmed by a user | confirmation
        network access | internet access
    """),
    "lack": phrases("""
        need | needs | needed | require | requires | required | requiring | waiting for | wait for | waiting on
        waiting for your | awaiting | awaiting your | pending | lack | lacks | lacking | expired | unreachable
        no network | sandbox blocks | missing | grant | grant me | granting | give me | please give | provide
        please provide | (not|not been|hasn't been|haven't been|not yet) granted | denied | refused | rejected
        asking for | blocked by | restricted | insufficient | get your | to get | request | requested | requesting
    """),
    "unable": phrases("""
        cannot | can't | couldn't | could not | (unable|not able|won't be able) to | not possible | impossible
        isn't possible | refuses | refuse | couldn't get | could not get | i don't have | i do not have
        there is no way | there's no way | no way to
    """),
    "demand": phrases("""
        please | (you'll|you will|you) have to | you need to | you'll need to | you must | you will need to
        i need you | need you to | someone | somebody | a human | a person | from you | on your side | on your end
        by hand | tell me when | let me know (when|once) | i need (the|a|an) | only (an owner|the owner|an admin)
        until a new | only an administrator | by an (owner|admin|administrator) | who has access
    """),
    "condition": phrases("""
        if | if you | if any | when | when you | whenever | unless | whether | once | where | in case | would
    """),
    "plain": phrases("""
        (user|users|request|requests|account|accounts|clients) without
        please (note|see|be aware|have a look|keep in mind)
        while (somebody|someone|a person|a human|an admin|another) | somebody's | someone's | somebody else
        someone else | (those|anyone|everyone|calls|members) without
    """),
}

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

_IMPASSES: Words = {
    "person": phrases(_COULD_YOU),
    "barred": phrases(f"""
        ({_IS_NOT}) (there|here|available|installed|permitted)
        ({_IS_NOT}) (reachable|accessible|plugged in|visible|connected)
        ({_IS_NOT}) in the (environment|repository|repo|vault) | (still not|not) permitted | not reachable
        not accessible | nor in the | is nowhere | (doesn't|does not|don't|do not) exist | doesn't show up
        does not show up | (timed|times|time) out | refuses | refused | refusing | refusing connections | rejected
        denied | declined | forbidden | forbids | expired | revoked | suspended | disabled | locked | frozen | freeze
        exhausted | quota | out of (quota|credit|disk) | disk is full | is full
        no (space left|access|permission|key|token|password|network|internet|rights|gpu|free|camera|docker|device
        account)
        asks for | mfa | captcha | 2fa | unauthorized | unreachable | unavailable | missing | is empty | no licence
        no license | (with|returns|answers) (401|403|502|503) | taken away | lost access | lost its credentials
        a placeholder | not activated | doesn't answer | does not answer | doesn't respond | does not respond
        (isn't|not) responding | no answer from | connection (closed|refused|reset)
        (token|my role|bot|my account|my key|this session) lacks | has no power | is down | are down
        (can't|cannot) be reached | only has | has only | read-only | stands still | (come|came) to a halt
        at a standstill | waiting on | waiting for | awaiting | needs (a person|a human|somebody) | nothing i can do
        blocked on | from here | in here | i have no | we have no | (i|we) don't have
        i need (hands|somebody|someone)
        (from this|in this|on this|from inside this) (environment|sandbox|machine|container|runner|host) | rejects
        declines | denies | one-time password
        requires a (password|token|login|licence|license|key|certificate|signature|one-time) | blocked by | paused
        not been granted | no such host | sign-off | under maintenance | manual step required | manual action required
    """),
    "hand": phrases(f"""
        {_COULD_YOU} | either (add|grant|approve|allow|give|enable|set|put) | you'd have to | you would have to
        who can help | who can ask | wants a person | (i'd|i would) need from you
        ({_AGAIN}) (me|me again|the loop|the loop again) | ({_AGAIN}) (this job|the job|the agent|it again)
        required from you | needed from you | what (i need|would help|is needed) | what's needed | needed from
        required from | needs (you|a person|a human) | by (a human|a person|someone) | need from you | on your side
        on your end | from your side | ways out | way out | what would get | to let me (go on|continue)
        for me to (go on|continue) | on my behalf | i need (a|an|the) | could someone | can someone | could somebody
        can somebody | could anyone | someone with | somebody with | someone who | somebody who | someone on
        only you | ({_ADMINS}) (needs|has to|must|brings) | until ({_ADMINS}) | only ({_ADMINS}) | ({_ADMINS}) only
        only (an org|the org|a repo|the repo) (admin|owner) | only (admins|owners|maintainers|administrators) can
    """),
    "lack": phrases("needs (a person|a human|somebody) | waiting on | awaiting"),
    "bidding": phrases("""
        grant | unlock | restore | renew | supply | plug | allow | approve | unblock | reset | attach | put (the|it|a)
        set the | add the | add a | enable | provide | give me | turn on | restart this | restart the | connect
    """),
    "parting": phrases(f"""
        (i'd need|i would need|i need|required|needed) from you | ({_AGAIN}) (me|me again|the loop again)
        i'm stopping | i (am stopping|stop here|stop at this) | (i've|i have|so i|i therefore) stopped
        i stopped (here|there|before) | i'm pausing | i am pausing | (i'll|i will) stop here | i've paused
        i have paused | out of my hands | (outside|beyond) my control | isn't mine to | is not mine to
        ({_I_HAD}) to stop (|here|there) | something i (can't|cannot) | where i stop
        as far as i (can get|can go|can take|get)
    """),
    "onward": phrases("""
        (i can|then i|and i) (go on|continue|finish|resume|carry on|proceed|pick up) | i can then | after that i
        afterwards i | the rest takes | does the rest | is all it takes | it resumes | can go on | can continue
        resumes at | resumes where | can proceed | the rest can
    """),
}

BLOCKERS = merged(_TALK, _OBSTACLES, _IMPASSES)
