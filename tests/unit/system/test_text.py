import re

import pytest

from ralph.system.text import pattern


def test_it_does_what_a_compiled_pattern_does() -> None:
    word = pattern(r"(?P<letter>[a-z])\d", re.IGNORECASE)

    assert [match["letter"] for match in word.finditer("a1 B2 c")] == ["a", "B"]
    assert word.sub("-", "a1 B2") == "- -"
    assert word.match("x a1") is None
    assert word.search("x a1", 1) is not None
    assert word.pattern == r"(?P<letter>[a-z])\d"


def test_a_mistake_shows_with_the_first_use() -> None:
    broken = pattern("(")

    with pytest.raises(re.error, match="missing \\)"):
        broken.match("")
