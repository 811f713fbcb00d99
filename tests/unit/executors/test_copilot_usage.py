import json
import os
from pathlib import Path

import pytest

from ralph.executors.copilot_usage import UsageMeter
from ralph.output import Usage


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
