import subprocess
import sys

import pytest

import ralph.testing


def test_every_public_name_is_there() -> None:
    assert ralph.testing.__all__ == sorted(ralph.testing.__all__)
    for name in ralph.testing.__all__:
        assert getattr(ralph.testing, name) is not None
        assert name in dir(ralph.testing)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Server"):
        getattr(ralph.testing, "Server")  # noqa: B009 - a checker would refuse it


def test_nothing_is_loaded_before_it_is_used() -> None:
    program = "import sys, ralph.testing; print({'pydantic', 'anyio', 'http.server'} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "set()"
