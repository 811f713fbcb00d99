"""The verifier: documents of a workspace against claims, before a run may end."""

import os
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from ralph import Prompt, Runner, Turn
from ralph.errors import UsageError, VerifierError
from ralph.executors import Confinement
from ralph.plugins import VerifierContext
from ralph.system.secrets import Redactor
from ralph.testing import ScriptedExecutor, VerifierConformance
from ralph.types.verification import Verdict
from ralph.verifiers import Subject
from ralph.workspace import open_workspace
from ralph_grounding import GroundingVerifier
from ralph_grounding.plugin import ralph_verifiers
from ralph_grounding.settings import GroundingKeys, GroundingSettings

CLAIMS = """
- The museum opens at nine in the morning.
- A ticket costs 12 euros.
- statement: There is a café on the roof.
  importance: optional
"""
WHOLE = "# FAQ\n\nThe museum opens at nine in the morning. A ticket costs 12 euros.\n"
HALF = "# FAQ\n\nThe museum opens at nine in the morning.\n"
DONE = "---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: the FAQ is written\n---END_RALPH_STATUS---"


def verifier(**keys: object) -> GroundingVerifier:
    given = {"claims": "claims.yaml", "file": "FAQ.md", **keys}
    return GroundingVerifier(GroundingKeys.model_validate(given), GroundingSettings())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with claims and no document."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "claims.yaml").write_text(CLAIMS)
    return work


class TestAsEveryVerifier(VerifierConformance):
    @pytest.fixture
    def verifier(self) -> GroundingVerifier:
        return verifier()

    @pytest.fixture
    def holding(self, folder: Path) -> Subject:
        (folder / "FAQ.md").write_text(WHOLE)
        return Subject(folder)

    @pytest.fixture
    def failing(self, tmp_path: Path) -> Subject:
        other = tmp_path / "other"
        other.mkdir()
        (other / "claims.yaml").write_text(CLAIMS)
        (other / "FAQ.md").write_text(HALF)
        return Subject(other)


async def test_the_agent_is_told_what_is_missing_and_what_goes_against_a_claim(folder: Path) -> None:
    (folder / "FAQ.md").write_text("The museum is closed today. A ticket costs 15 euros.")
    verdict = await verifier().verify(Subject(folder))
    assert not verdict.passed
    assert verdict.output.splitlines() == [
        "Judged: FAQ.md",
        "- completeness is 0, but must be at least 100",
        "- missing: The museum opens at nine in the morning.",
        "- contradicted: A ticket costs 12 euros. (FAQ.md:1 says: A ticket costs 15 euros.)",
        "- 1 statement contradicts the facts, but at most 0 may",
    ]
    assert "missing: The museum opens" in verdict.signature
    assert "0" not in verdict.signature.replace("12", ""), "a score that moves is the same failure"


@pytest.mark.parametrize(("least", "passes"), [(50, True), (50.5, False), (100, False), (0, True)])
async def test_the_lowest_score_that_will_do_is_the_users(folder: Path, least: float, passes: bool) -> None:
    (folder / "FAQ.md").write_text(HALF)
    asked = verifier(min_completeness=least)
    assert (await asked.verify(Subject(folder))).passed is passes
    assert asked.condition == f"FAQ.md must agree with the facts: completeness at least {least:g} of 100"


@pytest.mark.parametrize(
    ("keys", "text", "said"),
    [
        ({"reference": "right.txt", "claims": ""}, "Bananas are yellow.", "accuracy is"),
        ({"domain": "lantern.example", "claims": ""}, WHOLE, "attribution is 0, but must be at least 50"),
        ({"brand": "Lantern, Beacon", "claims": ""}, WHOLE, "attribution is 0, but must be at least 50"),
        ({"min_accuracy": 10}, WHOLE, "accuracy was not measured"),
    ],
)
async def test_each_score_can_be_asked_for(folder: Path, keys: dict[str, object], text: str, said: str) -> None:
    (folder / "right.txt").write_text(WHOLE)
    (folder / "FAQ.md").write_text(text)
    assert said in (await verifier(**keys).verify(Subject(folder))).output
    (folder / "FAQ.md").write_text(f"{WHOLE}\nSee lantern.example, by Beacon.")
    better = await verifier(**keys).verify(Subject(folder))
    assert better.passed is ("min_accuracy" not in keys), better.output


async def test_what_it_was_told_first_counts(folder: Path) -> None:
    asked = verifier()
    assert not (await asked.verify(Subject(folder))).passed
    (folder / "claims.yaml").write_text("- Bananas are yellow.\n")
    (folder / "FAQ.md").write_text("Bananas are yellow.")
    assert not (await asked.verify(Subject(folder))).passed
    (folder / "claims.yaml").unlink()
    (folder / "FAQ.md").write_text(WHOLE)
    assert (await asked.verify(Subject(folder))).passed


# Which documents are judged


@pytest.mark.parametrize("text", [None, "", " \n\t"])
async def test_without_a_document_nothing_passes(folder: Path, text: str | None) -> None:
    if text is not None:
        (folder / "FAQ.md").write_text(text)
    verdict = await verifier(min_completeness=0).verify(Subject(folder))
    assert (verdict.passed, verdict.signature) == (False, "grounding: no document")
    assert "none with words in it matches FAQ.md" in verdict.output


async def test_several_patterns_and_all_their_documents_count(folder: Path) -> None:
    (folder / "docs" / "more").mkdir(parents=True)
    (folder / "docs" / "more" / "a.md").write_text("A ticket costs 12 euros.")
    (folder / "README.md").write_text("The museum opens at nine in the morning.")
    verdict = await verifier(file="docs/**/*.md, README.md").verify(Subject(folder))
    assert verdict.passed
    assert verdict.output == "Judged: README.md, docs/more/a.md"


@pytest.mark.parametrize("pattern", ["../secret.md", "FAQ.md", "linked/*.md", "**/*"])
async def test_nothing_outside_of_the_workspace_is_read(folder: Path, pattern: str) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    for place in (outside / "secret.md", folder.parent / "secret.md"):
        place.write_text(WHOLE)
    (folder / "FAQ.md").symlink_to(outside / "secret.md")
    (folder / "linked").symlink_to(outside)
    (folder / "loop").symlink_to(folder / "loop")
    verdict = await verifier(file=pattern).verify(Subject(folder))
    assert not verdict.passed
    if pattern != "../secret.md":
        assert "was not judged: it is a link, or cannot be read" in verdict.output


async def test_the_claims_themselves_are_no_document(folder: Path) -> None:
    verdict = await verifier(file="*.yaml,./claims.yaml,**/*").verify(Subject(folder))
    assert verdict.signature == "grounding: no document"


async def test_a_pipe_and_a_folder_do_not_hold_it_up(folder: Path) -> None:
    os.mkfifo(folder / "FAQ.md")
    (folder / "b.md").mkdir()
    began = time.monotonic()
    assert not (await verifier(file="*.md").verify(Subject(folder))).passed
    assert time.monotonic() - began < 20


async def test_a_pattern_that_is_none_stops_the_run_before_it_begins(folder: Path) -> None:
    with pytest.raises(VerifierError, match="'/etc/\\*' is not valid"):
        await verifier(file="/etc/*").verify(Subject(folder))


def written_by(*names: str) -> Callable[[int], Awaitable[str]]:
    async def difference(limit: int) -> str:
        parts = (f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -0,0 +1 @@\n+x\n" for name in names)
        return "".join(parts)[:limit]

    return difference


async def test_without_a_pattern_the_documents_that_the_run_has_changed_are_judged(folder: Path) -> None:
    (folder / "FAQ.md").write_text(WHOLE)
    (folder / "old.md").write_text("Old.")
    (folder / "code.py").write_text(WHOLE)
    asked = verifier(file="")
    assert "the documents that you change" in asked.condition
    changed = await asked.verify(Subject(folder, difference=written_by("FAQ.md", "claims.yaml", "code.py")))
    assert (changed.passed, changed.output) == (True, "Judged: FAQ.md")
    other = await asked.verify(Subject(folder, difference=written_by("old.md", "code.py", "gone.md", "../FAQ.md")))
    assert not other.passed
    assert other.output.startswith("Judged: old.md\n")
    nothing = await asked.verify(Subject(folder, difference=written_by()))
    assert "none with words in it has been changed" in nothing.output


async def test_without_git_all_documents_are_judged_but_hidden_ones(folder: Path) -> None:
    for place in (".hidden", "node_modules"):
        (folder / place).mkdir()
        (folder / place / "x.md").write_text("A ticket costs 12 euros.")
    (folder / "FAQ.md").write_text(HALF)
    (folder / "data.json").write_text(WHOLE)
    verdict = await verifier(file="").verify(Subject(folder))
    assert verdict.output.startswith("Judged: FAQ.md\n")
    assert not verdict.passed


@pytest.fixture
def repository(folder: Path) -> Path:
    """The workspace under git, all committed."""
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "start")):
        subprocess.run(("git", *identity, *words), cwd=folder, check=True, capture_output=True)
    return folder


async def test_a_changed_document_with_any_name_is_found_by_real_git(repository: Path) -> None:
    def writes(name: str, text: str) -> Callable[[Prompt, Turn], str]:
        def turn_of_the_agent(_prompt: Prompt, turn: Turn) -> str:
            (turn.workspace / name).write_text(text)
            return DONE

        return turn_of_the_agent

    executor = ScriptedExecutor([writes('Fragen & "Antworten" für 客.md', HALF), writes("two words.md", WHOLE)])
    asked = verifier(file="")
    async with Runner(executor=executor, workspace=open_workspace(repository), verify=[asked]) as runner:
        record = await runner.run("Write the FAQ.")
    assert (record.stop_reason, record.iterations, record.verified) == ("completed", 2, True)
    assert "客.md" in executor.prompts[1].text
    assert "missing: A ticket costs 12 euros." in executor.prompts[1].text


@pytest.mark.parametrize(
    "text",
    [
        f"<!-- {WHOLE} -->\nNothing here.",
        f"Nothing here.\n\n<!--\n{WHOLE}",
        "Nothing here.\n\n[//]: # (The museum opens at nine in the morning. A ticket costs 12 euros.)",
    ],
)
async def test_a_claim_that_no_reader_sees_is_missing(folder: Path, text: str) -> None:
    (folder / "FAQ.md").write_text(text)
    verdict = await verifier().verify(Subject(folder))
    assert not verdict.passed
    assert "- missing: A ticket costs 12 euros." in verdict.output


@pytest.mark.parametrize(
    "text",
    [
        f"<!-- Written by hand:\nA ticket costs 15 euros. -->\n\n{WHOLE}",
        f"Comments open with `<!--` here.\n\n{WHOLE}",
        "<!-- one --> The museum opens at nine in the morning. <!-- two --> A ticket costs 12 euros.",
    ],
)
async def test_comments_are_not_judged_and_hide_nothing_else(folder: Path, text: str) -> None:
    (folder / "FAQ.md").write_text(text)
    assert (await verifier().verify(Subject(folder))).passed


async def test_a_statement_below_a_comment_stands_in_its_own_line(folder: Path) -> None:
    (folder / "FAQ.md").write_text("<!-- one\ntwo -->\n\nA ticket costs 15 euros.\n")
    assert "(FAQ.md:4 says: A ticket costs 15 euros.)" in (await verifier().verify(Subject(folder))).output


def test_unsupported_statements_are_counted_with_a_ground_truth_only() -> None:
    with pytest.raises(UsageError, match="max_unsupported needs a ground truth"):
        verifier(max_unsupported=0)


async def test_what_is_too_long_to_be_judged_is_told_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ralph_grounding.loop.documents._MOST_BYTES", 20_000)
    (folder / "FAQ.md").write_text("The building was once a lighthouse. " * 600 + WHOLE)
    verdict = await verifier().verify(Subject(folder))
    assert not verdict.passed
    assert "Only the first 20,000 bytes were judged" in verdict.output


@pytest.mark.long
async def test_two_million_characters_are_judged_without_stopping_everything_else(folder: Path) -> None:
    (folder / "FAQ.md").write_text("The building was once a lighthouse, and a tall one. " * 35_000 + WHOLE)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.02)
            ticks += 1

    verdicts: list[Verdict] = []
    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        verdicts.append(await verifier().verify(Subject(folder)))
        group.cancel_scope.cancel()
    assert verdicts[0].passed, verdicts[0].output
    assert ticks > 3


# Every statement counts

WRONG = "# FAQ\n\nThe museum opens at ten in the morning. A ticket costs 15 euros.\n"
NOTES = "\n## Notes\n\nThe museum opens at nine in the morning. A ticket costs 12 euros.\n"
OWN_WORDS = "# FAQ\n\nYou pay €12 for a ticket.\n\nIn the morning, the museum opens at nine.\n"
FACTS = "# Visit\n\nThe museum opens at nine in the morning. A ticket costs 12 euros. Dogs are not allowed inside.\n"


def writes_faq(text: str) -> Callable[[Prompt, Turn], str]:
    def turn_of_the_agent(_prompt: Prompt, turn: Turn) -> str:
        (turn.workspace / "FAQ.md").write_text(text)
        return DONE

    return turn_of_the_agent


async def test_claims_appended_below_wrong_facts_do_not_complete_a_run(repository: Path) -> None:
    """An agent that adds the claims under "Notes" is held back; one that answers in its own words is not."""
    executor = ScriptedExecutor([writes_faq(WRONG + NOTES), writes_faq(OWN_WORDS)])
    async with Runner(executor=executor, workspace=open_workspace(repository), verify=[verifier()]) as runner:
        record = await runner.run("Write the FAQ.")
    assert (record.stop_reason, record.iterations, record.verified) == ("completed", 2, True)
    told = executor.prompts[1].text
    assert "2 statements contradict the facts, but at most 0 may" in told
    assert "contradicted: A ticket costs 12 euros. (FAQ.md:3 says: A ticket costs 15 euros.)" in told
    assert "(FAQ.md:3 says: The museum opens at ten in the morning.)" in told


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        (FACTS, True),
        ("A ticket is 12 euros. Dogs may not come inside.", True),
        ("A ticket costs 15 euros.", False),
        (f"{FACTS}\nDogs are allowed inside.", False),
        (f"Dogs are allowed inside.\n{FACTS}", False),
    ],
)
async def test_ground_truth_alone_is_enough(folder: Path, text: str, passes: bool) -> None:
    (folder / "facts").mkdir()
    (folder / "facts" / "visit.md").write_text(FACTS)
    (folder / "FAQ.md").write_text(text)
    asked = verifier(claims="", ground_truth="facts")
    verdict = await asked.verify(Subject(folder))
    assert verdict.passed is passes, verdict.output
    assert asked.condition == "FAQ.md must agree with the facts: at most 0 statements that contradict them"


async def test_how_many_statements_may_lack_support_is_the_users_choice(folder: Path) -> None:
    (folder / "facts.md").write_text(FACTS)
    (folder / "FAQ.md").write_text(f"{FACTS}\nThe lantern was lit by a whale.\n")
    keys = {"claims": "", "ground_truth": "facts.md"}
    strict = await verifier(**keys, max_unsupported=0).verify(Subject(folder))
    assert "unsupported: The lantern was lit by a whale. (FAQ.md:5)" in strict.output
    assert strict.signature == "unsupported: The lantern was lit by a whale."
    assert (await verifier(**keys, max_unsupported=1).verify(Subject(folder))).passed
    assert (await verifier(**keys).verify(Subject(folder))).passed


async def test_some_contradictions_may_be_accepted(folder: Path) -> None:
    (folder / "FAQ.md").write_text(WRONG + NOTES)
    assert not (await verifier(max_contradictions=1, min_completeness=0).verify(Subject(folder))).passed
    assert (await verifier(max_contradictions=2, min_completeness=0).verify(Subject(folder))).passed


# What it is asked


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        (None, "cannot be read: No such file"),
        ("- 1\n- {statement: ''}\n", "claims.yaml"),
        ("{unclosed", "claims.yaml"),
        ("", "claims.yaml"),
        ("\0", "claims.yaml"),
    ],
)
async def test_claims_that_are_none_are_told_of_before_the_run(folder: Path, claims: str | None, said: str) -> None:
    (folder / "claims.yaml").unlink()
    if claims is not None:
        (folder / "claims.yaml").write_text(claims)
    with pytest.raises(VerifierError, match="'grounding' cannot start") as raised:
        await verifier().verify(Subject(folder))
    assert said in str(raised.value)
    assert raised.value.remedy


async def test_ground_truth_that_cannot_be_read_is_told_of_before_the_run(folder: Path) -> None:
    with pytest.raises(VerifierError, match="nowhere"):
        await verifier(ground_truth="nowhere").verify(Subject(folder))


def test_without_anything_to_hold_a_document_against_there_is_no_verifier(folder: Path) -> None:
    (kind,) = ralph_verifiers()
    materials = VerifierContext(ScriptedExecutor(), Redactor(), Confinement(workspace=folder))
    with pytest.raises(UsageError, match="has nothing to hold a document against"):
        kind.build(GroundingKeys(file="FAQ.md"), materials)
