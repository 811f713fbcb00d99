"""A FAQ that the real Copilot CLI writes, held against claims until it makes them; only the model is scripted."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import EditFile, ModelServer, Say, Shell, WriteFile

pytestmark = pytest.mark.timeout(90)

DONE = Say("All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: the FAQ is written\n---END_RALPH_STATUS---")
TASK = "Write FAQ.md from what you know of the museum"
CLAIMS = """- The museum opens at nine in the morning.
- A ticket costs 12 euros.
- statement: There is a café on the roof.
  importance: optional
"""
OPENS = "The museum opens at nine in the morning."
HALF = WriteFile("FAQ.md", f"# FAQ\n{OPENS}\n")
WHOLE = EditFile("FAQ.md", OPENS, f"{OPENS}\nA ticket costs 12 euros.")
EXECUTORS = pytest.mark.parametrize("executor", ["copilot-sdk", pytest.param("copilot-cli", marks=pytest.mark.long)])


@pytest.fixture
def claimed(workspace: Path) -> Path:
    """A repository with claims in it."""
    (workspace / "claims.yaml").write_text(CLAIMS)
    return workspace


def asking(server: ModelServer, workspace: Path, verifier: str, executor: str = "copilot-sdk") -> tuple[str, ...]:
    where = ("-C", str(workspace), "--base-url", server.base_url, "--model", "m", "--display", "json")
    return ("run", TASK, "--executor", executor, "--verifier", verifier, *where)


# covers: S3-6, S3-9, S3-81
@EXECUTORS
def test_a_faq_is_held_back_until_the_missing_claim_is_in(
    ralph: Callable[..., Any], claimed: Path, executor: str
) -> None:
    with ModelServer([HALF, DONE, WHOLE, DONE]) as server:
        verifier = "grounding:claims=claims.yaml,file=FAQ.md,min_completeness=80"
        ran = ralph(*asking(server, claimed, verifier, executor))
        first, second = server.prompts[:2]
    assert ran.code == 0, ran.stderr
    assert (ran.end["stop_reason"], ran.end["verified"], ran.end["iterations"]) == ("completed", True, 2)
    assert "FAQ.md must agree with the facts: completeness at least 80 of 100" in first
    assert "missing: A ticket costs 12 euros." in second
    assert "café" not in second, "what is optional is not asked for"
    verified = ran.of("verification_finished")
    assert [event["passed"] for event in verified] == [False, False, True]
    assert "There is no document to judge" in verified[0]["verdicts"][0]["output"]


@pytest.mark.long
def test_claims_that_the_agent_rewrites_stay_what_they_were(ralph: Callable[..., Any], claimed: Path) -> None:
    cheat = Shell("echo '- Bananas are yellow.' > claims.yaml && echo 'Bananas are yellow.' > FAQ.md")
    honest = Shell(f"echo '{OPENS} A ticket costs 12 euros.' > FAQ.md")
    with ModelServer([cheat, DONE, honest, DONE]) as server:
        ran = ralph(*asking(server, claimed, "grounding:claims=claims.yaml,file=FAQ.md"))
        told = server.prompts[1]
    assert ran.code == 0, ran.stderr
    assert (ran.end["verified"], ran.end["iterations"]) == (True, 2)
    assert "missing: The museum opens at nine in the morning." in told


@pytest.mark.parametrize("git", [True, False])
@pytest.mark.long
def test_without_a_pattern_what_the_agent_wrote_is_judged(ralph: Callable[..., Any], claimed: Path, git: bool) -> None:
    if not git:
        shutil.rmtree(claimed / ".git")
    with ModelServer([HALF, DONE, WHOLE, DONE]) as server:
        ran = ralph(*asking(server, claimed, "grounding:claims=claims.yaml"))
        told = server.prompts[1]
    assert ran.code == 0, ran.stderr
    assert (ran.end["verified"], ran.end["iterations"]) == (True, 2)
    judged = next(line for line in told.splitlines() if "Judged: " in line)
    assert judged.endswith("Judged: FAQ.md"), "README.md was there before"


@pytest.mark.long
def test_a_document_that_is_a_link_out_of_the_workspace_is_not_judged(
    ralph: Callable[..., Any], claimed: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside.md").write_text(f"{OPENS} A ticket costs 12 euros.")
    link = Shell(f"ln -s {tmp_path / 'outside.md'} FAQ.md")
    written = Shell(f"rm FAQ.md && cp {tmp_path / 'outside.md'} FAQ.md")
    with ModelServer([link, DONE, written, DONE]) as server:
        ran = ralph(*asking(server, claimed, "grounding:claims=claims.yaml,file=FAQ.md"))
        told = server.prompts[1]
    assert ran.code == 0, ran.stderr
    assert (ran.end["verified"], ran.end["iterations"]) == (True, 2)
    assert "FAQ.md was not judged: it is a link, or cannot be read" in told


def test_a_verifier_that_cannot_begin_costs_nothing(ralph: Callable[..., Any], claimed: Path) -> None:
    with ModelServer([]) as server:
        ran = ralph(*asking(server, claimed, "grounding:claims=nowhere.yaml"))
        assert server.requests == ()
    assert ran.code == 2
    assert "The verifier 'grounding' cannot start" in ran.stderr
    assert "nowhere.yaml" in ran.stderr


@pytest.mark.long
def test_the_real_agent_answers_the_queries_of_a_batch(ralph: Callable[..., Any], claimed: Path) -> None:
    (claimed / "queries.yaml").write_text(
        "- {id: open, text: When does it open?, expected: {claims: [The museum opens at nine in the morning.]}}\n"
    )
    with ModelServer([Say(OPENS)]) as server:
        where = {"RALPH_EXECUTOR__BASE_URL": server.base_url, "RALPH_EXECUTOR__MODEL": "m"}
        words = ("--executor", "copilot-cli", "--queries", str(claimed / "queries.yaml"), "--jsonl")
        ran = ralph("score", "batch", *words, **where)
        assert "When does it open?" in server.prompts[0]
    assert ran.code == 0, ran.stderr
    line, last = ran.events
    assert (line["query_id"], line["provider"], line["completeness"]["score"]) == ("open", "copilot-cli", 100)
    assert last["batch"]["succeeded"] == 1
