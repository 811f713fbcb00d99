"""What agent programs and their services say in English when they let nobody in: limits, quotas, logins.

The names are the kinds of limits. Words of "limit" are said by a service and by nobody else; those of "limiting" stand
in code, tests and reports as well.
"""

from itertools import product

from ralph.analysis.lexicon.base import Words

__all__ = ["LIMITS"]

_SPAN = (
    "usage",
    "session",
    "weekly",
    "monthly",
    "daily",
    "5-hour",
    "five-hour",
    "hourly",
    "spending",
    "spend",
    "premium request",
    "opus weekly",
)
_COUNTED = ("limit", "usage limit", "rate limit", "request limit", "premium request limit", "token limit", "quota")
_USED_UP = ("reached", "exceeded", "hit", "has been reached", "was reached", "exhausted")

LIMITS: Words = {
    "limit": {
        "usage limit": (
            *(f"{span} limit {used_up}" for span, used_up in product(_SPAN, _USED_UP)),
            *("your limit will reset", "your limit resets", "limit will reset at", "limit reached ∙ resets"),
            *("limit reached · resets", "quota will reset after", "exceeded your current quota"),
            *("your allowance resets", "monthly spend cap", "monthly spending cap", "your spend cap"),
            *("your spending cap",),
            *("used all of your", "used up all of your", "used all your", "used up your", "no requests left"),
        ),
        "credit": (
            *("credit balance is too low", "credit balance too low", "insufficient credits", "insufficient credit"),
            *("insufficient balance", "out of credits", "payment required", "no quota"),
            *("not have enough credits", "not have enough credit", "not enough credits", "have no credits"),
            *("no credits left",),
        ),
        "rate limit": (
            *("api error: 429", "api error (429", "api error 429", "error: 429", "error 429", "http 429", "status 429"),
            *("status: 429", "status code 429", "status code: 429"),
            *("429 too many requests", "rate limit reached for"),
        ),
        "overloaded": (
            *("api error: 529", "api error (529", "api error 529", "error: 529", "http 529", "status 529"),
            *("repeated 529 overloaded errors", "529 overloaded", "overloaded error"),
            *("currently overloaded", "server is overloaded", "model is overloaded", "service is overloaded"),
        ),
        "login": (
            *("please run /login", "run /login", "run claude login", "run codex login", "run copilot login"),
            *("please log in again", "please sign in again", "oauth token has expired", "oauth token expired"),
            *("oauth token revoked", "oauth token has been revoked", "no authentication information found"),
            *("your session has expired", "api error: 401", "api error (401", "api error 401", "error: 401"),
            *("status 401", "http 401"),
        ),
    },
    "limiting": {
        "rate limit": (
            *("rate limit", "a rate limit", "rate limits", "rate-limit", "rate limit exceeded", "rate limit reached"),
            *("rate limited",),
            *("rate-limited", "rate limit hit", "too many requests", "request limit exceeded", "throttled"),
            *("request throttled", "tokens per minute limit", "requests per minute limit", "request limit reached"),
            *("exceeded api limit", "at capacity", "limit reached", "limit exceeded"),
        ),
        "usage limit": (
            *(f"your {counted}" for counted in _COUNTED),
            *(f"your {span} {counted}" for span, counted in product((*_SPAN, "current", "opus", "free"), _COUNTED)),
            *("your usage cap", "your usage allowance", "your premium request allowance", "your copilot token usage"),
            *("extra usage", "free credits", "usage credits", "premium requests", "out of credits"),
            "usage limit",
            "quota exceeded",
            "quota reached",
            "exceeded quota",
            "quota has been exceeded",
        ),
        "overloaded": ("overloaded", "service unavailable due to load", "server busy", "server is busy"),
        "login": (
            *("invalid api key", "incorrect api key provided", "not logged in", "not authenticated", "unauthorized"),
            *("authentication failed", "authentication required", "login required", "you are not logged in"),
        ),
    },
}
