"""The documents cannot lie: their code runs, their commands exist, their links lead somewhere."""

import ast
import re
import runpy
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from ralph.cli.commands import command
from ralph.settings import Settings

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

_FENCE = re.compile(r"(<!-- run -->\n\n?)?^(`{3,})(\w*)[^\n]*\n(.*?)^\2$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_INTERNAL = re.compile(
    r"\bS[0-4]-\d|\bKX?\d?-\d|/work\b|\bshared/|\bissue #?\d|requirement id|\bTODO\b|\bTBD\b", re.IGNORECASE
)


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    code: str
    run: bool

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for fence in _FENCE.finditer(text):
        yield Block(page, text[: fence.start()].count("\n") + 1, fence[3], fence[4], bool(fence[1]))


@cache
def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


BLOCKS = [block for page in PAGES for block in blocks(page)]
PYTHON = [block for block in BLOCKS if block.language == "python"]


def test_python_compiles(subtests: pytest.Subtests) -> None:
    for block in PYTHON:
        with subtests.test(block=block):
            compile(block.code, str(block), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("block", [block for block in PYTHON if block.run], ids=str)
def test_runnable_python_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    program = tmp_path / "block.py"
    program.write_text(block.code, encoding="utf-8")
    runpy.run_path(str(program), run_name="__main__")


def said(page: Path) -> Iterator[str]:
    """What a reader is told to type that begins with `ralph`."""
    for block in blocks(page):
        if block.language in {"console", "sh", "bash", "shell"}:
            yield from block.code.replace("\\\n", " ").splitlines()
    yield from _INLINE.findall(prose(page))


def words(line: str) -> Iterator[list[str]]:
    """The commands of a line, each as its words."""
    lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    for operator, part in groupby(lexer, key=lambda word: set(word) <= set("&|;<>()")):
        if not operator:
            found = list(part)
            yield found[2:] if found[:2] == ["uv", "run"] else found


@cache
def flags(path: tuple[str, ...]) -> frozenset[str]:
    """The options of a command; a KeyError names one that there is not."""
    found: Any = command()
    for name in path:
        inner = found.get_command(typer.Context(found, info_name="ralph"), name)
        if inner is None:
            raise KeyError(name)
        found = inner
    return frozenset(flag for parameter in found.params for flag in (*parameter.opts, *parameter.secondary_opts))


def call(line: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """The command that a line calls, and the options in it."""
    path: list[str] = []
    for word in line:
        found: Any = command()
        for name in path:
            found = found.get_command(typer.Context(found, info_name="ralph"), name)
        if path == ["score"] and word not in found.commands:
            path.append("answer")  # which is meant where no command is named
            break
        if word.startswith("-") or not hasattr(found, "get_command"):
            break
        path.append(word)
    return tuple(path), [word.partition("=")[0] for word in line if re.match(r"--?[A-Za-z]", word)]


def test_commands_and_flags_exist(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(page=page):
            wrong: list[str] = []
            for typed in said(page):
                if "ralph " not in typed:
                    continue
                for program, *line in words(typed):
                    if program != "ralph":
                        continue
                    path, options = call(line)
                    try:
                        unknown = set(options) - flags(path) - {"--help"}
                        wrong += [f"{option} in {typed!r}" for option in sorted(unknown)]
                    except KeyError as error:
                        wrong.append(f"the command {error} in {typed!r}")
            assert not wrong


def test_flags_by_themselves_exist(subtests: pytest.Subtests) -> None:
    """A flag in the prose belongs to a command of Ralph, or to a program that the sentence names."""
    group: Any = command()
    score = group.get_command(typer.Context(group), "score").commands
    fleet = group.get_command(typer.Context(group), "fleet").commands
    paths = [
        (),
        *((name,) for name in group.list_commands(None)),
        ("runs", "prune"),
        ("config", "set"),
        ("plugins", "add"),
        *(("score", one) for one in score),
        *(("fleet", one) for one in fleet),
    ]
    known = {"--help", "--no-verify"}.union(*(flags(path) for path in paths))
    for page in PAGES:
        with subtests.test(page=page):
            codes = [code for code in _INLINE.findall(prose(page)) if re.match(r"--[a-z]", code)]
            assert {code.split()[0].partition("=")[0] for code in codes} <= known


def test_links_resolve(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(page=page):
            broken: list[str] = []
            for link in _LINK.findall(prose(page)):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = (page.parent / path).resolve() if path else page
                if not target.exists() or (anchor and anchor not in anchors(target)):
                    broken.append(link)
            assert not broken


@cache
def anchors(page: Path) -> set[str]:
    headings = _HEADING.findall(prose(page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_nothing_internal_is_mentioned(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(page=page):
            assert not _INTERNAL.findall(page.read_text(encoding="utf-8"))


def test_every_page_is_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in _LINK.findall(prose(index))}
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} - {index} <= linked


def test_generated_parts_are_what_the_code_says() -> None:
    rewritten = runpy.run_path(str(ROOT / "docs" / "generate.py"))["rewritten"]
    pages = [page for page in PAGES if page.is_relative_to(ROOT / "docs")]
    assert [page.name for page in pages if page.read_text(encoding="utf-8") != rewritten(page.read_text("utf-8"))] == []
    generated = {name for page in pages for name in re.findall(r"<!-- generated: (\w+) -->", page.read_text("utf-8"))}
    assert generated == {
        *("commands", "consent", "events", "hooks", "limits", "names", "observers", "profiles", "scoring", "settings"),
        *("layers", "timeouts"),
    }


def test_every_setting_says_what_it_is() -> None:
    def without(model: type[Any], prefix: str) -> Iterator[str]:
        for name, field in model.model_fields.items():
            if isinstance(field.annotation, type) and hasattr(field.annotation, "model_fields"):
                yield from without(field.annotation, f"{prefix}{name}.")
            elif not field.description:
                yield prefix + name

    assert list(without(Settings, "")) == []


def test_what_a_person_is_told_to_install_is_there() -> None:
    """No index has Ralph's distributions, so none is named without its place; and the extras exist."""
    by_name = re.compile(r"install [^`\n]*(?<![\w./-])ralph-\w+")
    named = re.compile(r"--extra (\w+)|(?<=[\"'])\.(?:/plugins/[\w-]+)?\[([\w,]+)\]")
    projects = [tomllib.loads(each.read_text()) for each in (ROOT / "pyproject.toml", *ROOT.glob("plugins/*/*.toml"))]
    extras = {extra for each in projects for extra in each["project"].get("optional-dependencies", {})}
    readmes, sources = ROOT.glob("plugins/*/README.md"), [ROOT / "ralph", *ROOT.glob("plugins/*/ralph_*")]
    texts = [*PAGES, *readmes, *(path for folder in sources for path in folder.rglob("*.py"))]
    found = [(path, path.read_text(encoding="utf-8")) for path in texts]
    assert [(path, wrong) for path, text in found for wrong in by_name.findall(text)] == []
    said = {extra for _, text in found for pair in named.findall(text) for extra in "".join(pair).split(",")}
    assert {"local", "postgres"} <= said <= extras


def test_settings_in_examples_of_toml_exist() -> None:
    tables = [tomllib.loads(block.code) for block in BLOCKS if block.language == "toml"]
    own = [table.get("tool", {}).get("ralph", {} if "project" in table else table) for table in tables]
    assert [Settings.model_validate(settings) for settings in own], "a setting that does not exist is an error"
