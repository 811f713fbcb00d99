import os
from pathlib import Path
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.types.plan import TaskPlan, compare, parse_plan, read_plan

PLAN = """\
# Fix plan

- [x] Parse
* [ ] Print
  1. [X] Nested and numbered
  2) [ ] **Bold** one
- [link](https://example.com)
- [2026-01-29] a date
- [x](x.md) a link, too
-[ ] no bullet

```md
- [ ] an example
```

## Phase 2 (Optional): polish
### Icons
- [ ] Draw an icon
## Future
+ [x] Fly
## Nice-to-have
- [ ] Sing
## Future-proof the parser
- [ ] Versions
"""


def ticked(*texts: str) -> str:
    return "".join(f"- [x] {text}\n" for text in texts)


def left(*texts: str) -> str:
    return "".join(f"- [ ] {text}\n" for text in texts)


def test_what_counts_as_a_box() -> None:
    # covers: S0-25, S0-26, K0-14
    plan = parse_plan(PLAN)

    assert [(item.text, item.ticked) for item in plan.items if not item.optional] == [
        ("Parse", True),
        ("Print", False),
        ("Nested and numbered", True),
        ("**Bold** one", False),
        ("Versions", False),
    ]
    assert [(item.text, item.section) for item in plan.items if item.optional] == [
        ("Draw an icon", "Icons"),
        ("Fly", "Future"),
        ("Sing", "Nice-to-have"),
    ]
    assert plan.items[0].line == 3
    assert (plan.done, plan.total, plan.score) == (2, 5, 40)
    assert [item.text for item in plan.open] == ["Print", "**Bold** one", "Versions"]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        # covers: S0-27, S0-28, S0-30, K0-15
        ("", 0),
        ("no boxes", 0),
        (ticked("a", "b") + left("c", "d"), 50),
        (ticked("a", "b") + left("c"), 66),
        (ticked(*(str(n) for n in range(199))) + left("last"), 99),
        (ticked("a"), 100),
        ("## Optional\n" + left("a"), 0),
    ],
)
def test_the_score_is_rounded_down_and_100_only_when_all_is_done(text: str, score: int) -> None:
    assert parse_plan(text).score == score


def test_line_endings_do_not_matter() -> None:
    assert parse_plan(PLAN.replace("\n", "\r\n")) == parse_plan(PLAN)
    assert parse_plan(PLAN.replace("\n", "\r")) == parse_plan(PLAN)


def test_boxes_that_were_ticked_before_the_run_prove_nothing() -> None:
    plan = parse_plan(ticked("a", "b"))

    assert not compare(plan, plan).all_ticked_during_run
    assert compare(parse_plan(ticked("a") + left("b")), plan).all_ticked_during_run
    assert compare(parse_plan(ticked("a") + left("b")), plan).ticked_during_run == ("b",)


def test_a_plan_made_during_the_run_counts() -> None:
    assert compare(None, parse_plan(ticked("a"))).all_ticked_during_run
    assert not compare(None, parse_plan(ticked("a") + left("b"))).all_ticked_during_run
    assert not compare(None, None).all_ticked_during_run


@pytest.mark.parametrize(
    "now",
    [
        ticked("a"),
        ticked("a", "b, or what is left of it"),
        ticked("a") + "## Optional\n" + left("b"),
        ticked("a") + "```\n" + left("b") + "```\n",
        "",
    ],
)
def test_an_item_that_vanishes_or_is_reworded_stays_open(now: str) -> None:
    state = compare(parse_plan(left("a", "b")), parse_plan(now))

    assert not state.all_ticked_during_run
    assert "b" in state.missing
    assert "b" in state.still_open


def test_emphasis_spacing_and_order_do_not_make_another_item() -> None:
    state = compare(parse_plan(left("Write **the** tests", "b")), parse_plan(ticked("B", "~~write  the tests~~")))

    assert state.all_ticked_during_run
    assert state.missing == ()


def test_of_two_equal_items_both_must_be_ticked() -> None:
    before = parse_plan(left("test", "test"))

    assert compare(before, parse_plan(ticked("test"))).missing == ("test",)
    assert compare(before, parse_plan(ticked("test", "test"))).all_ticked_during_run


def test_the_first_name_that_exists_is_the_plan(tmp_path: Path) -> None:
    # covers: S0-29, K0-20
    assert read_plan(tmp_path) is None
    for name in ("fix_plan.md", "@fix_plan.md", ".ralph/@fix_plan.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(left(name))
        plan = read_plan(tmp_path)
        assert plan is not None
        assert (plan.path, plan.items[0].text) == (name, name)

    (tmp_path / "PLAN.md").write_text("\ufeff" + left("mine"), encoding="utf-8")
    named = read_plan(tmp_path, "PLAN.md")
    assert named is not None
    assert named.items[0].text == "mine"
    assert read_plan(tmp_path, "none.md") is None
    assert read_plan(tmp_path, "PLAN.md/x") is None


def test_a_link_within_the_workspace_is_followed_and_one_out_of_it_is_not(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "docs").mkdir(parents=True)
    (workspace / "docs/plan.md").write_text(left("inside"))
    (tmp_path / "secret.md").write_text(left("outside"))
    (workspace / "fix_plan.md").symlink_to("docs/plan.md")
    (workspace / "out.md").symlink_to("../secret.md")
    (workspace / "up").symlink_to("..")
    (workspace / "loop.md").symlink_to("loop.md")

    inside = read_plan(workspace)
    assert inside is not None
    assert inside.items[0].text == "inside"
    for name in ("out.md", "up/secret.md", "../secret.md", str(tmp_path / "secret.md"), "loop.md", "a\0b"):
        plan = read_plan(workspace, name)
        assert plan is not None
        assert plan.items == ()
        assert plan.problem


def test_what_is_no_regular_file_is_a_problem_and_never_waited_for(tmp_path: Path) -> None:
    (tmp_path / "@fix_plan.md").mkdir()
    os.mkfifo(tmp_path / "fifo.md")

    for name in (None, "fifo.md"):
        plan = read_plan(tmp_path, name)
        assert plan is not None
        assert "regular file" in plan.problem or "directory" in plan.problem.lower()
        assert not compare(None, plan).all_ticked_during_run


@pytest.mark.parametrize("letter", ["x", "字"])
def test_a_huge_plan_is_read_in_part_and_never_finished(tmp_path: Path, letter: str) -> None:
    (tmp_path / "fix_plan.md").write_text(ticked("a") + letter * 1_000_000 + left("b"))

    plan = read_plan(tmp_path)

    assert plan is not None
    assert "longer than 1,000,000 bytes" in plan.problem
    assert not compare(parse_plan(left("a")), plan).all_ticked_during_run
    many = parse_plan(ticked("a") * 6_000)
    assert (many.total, many.problem) == (5_000, "it has more than 5,000 items")


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "fix_plan.md").write_bytes(b"- [x] \xff\x00 done\n")

    plan = read_plan(tmp_path)

    assert plan is not None
    assert plan.items[0].text == "\ufffd\ufffd done"


@given(
    st.lists(
        st.one_of(st.sampled_from(["- [x] a\n", "```\n", "~~~~", "# Optional\n", "\r", "\ud800", "1) "]), st.text())
    )
)
def test_no_text_makes_it_raise(pieces: list[str]) -> None:
    plan = parse_plan("".join(pieces))

    assert 0 <= plan.score <= 100
    assert TaskPlan.model_validate_json(plan.model_dump_json()) == plan
    assert not compare(plan, plan).all_ticked_during_run


@pytest.mark.alone
@pytest.mark.parametrize("unit", ["- [ ", "# - - ", "`", "1", " ", "\n", "#", "- [x] a\n", "**"])
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        began = thread_time()
        parse_plan(text)
        return thread_time() - began

    small = min(seconds(100_000) for _ in range(3))
    assert min(seconds(800_000) for _ in range(2)) < 24 * small + 0.1
