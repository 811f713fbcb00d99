"""Numbers as people write them: in digits, or the first ten in words."""

__all__ = ["COUNT", "NUMBERS", "counted"]

_TEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_CHINESE = "一二三四五六七八九十"
_WORDS = (
    {word: count for count, word in enumerate(_TEN, start=1)}
    | {word: count for count, word in enumerate(_CHINESE, start=1)}
    | {"both": 2, "兩": 2, "两": 2}
)

COUNT = rf"(?:\d{{1,6}}|{'|'.join(_TEN)}|both)"
"""A number in lower case, as a part of a pattern."""
NUMBERS = (*"0123456789０１２３４５６７８９", *_WORDS)
"""What every number has one of."""


def counted(said: str) -> int:
    """What a number says that `COUNT`, or a Chinese digit, has found."""
    return _WORDS.get(said) or int(said)
