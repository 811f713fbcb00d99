import pytest

from ralph.analysis import Analysis, analyze_text

HIGH = """I have successfully implemented the user authentication feature.

## Completed Tasks
- [x] Created login page
- [x] Implemented JWT authentication
- [x] Added session management
- [x] Wrote unit tests

## Testing
All tests pass with 100% coverage. The implementation is complete and ready for review.
"""
MEDIUM = """I'm working on the user authentication feature. I've probably completed about 60% of it.

## Progress
- [x] Created login page
- [x] Implemented basic authentication
- [ ] Need to add session management
- [ ] Tests need to be written

## Issues
There might be a problem with the token handling that I need to investigate.
"""
LOW = """I'm not sure what to do. Maybe I could try something? I think there's an error but I don't know what it is.

Let me see...
"""


@pytest.fixture
def high() -> Analysis:
    return analyze_text(HIGH)


@pytest.fixture
def medium() -> Analysis:
    return analyze_text(MEDIUM)


@pytest.fixture
def low() -> Analysis:
    return analyze_text(LOW)


@pytest.fixture
def examples() -> dict[str, str]:
    return {"high": HIGH, "medium": MEDIUM, "low": LOW}
