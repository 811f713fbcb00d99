import json
import os
from pathlib import Path

import pytest

from ralph.executors.copilot.usage import SessionLog, UsageMeter
from ralph.types.output import Usage


def total(path: Path, tokens_in: int, tokens_out: int, *, calls: int = 1, premium: float = 0) -> Path:
    metrics = {"requests": {"count": calls}, "usage": {"inputTokens": tokens_in, "outputTokens": tokens_out}}
    path.write_text(json.dumps({"totalPremiumRequestCost": premium, "modelMetrics": {"m": metrics}}))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "usage.json"


def test_a_later_turn_of_a_session_counts_what_came_on_top(path: Path):
    meter = UsageMeter()
    first = meter.read(total(path, 100, 10, premium=1), "s", calls=1, begun_here=True)
    second = meter.read(total(path, 250, 15, calls=3, premium=1.5), "s", calls=2, begun_here=False)
    other = meter.read(total(path, 7, 1), "t", calls=1, begun_here=True)
    assert (first.tokens, first.premium_requests, first.model_calls) == (110, 1, 1)
    assert (second.tokens, second.premium_requests, second.model_calls) == (155, 0.5, 2)
    assert other.tokens == 8


def test_a_turn_without_a_file_counts_with_the_next(path: Path):
    meter = UsageMeter()
    assert meter.read(path, "s", calls=2, begun_here=True) == Usage(model_calls=2)
    assert meter.read(total(path, 300, 0), "s", calls=1, begun_here=True).tokens == 300


def test_a_session_from_elsewhere_is_not_counted_twice(path: Path):
    meter = UsageMeter()
    assert meter.read(total(path, 9_000, 1), "old", calls=1, begun_here=False) == Usage(model_calls=1)
    assert meter.read(total(path, 9_500, 1), "old", calls=1, begun_here=False).tokens == 500


def test_failed_calls_are_added_to_what_the_file_tells(path: Path):
    assert UsageMeter().read(total(path, 1, 1, calls=1), "s", calls=4, begun_here=True).model_calls == 4


@pytest.mark.parametrize("content", ["", "garbage", "[]", '{"modelMetrics": 5}', '{"modelMetrics": {}}', "[" * 100_000])
def test_a_file_that_cannot_be_understood_measures_nothing(path: Path, content: str):
    path.write_text(content)
    assert UsageMeter().read(path, "s", calls=0, begun_here=True) == Usage()


def test_odd_numbers_are_none(path: Path):
    path.write_text(
        '{"totalPremiumRequestCost": "many", "modelMetrics": {"m": {"usage": {"inputTokens": -5}}, "n": 7}}'
    )
    assert UsageMeter().read(path, "s", calls=0, begun_here=True).premium_requests is None


def test_pipes_and_links_in_its_place_are_not_read(path: Path, tmp_path: Path):
    path.symlink_to(total(tmp_path / "other", 1, 1))
    assert UsageMeter().read(path, "s", calls=0, begun_here=True) == Usage()
    os.mkfifo(tmp_path / "pipe")
    assert UsageMeter().read(tmp_path / "pipe", "s", calls=0, begun_here=True) == Usage()


def record(tokens_in: int, tokens_out: int) -> str:
    usage = {"inputTokens": tokens_in, "outputTokens": tokens_out, "cacheReadTokens": 0, "cost": 1.0}
    return json.dumps({"type": "session.usage_record", "data": {"usage": usage}}, separators=(",", ":")) + "\n"


def test_the_calls_of_a_turn_are_counted_while_it_goes_on(path: Path):
    path.write_text(record(5_000, 5))
    log = SessionLog(path)
    assert log.more() == Usage()
    with path.open("a") as file:
        file.write('{"type":"tool.execution_complete","data":{"result":"x"}}\n' + record(100, 1) + record(200, 2)[:40])
    assert log.more().tokens == 101
    with path.open("a") as file:
        file.write(record(200, 2)[40:])
    assert log.more().tokens == 202
    assert log.counted.tokens == 303


def test_a_log_that_comes_later_is_counted_from_its_beginning(path: Path):
    log = SessionLog(path)
    assert log.more() == Usage()
    path.write_text("x" * 3_000_000 + "\n" + record(7, 1))
    assert sum((log.more() for _ in range(4)), Usage()).tokens == 8


@pytest.mark.parametrize("line", ["", "[]", ',"data":5}', ',"data":{"usage":{"inputTokens":"many"}}}', "[" * 100_000])
def test_a_record_that_cannot_be_understood_counts_nothing(path: Path, line: str):
    log = SessionLog(path)
    path.write_text(f'{{"type":"session.usage_record"{line}\n')
    assert log.more() == Usage()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_a_log_that_was_replaced_is_not_waited_for(path: Path):
    log = SessionLog(path)
    os.mkfifo(path)
    assert log.more() == Usage()


def test_what_was_counted_meanwhile_is_not_counted_again(path: Path):
    meter = UsageMeter()
    first = meter.read(total(path, 300, 30), "s", calls=3, begun_here=True, counted=Usage(input_tokens=200))
    assert (first.input_tokens, first.output_tokens, first.model_calls) == (100, 30, 3)


def test_a_killed_turn_leaves_the_next_only_what_was_not_counted(path: Path):
    meter = UsageMeter()
    counted = Usage(input_tokens=200, output_tokens=20)
    assert meter.read(path, "s", calls=2, begun_here=True, counted=counted) == Usage(model_calls=2)
    assert meter.read(total(path, 350, 30), "s", calls=1, begun_here=True).tokens == 160
