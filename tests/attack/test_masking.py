"""A hostile agent prints a secret that a terminal shows whole, but that is not whole in the text."""

import random
from pathlib import Path

import pytest

from ralph.decision.limits import Limits
from ralph.executors.base import Message, ToolFinished, ToolStarted, Transcript
from ralph.loop.runner import Runner
from ralph.store import MemoryStore
from ralph.system.secrets import MASK, Redactor
from ralph.system.text import printable
from ralph.testing import ScriptedExecutor, writes
from ralph.types.output import Failed
from ralph.workspace import open_workspace

pytestmark = pytest.mark.attack

_FILLER = "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
SECRETS = {
    "a token": "ghp" + "_" + _FILLER + "0123",
    "a key": "sk" + "-ant-api03-" + _FILLER,
    "an identity": "AKIA" + "IOSFODNN7EXAMPLE",
    "a given value": "correct-horse-battery",
    "a value with spaces": "correct horse battery",
}
BETWEEN = {
    "zero-width space": "\u200b",
    "zero-width joiner": "\u200d",
    "word joiner": "\u2060",
    "byte order mark": "\ufeff",
    "soft hyphen": "\u00ad",
    "selector": "\ufe0f",
    "far selector": "\U000e0101",
    "tag": "\U000e0041",
    "grapheme joiner": "\u034f",
    "filler": "\u3164",
    "bidi": "\u202a",
    "line separator": "\u2028",
    "colour": "\x1b[1;31m",
    "8-bit control": "\x84",
    "cursor": "\x1b[0C",
    "hyperlink": "\x1b]8;;https://example.com\x1b\\",
    "title": "\x1b]0;x\x07",
    "device control": "\x1bPq\x1b\\",
    "lone escape": "\x1b",
    "bell": "\x07",
    "backspace": "\x08",
    "delete": "\x7f",
    "shift": "\x0e\x0f",
    "form feed": "\x0c",
    "two": "\u200b\x1b[0m",
    "escape behind an emoji's mark": "\x1b[m\ufe0f\u200d",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_in_parts_is_masked_as_the_whole(kind: str, subtests: pytest.Subtests) -> None:
    secret, chance = SECRETS[kind], random.Random(kind)
    redactor = Redactor([SECRETS["a given value"], SECRETS["a value with spaces"]])
    for name, between in BETWEEN.items():
        for at in (1, 3, 5, len(secret) // 2, len(secret) - 1):
            text = f"It is {secret[:at]}{between}{secret[at:]} here."
            with subtests.test(between=name, at=at):
                assert printable(redactor(text)) == f"It is {MASK} here."
                stream, cuts = redactor.stream(), sorted(chance.choices(range(len(text) + 1), k=6))
                pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
                assert "".join([*map(stream.feed, pieces), stream.flush()]) == f"It is {MASK} here."
        with subtests.test(between=name, at="everywhere"):
            assert redactor(between.join(secret)) == MASK


def test_no_text_of_a_turn_holds_such_a_secret() -> None:
    secret = "\u200b".join(SECRETS["a token"])
    seen: list[object] = []
    transcript = Transcript(seen.append)
    for letter in secret:
        transcript.delta(letter)
    transcript.message(secret)
    transcript.tool_started("1", f"tool {secret}", secret)
    transcript.tool_finished("1", success=True, result=secret)
    transcript.diagnosed(secret)
    transcript.model = transcript.session_id = transcript.diagnostics = secret
    output = transcript.finish(Failed(failure="protocol", message=secret))

    assert {type(event) for event in seen} >= {Message, ToolStarted, ToolFinished}
    assert _FILLER not in printable(f"{seen} {output!r}", 100_000)
    assert output.model == MASK


async def test_names_of_changed_files_are_masked(tmp_path: Path) -> None:
    secret = SECRETS["a token"]
    hidden = f"{secret[:10]}\u200b{secret[10:]}"
    store, folder = MemoryStore(), tmp_path / "work"
    (folder / "kept").mkdir(parents=True)
    (folder / "kept" / secret).write_text("as it was")
    replies = [writes(name, "x", "Working.") for name in (f"{secret}.txt", f"{hidden}.md", f"kept/{secret}")]
    workspace = open_workspace(folder, protect=["kept/**"], state_dir=tmp_path / "state")
    limits = Limits(max_iterations=3)
    async with Runner(executor=ScriptedExecutor(replies), store=store, workspace=workspace, limits=limits) as runner:
        run = await runner.run("Go.")
        changed = [each.changes.files async for each in store.iterations(run.id)]
        kept = [event.model_dump_json() async for event in store.events(run.id)]
    assert changed[:2] == [(f"{MASK}.txt",), (f"{MASK}.md",)]
    assert any("protected_restored" in event for event in kept)
    assert not [event for event in kept if _FILLER in printable(event, 100_000)]
