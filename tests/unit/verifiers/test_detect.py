"""What `ralph init` finds out about a project."""

import json
import os
from pathlib import Path

import pytest

from ralph.verifiers import detect_test_command, parse_command

TEST_SCRIPT = json.dumps({"scripts": {"test": "jest"}})
PLACEHOLDER = json.dumps({"scripts": {"test": 'echo "Error: no test specified" && exit 1'}})


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "python -m pytest"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n", "uv.lock": ""}, "uv run pytest"),
        ({"pyproject.toml": "[tool.poetry.group.dev.dependencies]\npytest = '*'\n"}, "poetry run pytest"),
        ({"pyproject.toml": "[dependency-groups]\ndev = ['pytest>=8']\n"}, "python -m pytest"),
        ({"pyproject.toml": "[project]\nname = 'x'\n"}, None),
        ({"pyproject.toml": "not toml ["}, None),
        ({"setup.cfg": "[tool:pytest]\n"}, "python -m pytest"),
        ({"requirements.txt": "flask\npytest==8\n"}, "python -m pytest"),
        ({"requirements.txt": "my-pytest-like\n"}, None),
        ({"tests/test_x.py": "import unittest\n"}, "python -m unittest discover -s tests"),
        ({"tests/test_x.py": "import unittest\n", "tests/__init__.py": ""}, "python -m unittest discover"),
        ({"test_x.py": "def test_x(): pass\n"}, "python -m pytest"),
        ({"tox.ini": "[testenv]\n"}, "tox"),
        ({"noxfile.py": ""}, "nox"),
        ({"manage.py": ""}, "python manage.py test"),
        ({"package.json": TEST_SCRIPT}, "npm test"),
        ({"package.json": TEST_SCRIPT, "pnpm-lock.yaml": ""}, "pnpm test"),
        ({"package.json": json.dumps({"packageManager": "yarn@4", "scripts": {"test": "x"}})}, "yarn test"),
        (
            {"package.json": json.dumps({"packageManager": "x@1", "scripts": {"test": "x"}}), "yarn.lock": ""},
            "yarn test",
        ),
        ({"package.json": TEST_SCRIPT, "bun.lock": ""}, "bun run test"),
        ({"package.json": PLACEHOLDER}, None),
        ({"package.json": "[" * 100_000}, None),
        ({"package.json": '{"scripts": ["test"]}'}, None),
        ({"deno.json": '{"tasks": {"test": "x"}}'}, "deno task test"),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"go.mod": ""}, "go test ./..."),
        ({"pom.xml": "", "mvnw": ""}, "./mvnw test"),
        ({"build.gradle.kts": ""}, "gradle test"),
        ({"Gemfile": "", ".rspec": ""}, "bundle exec rspec"),
        ({"composer.json": '{"scripts": {"test": "x"}}'}, "composer test"),
        ({"App.sln": ""}, "dotnet test"),
        ({"Makefile": ".PHONY: test\nall: x\ntest: build\n\tgo\n"}, "make test"),
        ({"Makefile": "tests:\n\tgo\ntest := 1\n"}, None),
        ({"justfile": "test *args:\n  x\n"}, "just test"),
        ({"README.md": "pytest"}, None),
        ({}, None),
    ],
)
def test_the_command_is_found(tmp_path: Path, files: dict[str, str], command: str | None) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = detect_test_command(tmp_path)
    assert (found.command if found else None) == command
    if found:
        assert found.reason
        assert parse_command(found.command)


def test_what_is_no_plain_file_is_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pyproject.toml")
    (tmp_path / "package.json").symlink_to("/dev/zero")
    (tmp_path / "Makefile").mkdir()
    assert detect_test_command(tmp_path) is None


@pytest.mark.parametrize(("programs", "command"), [(["python", "python3"], "python"), (["python3"], "python3")])
def test_python_has_the_name_that_this_machine_gives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: list[str], command: str
) -> None:
    for name in programs:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "manage.py").touch()
    found = detect_test_command(tmp_path)
    assert found is not None
    assert found.command == f"{command} manage.py test"
