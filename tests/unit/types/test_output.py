"""Whether a state of the workspace is new."""

import pytest

from ralph.types.output import FINGERPRINTS_KEPT, Changes, is_new


@pytest.mark.parametrize(
    ("fingerprint", "earlier", "new"),
    [
        ("a", [], True),
        ("a", [("b",)], True),
        ("a", [("a",)], False),
        ("a", [("b", "a"), ("c",)], False),
        (None, [("a",)], False),
        (None, [], False),
        ("a", [(), ()], True),
    ],
)
def test_only_a_state_that_was_not_there_is_new(
    fingerprint: str | None, earlier: list[tuple[str, ...]], new: bool
) -> None:
    assert is_new(fingerprint, earlier) is new


def test_ten_iterations_are_remembered_however_many_states_each_had() -> None:
    others = [(f"{number}", f"{number}, after the verifiers") for number in range(FINGERPRINTS_KEPT - 1)]
    assert not is_new("a", [("a",), *others])
    assert is_new("a", [("a",), *others, ("one more",)])


def test_changes_that_could_not_be_seen_are_unknown_and_not_none() -> None:
    assert not Changes(problem="git is not there").known
    assert Changes(fingerprint="a").known
