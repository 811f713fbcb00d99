import pytest

from ralph.types import evolve
from ralph.types.output import Usage


def test_a_copy_has_the_new_values_and_the_original_stays() -> None:
    usage = Usage(input_tokens=1)
    assert evolve(usage, input_tokens=2).input_tokens == 2
    assert usage.input_tokens == 1


def test_a_misspelt_field_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"Usage has no field input_token$"):
        evolve(Usage(), input_token=2)
