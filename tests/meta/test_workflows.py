"""The workflows and the action call what there is, and put no text from outside into a command."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PARTS = set(re.findall(r"^#   (\w+) ", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE))


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def commands(workflow: Any) -> list[str]:
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]] if "jobs" in workflow else []
    return [step["run"] for step in [*steps, *workflow.get("runs", {}).get("steps", [])] if "run" in step]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_calls_parts_of_the_check(path: Path) -> None:
    workflow = read(path)
    matrices = [job["strategy"]["matrix"] for job in workflow["jobs"].values() if "strategy" in job]
    named = {part for matrix in matrices for part in (*matrix["part"], *(one["part"] for one in matrix["include"]))}
    called = {part for line in commands(workflow) for part in re.findall(r"\.ci/run ([a-z ]+)", line)}
    assert {part for parts in called for part in parts.split()} | named <= PARTS
    assert named in (set(), PARTS), "the matrix has every part"
    assert workflow["permissions"] == {"contents": "read"}, "further rights belong to the job that needs them"


SCHEMAS = {ROOT / "action.yml": "github-actions", ROOT / ".github" / "dependabot.yml": "dependabot"}


@pytest.mark.parametrize(
    "path", [*WORKFLOWS, ROOT / "deploy" / "github-submit.yml", *SCHEMAS], ids=lambda path: path.name
)
def test_github_would_accept_it(path: Path) -> None:
    schema = f"vendor.{SCHEMAS.get(path, 'github-workflows')}"  # the published schemas, as the package brings them
    argv = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path))
    checked = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


OURS = [*WORKFLOWS, ROOT / "action.yml", ROOT / "deploy" / "github-submit.yml"]


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_no_text_from_outside_is_part_of_a_command(path: Path) -> None:
    assert [
        found for line in commands(read(path)) for found in re.findall(r"\$\{\{(?! matrix\.part).*?\}\}", line)
    ] == []


def test_the_page_of_the_action_has_its_inputs_and_outputs() -> None:
    action = read(ROOT / "action.yml")
    page = (ROOT / "docs" / "how-to" / "run-in-github-actions.md").read_text(encoding="utf-8")
    assert {name for name in (*action["inputs"], *action["outputs"]) if f"`{name}`" not in page} == set()
