"""Detection of a project's test command from the files at its top."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel

from ralph.system.files import find_program, parsed, read_if_regular, toml_table

_READ = 512 * 1024


_Found = tuple[str, str] | None
"""A command, and the reason for it."""


class Detected(BaseModel, frozen=True):
    """A project's test command.

    Attributes:
        command: as the user types it.
        reason: the evidence, such as "pyproject.toml configures pytest".
    """

    command: str
    reason: str


def detect_test_command(workspace: Path) -> Detected | None:
    """Return the test command of the project in a folder; None if it is unknown. Runs nothing."""
    project = _Project(workspace)
    found = next((found for find in _FINDERS if (found := find(project))), None)
    if found is None:
        return None
    command, reason = found
    if command.startswith("python ") and not find_program("python") and find_program("python3"):
        command = f"python3{command.removeprefix('python')}"  # Debian has no `python`
    return Detected(command=command, reason=reason)


class _Project:
    """The files at the top of a project, read safely: no links, no FIFOs, nothing huge."""

    def __init__(self, top: Path) -> None:
        self.top = top

    def has(self, *names: str) -> str:
        """Return the first of the names that exists, or the empty string."""
        return next((name for name in names if (self.top / name).exists()), "")

    def any(self, glob: str) -> str:
        """Return the first path that a glob matches, or the empty string."""
        return min((path.relative_to(self.top).as_posix() for path in self.top.glob(glob)), default="")

    def text(self, name: str) -> str:
        return read_if_regular(self.top / name, _READ).decode("utf-8", "replace")

    def json(self, name: str) -> dict[str, Any]:
        return _table(parsed(self.text(name)))

    def toml(self, name: str) -> dict[str, Any]:
        try:
            return toml_table(self.text(name))
        except (ValueError, RecursionError):
            return {}


def _python(project: _Project) -> _Found:
    tools = _table(project.toml("pyproject.toml").get("tool"))
    if reason := _names_pytest(project, tools):
        return _pytest(project, tools), reason
    if project.has("tox.ini") or "tox" in tools:
        return "tox", "tox is configured"
    if project.has("noxfile.py"):
        return "nox", "there is noxfile.py"
    if project.has("manage.py"):
        return "python manage.py test", "there is Django's manage.py"
    if not (name := project.any("test_*.py") or project.any("tests/test_*.py")):
        return None
    if "import unittest" in project.text(name) or "from unittest" in project.text(name):
        apart = name.startswith("tests/") and not project.has("tests/__init__.py")
        return f"python -m unittest discover{' -s tests' * apart}", f"{name} uses unittest"
    return _pytest(project, tools), f"there is {name}"


def _names_pytest(project: _Project, tools: dict[str, Any]) -> str:
    if "pytest" in tools:
        return "pyproject.toml configures pytest"
    for name, sign in (
        ("pytest.ini", ""),
        (".pytest.ini", ""),
        ("setup.cfg", "[tool:pytest]"),
        ("tox.ini", "[pytest]"),
    ):
        if project.has(name) and sign in project.text(name):
            return f"{name} configures pytest"
    if name := project.has("conftest.py", "tests/conftest.py"):
        return f"there is {name}"
    listings = ("pyproject.toml", "requirements-dev.txt", "requirements.txt", "setup.cfg", "setup.py", "Pipfile")
    return next((f"{name} names pytest" for name in listings if _PYTEST.search(project.text(name))), "")


def _pytest(project: _Project, tools: dict[str, Any]) -> str:
    for name, runner in (("uv.lock", "uv"), ("poetry.lock", "poetry"), ("pdm.lock", "pdm"), ("Pipfile", "pipenv")):
        if project.has(name):
            return f"{runner} run pytest"
    runner = next((tool for tool in ("uv", "poetry", "pdm") if tool in tools), "")
    return f"{runner} run pytest" if runner else "python -m pytest"


def _javascript(project: _Project) -> _Found:
    package = project.json("package.json")
    script = _table(package.get("scripts")).get("test")
    if isinstance(script, str) and script.strip() and "no test specified" not in script:
        declared = str(package.get("packageManager", "")).partition("@")[0]
        locks = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun"))
        tool = next((tool for name, tool in locks if project.has(name)), "npm")
        tool = declared if declared in {"npm", "pnpm", "yarn", "bun"} else tool
        return f"{tool} run test" if tool == "bun" else f"{tool} test", "package.json has a test script"
    for name in ("deno.json", "deno.jsonc"):
        if project.has(name):
            task = "test" in _table(project.json(name).get("tasks"))
            return "deno task test" if task else "deno test", f"there is {name}"
    return None


def _java(project: _Project) -> _Found:
    if project.has("pom.xml"):
        return "./mvnw test" if project.has("mvnw") else "mvn test", "there is pom.xml"
    if name := project.has("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"):
        return "./gradlew test" if project.has("gradlew") else "gradle test", f"there is {name}"
    return None


def _ruby(project: _Project) -> _Found:
    if name := project.has(".rspec", "spec/spec_helper.rb"):
        return "bundle exec rspec" if project.has("Gemfile") else "rspec", f"there is {name}"
    if project.has("bin/rails"):
        return "bin/rails test", "there is bin/rails"
    if _RAKE_TEST.search(project.text("Rakefile")):
        return "bundle exec rake test", "Rakefile has a test task"
    return None


def _php(project: _Project) -> _Found:
    if "test" in _table(project.json("composer.json").get("scripts")):
        return "composer test", "composer.json has a test script"
    if name := project.has("phpunit.xml", "phpunit.xml.dist"):
        return "vendor/bin/phpunit", f"there is {name}"
    return None


def _by_one_file(project: _Project) -> _Found:
    for glob, command in _ONE_FILE:
        if name := project.any(glob):
            return command, f"there is {name}"
    return None


def _target(project: _Project) -> _Found:
    for names, command in (
        (("GNUmakefile", "makefile", "Makefile"), "make test"),
        (("justfile", "Justfile"), "just test"),
    ):
        if (name := project.has(*names)) and _TARGET.search(project.text(name)):
            return command, f"{name} has a target called test"
    return None


def _table(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


_PYTEST = re.compile(r"(?<![\w-])pytest(?![\w-])")
_RAKE_TEST = re.compile(r"TestTask|^\s{0,8}task\s{1,4}\(?:test\b", re.MULTILINE)
_TARGET = re.compile(r"^test(?: [^:=\n]{0,200})?:(?!=)", re.MULTILINE)
_ONE_FILE = (
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
    ("mix.exs", "mix test"),
    ("Package.swift", "swift test"),
    ("pubspec.yaml", "dart test"),
    ("stack.yaml", "stack test"),
    ("*.cabal", "cabal test"),
    ("*.sln", "dotnet test"),
    ("*.csproj", "dotnet test"),
)
_FINDERS: tuple[Callable[[_Project], _Found], ...] = (
    *(_python, _javascript, _by_one_file, _java, _ruby, _php),
    _target,
)
