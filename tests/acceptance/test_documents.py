"""README, the first tutorial and the how-tos, typed as printed: no command may fail as a mistake of the user.

The `ralph` that is typed is this one; the agent is the real Copilot CLI with a scripted model. Addresses, ids and the
text of a task that a page leaves open get values here. Programs of others, such as `gh`, are stand-ins that succeed.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ralph.testing import ModelRequest, ModelServer, Say, Step, WriteFile

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "tutorial" / "first-night.md",
    *sorted((ROOT / "docs/how-to").glob("*.md")),
)

DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: written\n---END_RALPH_STATUS---"
FENCE = re.compile(r"^```(sh|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

WRITES = re.compile(r'"(create|apply_patch|write\w*|str_replace_editor)"')

STANDINS = ("apt-get", "brew", "createdb", "curl", "gh", "make", "mkdocs", "npm", "pip", "ruff", "ssh", "systemctl")
"""Programs of others that pages call, as stand-ins: `apt-get`, `brew`, `createdb` and `systemctl` change the machine;
`curl`, `gh` and `ssh` need an account or a server of the reader's; `make`, `mkdocs`, `npm` and `ruff` need a project
of theirs. `pip` and `uv` are real in test_installing.py."""

ELSEWHERE = {
    r"uv tool install|^python3 -m venv|^night/bin|^uv build|^uv run --package": "test_installing.py",
    r"^pip install uv && uv run --all-groups pytest|^uv run (pytest|python tests)": "this is the suite itself",
    r"^ralph (serve|watch)|^ralph .*postgresql:": "they have servers, terminals and tests of their own",
    r"^ralph (pause|stop|tell|extend)\b|^git diff \| ralph tell|^ralph breaker reset": "test_live.py has them",
    r"--from-checkpoint": "it takes a run that was killed; tests/unit/loop/test_recovery.py has one",
    r"model_server --script": "it serves until it is ended; tests/unit/testing has it",
    r"--analyzer moon": "the plug-in of the page is run in Python",
    r"^ralph fleet|^docker|^podman|^kubectl": "the fleet's own tests",
}
"""Commands that other tests type, by a pattern."""

CODES = {0, 3, 4, 5, 7}
"""What a command may end with: the scripted agent does not solve every task, but no command is wrong."""


def commands(page: Path) -> Iterator[str]:
    """Yield the commands of a page as they are printed."""
    for language, text in FENCE.findall(page.read_text(encoding="utf-8")):
        lines = text.replace("\\\n", " ").splitlines()
        yield from (line.removeprefix("$ ") for line in lines if language == "sh" or line.startswith("$ "))


def typed(page: Path) -> list[str]:
    """Return the commands of a page that this test types."""
    left_out = re.compile("|".join(ELSEWHERE))
    return [line for line in commands(page) if line.strip() and not line.startswith("#") and not left_out.search(line)]


def answer(request: ModelRequest) -> Step:
    """Write something new in each turn, then say that it is done, but for the first run; a reviewer cannot write."""
    if "Begin." in json.dumps(request.body.get("messages", request.body.get("input", ""))) and not request.asks:
        return Say("There is more to do.")
    writes = WRITES.search(json.dumps(request.body.get("tools", [])))
    return WriteFile(f"work-{request.number}.txt", "work\n") if request.asks and writes else Say(DONE)


class Reader:
    """A reader who types what a page says, in a project of a home of its own."""

    def __init__(self, home: Path, cli: Path, base_url: str) -> None:
        self.home, self.project = home, home / "my-project"
        self._base_url = base_url
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("RALPH_", "COPILOT_", "GH_"))},
            "HOME": str(home),
            "PATH": f"{self._programs()}{os.pathsep}{os.environ['PATH']}",
            "COPILOT_CLI_PATH": str(cli),
            "RALPH_EXECUTOR__BASE_URL": base_url,
            "RALPH_EXECUTOR__MODEL": "m",
            "RALPH_LIMITS__MAX_ITERATIONS": "3",
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
            "NO_COLOR": "1",
            "TOKEN": "token",
        }
        (home / "gitconfig").write_text("[user]\nname = test\nemail = test@localhost\n[init]\ndefaultBranch = main\n")

    def _programs(self) -> Path:
        folder = self.home / "bin"
        folder.mkdir()
        scripts = dict.fromkeys(STANDINS, "cat > /dev/null < /dev/null")
        scripts |= {
            name: f'exec "{sys.executable}" {module} "$@"' for name, module in (("ralph", "-m ralph"), ("python", ""))
        }
        scripts |= {"uv": '[ "$1" = run ] || exit 0; shift; exec "$@"'}
        for name, script in scripts.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        return folder

    def begin(self, *, without: str) -> None:
        """Make the files that pages begin with, but for one."""
        self.project.mkdir()
        for name, text in FILES.items():
            if name == without:
                continue
            file = self.project / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        (self.home / "checks").mkdir()
        check = self.home / "checks" / "acceptance.sh"
        check.write_text("#!/bin/sh\ntest -e never\n")
        check.chmod(0o755)
        (self.home / "project").symlink_to(self.project)
        (self.home / "old-loop").symlink_to(self.project / "old-loop")
        self.type("git init --quiet && git add --all && git commit --quiet --message start")

    def type(self, line: str, folder: Path | None = None) -> tuple[int, str]:
        """Return what a command ends with, and what it says."""
        for placeholder, value in {
            "http://127.0.0.1:8000/v1": self._base_url,
            "my-model": "m",
            "20260703": "last",
            '"…"': '"Go."',
        }.items():
            line = line.replace(placeholder, value)
        done = subprocess.run(
            ("bash", "-c", line),
            cwd=folder or self.project,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        return done.returncode, done.stdout + done.stderr


STORY = '{"userStories": [{"id": "US-1", "title": "Read", "acceptanceCriteria": [], "priority": 1, "passes": false}]}'
FILES: Mapping[str, str] = {
    "README.md": "# Project\n",
    "@fix_plan.md": "# Plan\n\n- [ ] Read a page\n",
    "prd.json": STORY,
    "task.md": "Read a page.\n",
    "test_one.py": "import unittest\n\n\nclass One(unittest.TestCase):\n    def test_one(self):\n        assert 0\n",
    "passes.jsonl": '{"text": "Worked on it."}\n{"text": "All done."}\n',
    "logs/claude_output_1.log": "Worked on it.\n",
    ".ralph/logs/claude_output_1.log": "Worked on it.\n",
    "old-loop/logs/claude_output_1.log": "Worked on it.\n",
}


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", [page for page in PAGES if typed(page)], ids=lambda page: page.stem)
def test_a_page_can_be_typed(page: Path, tmp_path: Path, copilot_cli: Path) -> None:
    if page.stem == "score-answers":
        pytest.skip("test_score_page.py types it")
    with ModelServer(answer, keep=10) as server:
        reader = Reader(tmp_path, copilot_cli, server.base_url)
        reader.begin(without="@fix_plan.md" if page.stem == "first-night" else "")
        code, said = reader.type('ralph run "Begin."')
        assert code in CODES, said
        folder, wrong = reader.project, list[str]()
        for line in typed(page):
            if line.startswith("cd "):
                continue
            if line.startswith("git switch"):
                assert reader.type(line)[0] == 0
                continue
            code, said = reader.type(line, folder)
            if code not in CODES and not (code == 1 and "| grep" in line):
                wrong.append(f"$ {line}\n{code}: {said[-1500:]}")
        assert not wrong, "\n\n".join(wrong)


def test_what_is_left_out_is_printed_somewhere() -> None:
    lines = [line for page in PAGES for line in commands(page)]
    patterns = [part for pattern in ELSEWHERE for part in [pattern] if not re.search("fleet", pattern)]
    assert [pattern for pattern in patterns if not any(re.search(pattern, line) for line in lines)] == []
