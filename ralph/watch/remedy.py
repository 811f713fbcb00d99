"""What a person can do after a run that did not come to its end: by what stopped it."""

from ralph.decision.outcomes import StopReason
from ralph.types.output import Failed, Outcome

__all__ = ["next_step"]

_NEXT = {
    "stuck": "tell it what is missing (`ralph tell`), then `ralph resume`; or run a smaller task",
    "test_saturation": "tell it what is left beside the tests (`ralph tell`), then `ralph resume`",
    "circuit_open": "fix what stood in its way, then `ralph breaker reset` and `ralph resume`",
    "executor_unavailable": "`ralph doctor` looks at what the agent needs; then `ralph resume`",
    "blocked": "give it what it needs, and say so (`ralph tell`), then `ralph resume`",
    "limit_reached": "allow it more (`ralph extend`), then `ralph resume`",
    "cancelled": "`ralph resume` continues it",
}
_ANEW = {
    "stuck": "run a smaller task",
    "circuit_open": "fix what stood in its way, then run it again",
    "executor_unavailable": "`ralph doctor` looks at what the agent needs",
    "blocked": "give it what it needs, then run it again",
    "limit_reached": "run it again with more",
}
"""Where no command finds the run any more."""

_MAY = "begin a run that may do it: --allow PATTERN, or another --permission"
_KEY = "RALPH_EXECUTOR__API_KEY, or executor.api_key in your own ralph.toml"


def next_step(
    reason: StopReason | None,
    outcome: Outcome | None = None,
    *,
    detail: str = "",
    endpoint: bool = False,
    kept: bool = True,
) -> str:
    """One line without a full stop; empty where nothing need be done.

    Args:
        detail: what the run's end says of why.
        outcome: of the last turn.
        endpoint: whether the model is at an endpoint of the user's own.
        kept: whether the run is in a store, where commands find it.
    """
    usual = (_NEXT if kept else _ANEW).get(reason or "", "")
    if reason == "executor_unavailable" and isinstance(outcome, Failed):
        return (_at_endpoint(outcome) if endpoint else _at_github(outcome)) or usual
    if reason == "circuit_open" and "permission-denied" in detail:
        return f"see what was denied (`ralph logs`), and {_MAY}" if kept else _MAY
    return usual


def _at_endpoint(failure: Failed) -> str:
    match failure:
        case Failed(status=403):
            return f"check the endpoint's key ({_KEY}) and that it may use what --model names; then --base-url"
        case Failed(status=404):
            return "check --base-url (most endpoints end in /v1) and that --model names a model that is there"
        case Failed(failure="auth"):
            return f"set the endpoint's key: {_KEY}"
        case Failed(failure="refused"):
            return "check --model and --wire-api; where the request was too long, give a smaller task or another model"
        case _:
            return "check that the endpoint of --base-url answers; its log says more"


def _at_github(failure: Failed) -> str:
    match failure:
        case Failed(failure="auth"):
            return "start `copilot` and enter /login, or set GH_TOKEN, or name a model of your own with --base-url"
        case Failed(status=403):
            return "check that the account has Copilot and may use the model, or take another one with --model"
        case Failed(failure="refused"):
            return "take another model with --model; where the request was too long, give a smaller task"
        case _:
            return ""
