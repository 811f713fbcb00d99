"""Which paths a glob means, and that it takes no long time to tell."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.workspace.scan import NOISE, Noise, glob_matcher


@pytest.mark.parametrize(
    ("glob", "meant", "others"),
    [
        ("*.log", ["a.log", "deep/down/a.log", ".log", "a.log/inside"], ["a.logs", "log", "alog"]),
        ("build/", ["build/", "deep/build/x"], ["build", "rebuild/x"]),
        ("docs/*.md", ["docs/a.md"], ["docs/deep/a.md", "other/docs/a.md"]),
        ("/top.txt", ["top.txt"], ["deep/top.txt"]),
        ("src/**/gen", ["src/a/b/gen", "src/x/gen/y"], ["src/gen.py", "gen"]),
        ("secrets/**", ["secrets/a", "secrets/deep/down", "secrets/a\nb"], ["secrets", "secret/a"]),
        ("v?.txt", ["v1.txt"], ["v.txt", "v/.txt", "v12.txt"]),
        ("a*b*c", ["abc", "aXbYc", "abcbc"], ["ab/c", "acb"]),
        ("[x].(y)", ["[x].(y)"], ["x.y"]),
    ],
)
def test_what_a_glob_means(glob: str, meant: list[str], others: list[str]) -> None:
    means = glob_matcher([glob])
    assert [path for path in meant if not means(path)] == []
    assert [path for path in others if means(path)] == []


def naive(glob: str) -> re.Pattern[str]:
    """The same by an expression that may try everything over and over again."""
    wild = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(wild.get(part) or re.escape(part) for part in re.split(r"(\*\*|\*|\?)", glob.strip("/")))
    start = "^" if "/" in glob.rstrip("/") else "(?:^|/)"
    return re.compile(f"{start}{body}{'/' if glob.endswith('/') else '(?:/|$)'}")


@given(st.text("ab/*?", min_size=1, max_size=12), st.text("ab/", max_size=20))
def test_no_place_is_missed(glob: str, path: str) -> None:
    if glob.strip("/"):
        assert glob_matcher([glob])(path) == (naive(glob).search(path) is not None)


SLOW_GLOBS = ["*a" * 30 + "b", "**a" * 30 + "b", "**/*a" * 20 + "b", "a*a**" * 10 + "/b", "*" * 99 + "b"]


@pytest.mark.alone
def test_no_glob_takes_long(subtests: pytest.Subtests) -> None:
    for glob in SLOW_GLOBS:
        for path in ["a" * 4000, "a/" * 2000, ("a" * 250 + "/") * 16]:
            with subtests.test(glob=glob, path=path):
                began = time.process_time()
                assert not glob_matcher([glob])(path)
                assert time.process_time() - began < 2


def test_what_is_always_passed_over_is_so_beside_ones_own() -> None:
    noise = Noise(["*.log"])
    assert all(noise(glob.replace("*", "x")) for glob in NOISE)
    assert noise("a.log")
    assert not noise("a.py")


def test_a_path_is_passed_over_by_its_very_name() -> None:
    noise = Noise(paths=["logs/night [1]*.log"])
    assert noise("logs/night [1]*.log")
    assert not noise("logs/night 1.log")
    assert not noise("old/logs/night [1]*.log")
