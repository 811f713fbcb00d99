import pytest

from ralph.analysis import analyze_text

SCORES = [
    ("That's not a problem, I am sure.", 90),
    ("That is unlikely.", 20),
    ("Make sure to measure it and ensure that it holds.", 50),
    ("I am uncertain and it is unclear.", 20),
    ("It runs without tests.", 50),
    ("It works without a doubt.", 60),
    ("I doubt it.", 40),
    ("Sure, I can look at it.", 50),
    ("Maybe, maybe, maybe.", 40),  # covers: S0-48
    ("It will definitely, definitely work.", 60),  # covers: S0-53
    ("I am sure that it is certainly and definitely right.", 100),  # covers: S0-70
    ("Maybe it might, perhaps it could, basically, roughly, approximately, I think.", 0),  # covers: S0-71
    ("I'm not sure. Maybe it could.", 20),
    ("我不確定。", 20),
    ("我很確定。", 90),
]


def test_score(subtests: pytest.Subtests) -> None:
    for text, score in SCORES:
        with subtests.test(text=text):
            assert analyze_text(text).metrics.confidence == score


# covers: S0-68, S0-69
def test_every_word_that_moved_the_score_is_shown() -> None:
    pieces = analyze_text("It probably works, but it might definitely not.").evidence
    found = {(piece.signal, piece.text, piece.weight) for piece in pieces}
    assert {("certainty_cue", "probably", 60), ("hedge", "might", -10), ("certainty", "definitely", 10)} <= found
