"""The parameters that are shipped, and the scale on which all similarities are told."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_grounding.similarity.calibration import DECISION, calibrated, lexical_parameters
from ralph_grounding.similarity.claim import prepare_claims
from ralph_grounding.similarity.thesaurus import opposites, synonyms
from ralph_grounding.text.language import stem

TOWNS = ["Aarau", "Bremen", "Celle", "Dublin", "Essen", "Fulda", "Genoa", "Hanau", "Imola", "Jena", "Kiel", "Leeds"]
UNIT = st.floats(0, 1)
POINTS = st.floats(0.01, 0.99)


# covers: S3-23, S3-37
@given(UNIT, UNIT, POINTS)
def test_a_higher_raw_value_never_has_a_lower_calibrated_one(one: float, other: float, point: float) -> None:
    low, high = sorted((one, other))

    assert 0 <= calibrated(low, point) <= calibrated(high, point) <= 1


@given(POINTS)
def test_the_ends_and_the_decision_point_stay_where_they_are(point: float) -> None:
    assert calibrated(0, point) == 0
    assert calibrated(point, point) == DECISION
    assert calibrated(1, point) == 1


@given(st.floats(allow_nan=False), POINTS)
def test_what_lies_outside_is_taken_for_the_nearest_end(raw: float, point: float) -> None:
    assert 0 <= calibrated(raw, point) <= 1


def test_the_shipped_parameters_weigh_as_they_should() -> None:
    parameters = lexical_parameters()

    assert 0.3 < parameters.decision < 0.9
    assert parameters.weights.number > 0 > parameters.weights.function
    assert parameters.weights.shared < 0


def test_telling_words_weigh_more_than_others() -> None:
    (claim,) = prepare_claims(["The administration of the plan requires 500 people in Lüdenscheid"], "en")
    weights = {word.token.word: word.weight for word in claim.tokens}

    assert weights["the"] < weights["people"] < weights["administration"] < weights["lüdenscheid"]
    assert weights["people"] < weights["500"]


def test_what_is_a_synonym_is_one_both_ways_and_no_opposite() -> None:
    for word in ("increase", "buy", "begin", "doctor", "enable", "free"):
        root = stem(word, "en")
        assert all(root in synonyms(other, "en") for other in synonyms(root, "en"))
        assert all(root in opposites(other, "en") for other in opposites(root, "en"))
        assert root not in opposites(root, "en")
    assert synonyms(stem("buy", "en"), "de") == ()


@pytest.mark.long
def test_the_fitting_script_finds_what_tells_claims_apart(tmp_path: Path) -> None:
    responses = [f"In {town} the bridge of {town} has {number} lamps." for number, town in enumerate(TOWNS, start=11)]
    rows = [
        {
            "id": f"own-{number}-x",
            "response": response,
            "claims": [
                response,
                f"{town} has a bridge.",
                f"The mayor of {town} resigned.",
                f"The bridge has {number} lamps.",
            ],
            "labels": [1, 1, 0, 0],
        }
        for number, (town, response) in enumerate(zip(TOWNS, responses, strict=True), start=50)
    ]
    data = tmp_path / "claims.jsonl"
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    script = Path(__file__).with_name("fit_lexical.py")

    # Several threads for matrices of this size would wait for each other most of the time.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, script, data, "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True, env=environment)

    assert json.loads(done.stdout).keys() == json.loads(lexical_parameters().model_dump_json()).keys()
    assert "48 claims, 12 documents" in done.stderr
