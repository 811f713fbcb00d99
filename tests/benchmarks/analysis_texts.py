"""Texts to measure and to frighten the analysis with: ordinary replies of any size, and hostile ones.

Everything here is deterministic. `ordinary(size)` and every text of `HOSTILE` take a size in characters and give a text
of exactly that size.
"""

from collections.abc import Callable, Mapping
from itertools import count
from random import Random

__all__ = ["HOSTILE", "ordinary", "planted"]

Text = Callable[[int], str]

_FILES = (
    "src/auth/session.py",
    "tests/test_login.py",
    "app/models/user.ts",
    "README.md",
    "lib/cache/store.go",
    "Cargo.toml",
)
_NAMES = ("SessionStore", "parse_header", "useAccount", "RateLimiter", "migrate_users", "render_table", "TokenCache")
_THINGS = (
    *("the login form", "the session cache", "the retry policy", "the import of old records", "the search index"),
    *("the settings page", "the export to CSV", "the password reset", "the upload of images", "the audit log"),
)
_SENTENCES = (
    "I looked at how {thing} is put together before touching anything.",
    "The change in `{file}` moves {thing} behind `{name}`, so that callers no longer know where the data lives.",
    "{count} tests cover this now, and the slowest of them takes {count} ms.",
    "I updated {file} and added a case for an empty list to `{name}`.",
    "This is not wired into {thing} yet, because the route still expects the old shape.",
    "There was an error in how `{name}` rounded its values; it is fixed in {file}.",
    "Next I will go through {thing} and remove what nobody calls any more.",
    "The documentation says otherwise, but {thing} reads its settings from the environment first.",
    "About {count} of the lines in {file} were only moved, not changed.",
    "I think {thing} may deserve a test of its own, although nothing fails today.",
    "Running the suite again gave the same result: {count} passed, 2 skipped.",
    "`{name}` now takes a time-out in seconds, which {thing} passes on unchanged.",
    "A warning about {thing} remains in the build log, and I left it as it was.",
    "The migration of {thing} is complete, and {file} is no longer needed.",
    "Should the limit for {thing} be {count} or more, tell me and I will raise it.",
    "Nothing else depends on it, so {thing} could be dropped in a later release.",
)
_CODE = """```python
def {name}(rows: list[str]) -> int:
    # the first {count} rows are a header
    return sum(len(row) for row in rows[{count}:])
```"""


def ordinary(size: int, seed: int = 1) -> str:
    """Replies of a coding agent one after another: prose, headings, lists, tables, checklists, paths, code."""
    random, pieces, length = Random(seed), [], 0
    for number in count(1):
        piece = _reply(random, number)
        pieces.append(piece)
        length += len(piece)
        if length >= size:
            break
    return "".join(pieces)[:size]


def _reply(random: Random, number: int) -> str:
    def filled(text: str) -> str:
        return text.format(
            thing=random.choice(_THINGS),
            file=random.choice(_FILES),
            name=random.choice(_NAMES),
            count=random.randint(3, 400),
        )

    def said(least: int, most: int) -> list[str]:
        return [filled(random.choice(_SENTENCES)) for _ in range(random.randint(least, most))]

    parts = [f"## Pass {number}: {random.choice(_THINGS)}", " ".join(said(2, 5)), " ".join(said(1, 4))]
    parts.append("\n".join(f"- {line}" for line in said(2, 5)))
    if random.random() < 0.6:
        parts.append(filled(_CODE))
    if random.random() < 0.3:
        parts.append("| file | lines |\n|---|---|\n" + "\n".join(filled("| {file} | {count} |") for _ in range(4)))
    parts.append(" ".join(said(1, 3)))
    return "\n\n".join(parts) + "\n\n"


def planted(size: int, cue: str, share: float) -> str:
    """An ordinary text with a cue in it that stands by itself: at its start (0), its end (1) or in between."""
    text = ordinary(size, seed=7)
    at = round(share * len(text))
    line = text.find("\n\n## ", at) if 0 < share < 1 else at
    return f"{text[:line]}\n\n{cue}\n\n{text[line:]}"


def _repeated(piece: str, before: str = "", after: str = "") -> Text:
    def text(size: int) -> str:
        room = max(0, size - len(before) - len(after))
        return (before + (piece * (room // len(piece) + 1))[:room] + after)[:size]

    return text


def _noise(alphabet: str) -> Text:
    def text(size: int) -> str:
        random = Random(size)
        block = "".join(random.choices(alphabet, k=min(size, 50_000)))
        return (block * (size // max(1, len(block)) + 1))[:size]

    return text


_BLOCK = "---RALPH_STATUS---\nEXIT_SIGNAL: false\nSTATUS: IN_PROGRESS\n---END_RALPH_STATUS---\n"

HOSTILE: Mapping[str, Text] = {
    "letters": _repeated("a"),
    "one line": _repeated("all of it is here and there, and so on and on; "),
    "spaces": _repeated(" "),
    "line feeds": _repeated("\n"),
    "carriage returns": _repeated("\r"),
    "CRLF": _repeated("The work goes on.\r\n"),
    "tabs": _repeated("\t"),
    "form feeds": _repeated("\f\v\x1c\x85\u2028"),
    "parentheses": _repeated("("),
    "brackets": _repeated("["),
    "braces": _repeated("{"),
    "nested brackets": _repeated("([{"),
    "quotes": _repeated(">"),
    "quoted lines": _repeated("> done\n"),
    "deep quotes": _repeated("> > > > > > > > > > done\n"),
    "fences": _repeated("```\n"),
    "unclosed fence": _repeated("def f(): return done\n", before="```python\n"),
    "unclosed fences": _repeated("```python\ncode done\n"),
    "tilde fences": _repeated("~~~\ncode\n"),
    "growing fences": lambda size: "\n".join("`" * (3 + index % 900) for index in range(size // 400 + 2))[:size],
    "backticks": _repeated("`"),
    "backticks apart": _repeated("` "),
    "quotation marks": _repeated('"'),
    "open quotation": _repeated('"a b c '),
    "typographic quotes": _repeated("“"),
    "corner brackets": _repeated("「"),
    "apostrophes": _repeated("it's not "),
    "asterisks": _repeated("*"),
    "underscores": _repeated("_"),
    "dashes": _repeated("-"),
    "rules": _repeated("-----\n"),
    "equals": _repeated("======\n"),
    "headings": _repeated("## done\n"),
    "empty headings": _repeated("# \n"),
    "error headings": _repeated("## Errors\n"),
    "tables": _repeated("| done | error | 5 % |\n"),
    "bars": _repeated("|"),
    "boxes": _repeated("- [ ] "),
    "box lines": _repeated("- [ ] add a test\n"),
    "ticked lines": _repeated("- [x] add a test\n"),
    "bullets": _repeated("- "),
    "numbered lines": _repeated("1. done\n"),
    "done": _repeated("done "),
    "done sentences": _repeated("Done. "),
    "not done": _repeated("not ", after="done"),
    "nots": _repeated("not done, "),
    "future": _repeated("will be done once "),
    "but": _repeated("done but "),
    "still": _repeated("It is done and still "),
    "done in one sentence": _repeated("complete and finished and all tests pass and "),
    "all tests passing": _repeated("All tests passing. "),
    "all 1": _repeated("all 1 "),
    "no": _repeated("no "),
    "make sure": _repeated("make "),
    "first words": _repeated("all no ready nothing task the is and not in "),
    "questions": _repeated("Shall I go on? "),
    "question marks": _repeated("?"),
    "stops": _repeated("."),
    "sentences": _repeated("a. "),
    "one letter lines": _repeated("a\n"),
    "percent signs": _repeated("%"),
    "percentages": _repeated("50% done "),
    "shares": _repeated("3 of 8 done, "),
    "bare percentages": _repeated("9%"),
    "bare fractions": _repeated("1/2 "),
    "fractions in clauses": _repeated("1/2, "),
    "bare counts": _repeated("1 of 2 "),
    "tenths": _repeated("七成"),
    "items of them": _repeated("9 items 2 "),
    "error": _repeated("error "),
    "error lines": _repeated("Error: it failed in line 5\n"),
    "no errors": _repeated("no errors found, "),
    "exit codes": _repeated("exit code 1 "),
    "permission denied": _repeated("permission denied\n"),
    "maybe": _repeated("maybe it might perhaps "),
    "sure": _repeated("I am sure. "),
    "blocked": _repeated("I am blocked. "),
    "please": _repeated("Please let me know. "),
    "quota": _repeated("You have hit your usage limit. "),
    "rate limit": _repeated("rate limit "),
    "digits": _repeated("1"),
    "numbers": _repeated("1 "),
    "passed": _repeated("1 passed "),
    "tests passed": _repeated("5 tests passed, 1 failed\n"),
    "passed:": _repeated("passed: 5 "),
    "FAIL": _repeated("FAIL "),
    "FAIL lines": _repeated("FAIL x\n"),
    "ok lines": _repeated("ok  \tgithub.com/a/b\t0.01s\n"),
    "pytest lines": _repeated("tests/test_a.py::test_b PASSED [ 50%]\n"),
    "colons": _repeated("a::"),
    "fixed": _repeated("fixed the a b c "),
    "modified": _repeated("modified 5 "),
    "wrote": _repeated("wrote a/b/c/d/e/"),
    "paths": _repeated("a/"),
    "path and file": _repeated("updated src/a/b/c.py, "),
    "hexadecimal": _repeated("0123456789abcdef"),
    "openers": _repeated("---RALPH_STATUS---\n"),
    "closers": _repeated("---END_RALPH_STATUS---\n"),
    "blocks": _repeated(_BLOCK),
    "block in one line": _repeated("---RALPH_STATUS--- "),
    "long block": _repeated("KEY: value\n", before="---RALPH_STATUS---\n", after="---END_RALPH_STATUS---"),
    "signals": _repeated("EXIT_SIGNAL: true\n"),
    "signals in one line": _repeated("EXIT_SIGNAL: true "),
    "yaml": _repeated("RALPH_STATUS:\n  EXIT_SIGNAL: true\n"),
    "json": _repeated('RALPH_STATUS: {"a": '),
    "json nests": _repeated("[", before="RALPH_STATUS: "),
    "json objects": _repeated('{"RALPH_STATUS": {"EXIT_SIGNAL": true}}\n'),
    "promises": _repeated("<promise>DONE</promise>\n"),
    "promise": _repeated("<promise>"),
    "think": _repeated("<think>"),
    "thinking": _repeated("<thinking>a</thinking>"),
    "comments": _repeated("<!--"),
    "comment ends": _repeated("-->"),
    "tags": _repeated("<"),
    "NUL": _repeated("\0"),
    "NULs between": _repeated("done\0"),
    "surrogates": _repeated("\ud800"),
    "surrogates between": _repeated("done \udfff"),
    "bidi marks": _repeated("\u202edone\u202c "),
    "combining marks": _repeated("a\u0301\u0300\u0302"),
    "zero width": _repeated("d\u200bone "),
    "dotted I": _repeated("İ"),
    "dotted I between": _repeated("İ done "),
    "sharp s": _repeated("ẞß "),
    "emoji": _repeated("✅ 🎉"),
    "families": _repeated("👩\u200d👩\u200d👧 done "),
    "done (Chinese)": _repeated("完成"),
    "done sentences (Chinese)": _repeated("已完成。"),
    "not done (Chinese)": _repeated("尚未完成，"),
    "dense (Chinese)": _repeated("全部完成但是還沒有測試，錯誤已修復，下一步可能需要您的確認。"),
    "ideographs": _repeated("的"),
    "errors (Chinese)": _repeated("錯誤"),
    "full stops (Chinese)": _repeated("。"),
    "long words": _repeated("pneumonoultramicroscopicsilicovolcanoconiosis" * 50 + " "),
    "dashes between": _repeated("done-"),
    "slashes between": _repeated("done/"),
    "stars between": _repeated("all ** tests ** pass ** "),
    "noise": _noise("abcdefghijklmnopqrstuvwxyz ,.\n"),
    "marks": _noise("`~*_#>|-[]()\"'“”「」『』<>!?.:;,%/\\ \n"),
    "any": _noise("a1 \n\t\0\r`*_#>|-[](){}\"'?!.:,;%/\\<>İß完成未不。？\u0301\u202e\ud800😀xX"),
}
"""Texts that try to be slow or to break something, by name."""
