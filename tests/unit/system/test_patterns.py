"""Which paths a pattern means: what git means by it, and in no long time."""

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from ralph.system.patterns import path_matcher, takes

CASES = [
    ("*.log", ["a.log", "deep/down/a.log", ".log", "a.log/inside"], ["a.logs", "log", "alog"]),
    ("build/", ["build/", "deep/build/x"], ["build", "rebuild/x"]),
    ("docs/*.md", ["docs/a.md"], ["docs/deep/a.md", "other/docs/a.md"]),
    ("/top.txt", ["top.txt"], ["deep/top.txt"]),
    ("src/**/gen", ["src/gen", "src/a/b/gen", "src/x/gen/y"], ["src/gen.py", "gen"]),
    ("tests/**/test_*.py", ["tests/test_a.py", "tests/deep/down/test_a.py"], ["tests/a.py", "other/tests/test_a.py"]),
    ("**/conftest.py", ["conftest.py", "a/b/conftest.py"], ["conftest.pyc"]),
    ("secrets/**", ["secrets/a", "secrets/deep/down", "secrets/a\nb", "secrets/a\nb/c"], ["secrets", "secret/a"]),
    ("v?.txt", ["v1.txt"], ["v.txt", "v/.txt", "v12.txt"]),
    ("a*b*c", ["abc", "aXbYc", "abcbc"], ["ab/c", "acb"]),
    ("[xy].(z)", ["x.(z)"], ["z.(z)", "[xy].(z)"]),
    ("\\!keep", ["!keep"], ["keep"]),
    ("*.py", ["a\nb/c.py"], ["c.py\n"]),
    ("$x", ["$x"], ["x"]),
]


@pytest.mark.parametrize(("pattern", "meant", "others"), CASES)
def test_what_a_pattern_means(pattern: str, meant: list[str], others: list[str]) -> None:
    means = path_matcher([pattern])
    assert [path for path in meant if not means(path)] == []
    assert [path for path in others if means(path)] == []


def test_a_later_pattern_takes_paths_out() -> None:
    means = path_matcher(["tests/*", "!tests/new_*.py"])
    assert means("tests/a.py")
    assert not means("tests/new_a.py")


def test_what_git_cannot_read_matches_nothing_and_stops_nothing() -> None:
    for pattern in ("[z-a]", "b\\", "!", "# a", ""):
        assert takes(pattern) is None
        assert not path_matcher([pattern])("b")
    assert (takes("docs"), takes("!docs")) == (True, False)
    assert path_matcher(["[z-a]", "*.py"])("a.py")


def test_git_means_the_same(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for pattern, meant, others in CASES:
        (tmp_path / ".gitignore").write_text(f"{pattern}\n")
        paths = [path for path in (*meant, *others) if not path.endswith("/")]
        asked = subprocess.run(
            ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "-z", "--stdin"],
            input="\0".join(paths).encode(),
            capture_output=True,
            check=False,
        )
        assert asked.stdout.decode().split("\0")[:-1] == [path for path in paths if path in meant], pattern


@given(st.text("ab/*?", min_size=1, max_size=12), st.text("ab/", min_size=1, max_size=20))
def test_nothing_is_missed_for_the_sake_of_speed(pattern: str, path: str) -> None:
    path = "/".join(filter(None, path.split("/")))
    if path and pattern.strip("/"):
        plain = GitIgnoreSpec.from_lines([pattern], backend="simple")
        assert path_matcher([pattern])(path) == plain.match_file(path)


SLOW = ["*a" * 30 + "b", "**a" * 30 + "b", "**/*a" * 20 + "b", "a*a**" * 10 + "/b", "*" * 99 + "b", "**/a/" * 20 + "b"]


@pytest.mark.alone
def test_no_pattern_takes_long(subtests: pytest.Subtests) -> None:
    for pattern in SLOW:
        for path in ["a" * 4000, "a/" * 2000, ("a" * 250 + "/") * 16]:
            with subtests.test(pattern=pattern, path=path):
                began = time.process_time()
                assert not path_matcher([pattern])(path)
                assert time.process_time() - began < 2
