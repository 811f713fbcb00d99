"""The files that decide what a verify command says, as far as its text tells: a run that changes them judges itself.

They are the scripts that the command runs, the settings that its tools read, and their tests. Scripts, makefiles and
package.json are read for the tools that they name in turn. Installed packages and what a program reads on its own
account are not known.
"""

import hashlib
import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ralph.errors import UsageError
from ralph.settings.sources import parse_toml
from ralph.system.files import read_if_regular, read_regular
from ralph.system.patterns import path_matcher
from ralph.types.choices import ProtectChecks
from ralph.types.verification import CheckFiles

if TYPE_CHECKING:
    from ralph.verifiers.base import Verifier
    from ralph.workspace.base import Workspace
    from ralph.workspace.protection import Protection

_RECORD = "checks.json"
_READ = 1_000_000
_NAMED, _SHOWN = 20, 3
_MOST = 200_000
"""Entries of the workspace that are looked at."""

_PYTEST = CheckFiles(
    fixed=(
        *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg"),
        *("sitecustomize.py", "usercustomize.py", "/pytest.py", "/pytest/", "/unittest.py", "/unittest/"),
    ),
    tests=("test_*.py", "*_test.py", "tests/", "test/"),
)
_SCRIPTS = CheckFiles(
    fixed=(
        *("package.json", ".npmrc", "jest.config.*", "vitest.config.*", "vite.config.*", "playwright.config.*"),
        *("cypress.config.*", "karma.conf.*", ".mocharc*", "babel.config.*", ".babelrc*", "deno.json", "deno.jsonc"),
    ),
    tests=("*.test.*", "*.spec.*", "__tests__/", "__snapshots__/", "test/", "tests/", "e2e/", "cypress/"),
)
_JVM = CheckFiles(
    fixed=("pom.xml", "*.gradle", "*.gradle.kts", "gradle.properties", ".mvn/"), tests=("src/test/", "**/src/test/")
)
_C = CheckFiles(fixed=("CMakeLists.txt", "CTestTestfile.cmake", "meson.build"), tests=("test/", "tests/"))
_RUBY = CheckFiles(fixed=("Rakefile", ".rspec", "spec_helper.rb", "rails_helper.rb"), tests=("spec/", "test/"))
_PHP = CheckFiles(fixed=("composer.json", "phpunit.xml", "phpunit.xml.dist"), tests=("tests/", "*Test.php"))
_RUST = CheckFiles(fixed=("Cargo.toml", "build.rs", ".cargo/"), tests=("tests/", "benches/"))
_MAKE = CheckFiles(fixed=("GNUmakefile", "makefile", "Makefile", "*.mk"))
_LINT = CheckFiles(
    fixed=(
        *("pyproject.toml", "setup.cfg", "tox.ini", "ruff.toml", ".ruff.toml", "mypy.ini", ".mypy.ini", ".flake8"),
        *("pyrightconfig.json", ".eslintrc*", "eslint.config.*", "tsconfig*.json", ".pre-commit-config.yaml"),
    )
)

_TOOLS: Mapping[str, CheckFiles] = {
    **dict.fromkeys(("pytest", "py.test", "unittest", "manage.py", "nose2", "coverage"), _PYTEST),
    **dict.fromkeys(("tox", "nox"), _PYTEST | CheckFiles(fixed=("noxfile.py",))),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun", "npx", "deno", "jest", "vitest", "mocha", "playwright"), _SCRIPTS),
    "--test": _SCRIPTS,
    "cargo": _RUST,
    "go": CheckFiles(tests=("*_test.go", "testdata/")),
    **dict.fromkeys(("make", "gmake"), _MAKE),
    "just": CheckFiles(fixed=("justfile", "Justfile", ".justfile")),
    **dict.fromkeys(("mvn", "mvnw", "gradle", "gradlew"), _JVM),
    **dict.fromkeys(("rspec", "rake", "rails"), _RUBY),
    **dict.fromkeys(("phpunit", "composer"), _PHP),
    **dict.fromkeys(("ctest", "cmake", "meson", "ninja"), _C),
    "mix": CheckFiles(fixed=("mix.exs", "test_helper.exs"), tests=("test/",)),
    "swift": CheckFiles(fixed=("Package.swift",), tests=("Tests/",)),
    **dict.fromkeys(("dart", "flutter"), CheckFiles(fixed=("dart_test.yaml",), tests=("test/",))),
    "dotnet": CheckFiles(fixed=("*.runsettings", "Directory.Build.props"), tests=("*Tests/", "*.Tests/")),
    **dict.fromkeys(("ruff", "mypy", "pyright", "flake8", "eslint", "tsc", "pre-commit"), _LINT),
}
"""The files that the tools of a check read, by the word that names them in a command."""

_EXPANDED = ("GNUmakefile", "makefile", "Makefile", "justfile", "Justfile", "package.json", "composer.json", "tox.ini")
_INTERPRETERS = {"sh", "bash", "zsh", "dash", "ksh", "source", "python", "node", "ruby", "perl", "php", "Rscript"}
_ARGUMENTS = 3
"""Words behind an interpreter's name among which its script is: some of its options have an argument."""
_NOTHING = CheckFiles()
_WORDS = 5_000
_PLACES = 20
_ENTER = ("cd", "pushd")
_FOLDER_OPTIONS = (*_ENTER, "-C", "--directory", "--prefix", "--cwd", "--dir", "--chdir")
"""Words before the folder in which a command goes on."""
_MODULE_ENDS = (".py", "/__main__.py", "/__init__.py")
_MODULE = re.compile(r"-[A-Za-z]*m\Z")
_OPERATORS = "\n;&|()"
_WORD = re.compile(r"[\w./+@~-]+|[\n;&|()]")
_VERSION = re.compile(r"[\d.]+\Z")


def check_files(
    command: str | Iterable[str], workspace: Path, *, folder: Path | None = None, depth: int = 2
) -> CheckFiles:
    """Return the files that a command depends on; files that do not exist yet count if it runs them.

    Args:
        command: a program and its arguments, or a text for a shell.
        workspace: the folder that they lie in, and that it runs in.
        folder: the one that it runs in, if that is another.
        depth: how often a script or a makefile is followed to what it names.
    """
    words = (_split(command) if isinstance(command, str) else list(command))[:_WORDS]
    runs = tuple(dict.fromkeys(_runs(words, workspace, folder or workspace)))
    found = CheckFiles(named=tuple(dict.fromkeys(name for _, name in runs if name)))
    for name in {Path(word).name for word in words} & _TOOLS.keys():
        found |= _TOOLS[name]
    if not depth:
        return found
    places = tuple(dict.fromkeys((folder or workspace, *(where for where, _ in runs))))[:_PLACES]
    texts = [(where, word) for where in places for word in words if " " in word]  # as in sh -c "…"
    for where, text in texts:
        found |= check_files(text, workspace, folder=where, depth=depth - 1)
    tools = [(where, f"{where}/{name}") for where in places for name in _EXPANDED if name in found.fixed]
    for where, path in (*((where, f"{workspace}/{name}") for where, name in runs if name), *tools):
        further = check_files(_script(Path(path), workspace), workspace, folder=where, depth=depth - 1)
        found |= CheckFiles(fixed=(*(f"/{each}" for each in further.named), *further.fixed), tests=further.tests)
    return found


def _split(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return _WORD.findall(text)


def _runs(words: list[str], workspace: Path, folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files that are run, each with the folder that it runs in; an empty name is for a folder alone.

    They are programs given by path, the scripts of interpreters, and Python's modules, if they lie in the workspace.
    """
    from ralph.workspace.scan import Noise

    noise, left, before = Noise(), 0, ""
    outer, where, back, first = [folder], folder, folder, True
    for word in words:
        if not word.strip(_OPERATORS):
            outer = _nested(outer, word)
            left, where, first, before = 0, outer[-1], True, ""
            continue
        if before in _ENTER and word in {"--", "-L", "-P"}:
            continue
        inner = back if (before, word) == ("cd", "-") or (first and word == "popd") else _entered(where, before, word)
        if inner is not None:
            yield inner, ""
            back, where = where, inner
            outer[-1] = inner if before in _ENTER or word == "popd" else outer[-1]
        elif left and word.startswith("-"):
            left = 0 if word in {"-c", "-e"} else left
        else:
            is_module = left > 0 and _MODULE.match(before) is not None
            ran = [f"{word.replace('.', '/')}{end}" for end in _MODULE_ENDS] if is_module else [word]
            for path in (Path(os.path.normpath(where / name)) for name in ran):
                is_program = "/" in word and (first or (path.is_file() and os.access(path, os.X_OK)))
                is_script = left > 0 and (path.suffix != "" or path.is_file())
                if (is_program or is_script) and path.is_relative_to(workspace) and not path.is_dir():
                    name = path.relative_to(workspace).as_posix()
                    if not noise(name):
                        yield where, name
                    left = 1  # for this word
            starts = (first and word == ".") or _VERSION.sub("", Path(word).name) in _INTERPRETERS
            left = _ARGUMENTS if starts else 0 if is_module else max(0, left - 1)
        first, before = False, word if word not in _ENTER or first else ""


def _entered(where: Path, before: str, word: str) -> Path | None:
    """Return the folder in which a command goes on after a word; None if the word changes none."""
    option, _, value = word.partition("=")
    name = value if option in _FOLDER_OPTIONS else word if before in _FOLDER_OPTIONS else ""
    folder = Path(os.path.normpath(where / name)) if name else None
    return folder if folder is not None and folder.is_dir() else None


def _nested(folders: list[Path], operators: str) -> list[Path]:
    """Return the folders of a shell and its subshells, innermost last, after the parentheses among operators."""
    for each in operators:
        folders = [*folders, folders[-1]] if each == "(" else (folders[:-1] or folders) if each == ")" else folders
    return folders[-_PLACES:] or folders


_HERE, _TOP = "@here@", "@top@"
"""The folder of a script and that of the repository, in its text."""
_SELF = r"\$\{?(?:0|BASH_SOURCE)(?:\[0\])?(?::-\$0)?\}?"
_PLACE = r"(@(?:here|top)@[\w./+-]{0,200})"
_FOLDERS = [
    (re.compile(rf"\$\( ?(?:readlink -[a-z]{{1,3}}|realpath) (?:-- )?{_SELF} ?\)"), "$0"),
    (
        re.compile(rf"[$`]\(? ?dirname (?:-- )?{_SELF} ?[)`]|\$\{{(?:0|BASH_SOURCE(?:\[0\])?)(?:%/\*|(?::a)?:h)\}}"),
        _HERE,
    ),
    (re.compile(r"[$`]\(? ?git rev-parse --show-toplevel ?[)`]"), _TOP),
    (re.compile(rf"\$\( ?(?:cd|realpath|readlink -[a-z]{{1,3}}) (?:-P |-- )?{_PLACE}[^()\n]{{0,60}}\)"), r"\1"),
    (re.compile(rf"[$`]\(? ?dirname (?:-- )?{_PLACE} ?[)`]"), r"\1/.."),
]
"""The ways in which a shell script finds its own folder, without the quotes, and what that is."""
_NAMED_FOLDER = re.compile(rf"\b([A-Za-z_]\w{{0,40}})={_PLACE}")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w{0,40})\}?")


def _script(path: Path, workspace: Path) -> list[str]:
    """Return the words of a script, with its own folder and the repository's where it finds them by a common idiom."""
    text = read_if_regular(path, _READ).decode("utf-8", "replace").replace('"', "")
    for pattern, place in _FOLDERS:
        text = pattern.sub(place, text)
    named = dict(_NAMED_FOLDER.findall(text))
    text = _VARIABLE.sub(lambda found: named.get(found[1], found[0]), text)
    words = _WORD.findall(text)[:_WORDS]
    return [word.replace(_HERE, str(path.parent), 1).replace(_TOP, str(workspace), 1) for word in words]


_JUDGING = re.compile(
    r"(?:^|[/_.-])(?:checks?|verif\w*|valid\w*|tests?|judge|accept\w*|assert\w*|specs?|lint|grade\w*|smoke|e2e|ci|qa)[/_.-]"
)
_WORKING = re.compile(r"(?:^|[/_.-])(?:app|build|cli|deploy|install|main|release|run|serve\w*|setup|start)(?:[_.-]|\Z)")


def is_judge(name: str) -> bool:
    """Return whether a script is a check by its name, and not the work itself, such as main.py or build.sh."""
    if _JUDGING.search(f"{name}.".lower()):
        return True
    return Path(name).suffix in {"", ".sh"} and not _WORKING.search(name.lower())


def is_named(path: str, text: str) -> bool:
    """Return whether a text names a file, by its path or its name alone."""
    names = "|".join(map(re.escape, {path, Path(path).name}))
    return re.search(rf"(?<![\w.-])(?:{names})(?![\w-]|\.\w)", text) is not None


class Checks:
    """The files of a run's checks: what they were when the run began, and what it has changed since. Blocks.

    The record lies in Ralph's own folder, where the agent does not write. Without it, as after a move to another
    machine, no changes are reported.

    Args:
        workspace: the folder, which restores what is protected.
        verifiers: the run's.
        restore: which files the workspace restores after a turn; see `Settings.protect_checks`.
        reviewer: judges a claim in addition if the run has changed such files; not with `restore` "off".
    """

    def __init__(
        self, workspace: "Workspace", verifiers: Sequence["Verifier"], restore: ProtectChecks, reviewer: "Verifier"
    ) -> None:
        self.workspace, self._restore = workspace, restore
        self.verifiers, self._reviewer = tuple(verifiers), reviewer
        self._files: dict[str, CheckFiles] = {}
        self._before: dict[str, str] = {}
        self._run_id = ""
        self._protected: dict[Path, str] = {}

    def begin(self, run_id: str, task: str) -> None:
        """Record the files at the start of a run."""
        if self.workspace.protection is None:
            return
        self._files = {each.name: each.reads(self.workspace.path) for each in self.verifiers}
        self._before = self._look()
        self._run_id = run_id
        self._protect(task)
        self._record(None)

    def rest(self) -> None:
        """Record the files at the end of this process of the run: what changes until it is resumed is the user's."""
        if self._run_id:
            self._record(self._look())

    def _record(self, stopped: dict[str, str] | None) -> None:
        path = cast("Protection", self.workspace.protection).folder / _RECORD
        record = {"run": self._run_id, "checks": self._files, "files": self._before, "stopped": stopped}
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.write_text(json.dumps(record))

    def recall(self, run_id: str, task: str) -> None:
        """Use the record of an earlier process of the run; what changed since that stopped counts as there before."""
        self._files, self._before, self._run_id = {}, {}, ""
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            record = json.loads((cast("Protection", self.workspace.protection).folder / _RECORD).read_text())
            if record["run"] == run_id:
                checks = cast("dict[str, list[list[str]]]", record["checks"])
                self._files = {name: CheckFiles(*map(tuple, lists)) for name, lists in checks.items()}
                self._before = dict(record["files"])
                self._run_id = run_id
                if (stopped := record.get("stopped")) is not None:
                    self._before = _rebased(self._before, stopped, self._look())
                new = [each for each in self.verifiers if each.name not in self._files]
                self._files |= {each.name: each.reads(self.workspace.path) for each in new}
                self._before = {**(self._look() if new else {}), **self._before}
                self._record(None)  # a crash from now on is no stop
        self._protect(task)

    def judges(self, changed: Mapping[str, tuple[str, ...]]) -> tuple["Verifier", ...]:
        """Return the verifiers of a claim: the run's, and if such files are changed a review, unless it has one."""
        reviewed = not all(each.before_run for each in self.verifiers)
        return (
            self.verifiers if reviewed or not changed or self._restore == "off" else (*self.verifiers, self._reviewer)
        )

    @property
    def conditions(self) -> list[str]:
        """The conditions of a claim, as the prompt states them."""
        names = [each.relative_to(self.workspace.path).as_posix() for each in [*self._protected][:_SHOWN]]
        kept = [f"{', '.join(names)} must stay as before: changes are undone"] if names else []
        return [*(verifier.condition for verifier in self.verifiers), *kept]

    def _protect(self, task: str) -> None:
        named = {name: check for check, files in self._files.items() for name in files.named}
        judges = {name for name in named if is_judge(name) and not is_named(name, task)}
        chosen = {"off": set[str](), "auto": judges, "on": set(self._before)}[self._restore]
        self._protected = {
            self.workspace.path / name: f"the check `{named[name]}` runs" if name in named else "a check depends on"
            for name in sorted(chosen & self._before.keys())
        }
        if self.workspace.protection is not None:
            self.workspace.protection.also = self._protected

    def changed(self) -> dict[str, tuple[str, ...]]:
        """Return the files that differ from the start of the run, by the name of the check that reads them."""
        now = self._look()
        differ = sorted(path for path in {*self._before, *now} if self._before.get(path) != now.get(path))
        changed: dict[str, tuple[str, ...]] = {}
        for check, files in self._files.items() if differ else ():
            fixed, tests = _matcher(files.fixed), _matcher(files.tests)
            told = [
                os.fsencode(each).decode("utf-8", "backslashreplace")
                for each in differ
                if each in files.named or fixed(each) or (each in self._before and tests(each))
            ]
            if told:
                changed[check] = tuple(told[:_NAMED])
        return changed

    def _look(self) -> dict[str, str]:
        from ralph.workspace.scan import Noise

        every = CheckFiles()
        for files in self._files.values():
            every |= files
        if not any(every):
            return {}
        matches, noise, found = _matcher((*every.fixed, *every.tests)), Noise(), dict[str, str]()
        seen = 0
        for folder, folders, names in os.walk(self.workspace.path):
            inside = Path(folder).relative_to(self.workspace.path).as_posix()
            prefix = "" if inside == "." else f"{inside}/"
            folders[:] = sorted(name for name in folders if not noise(f"{prefix}{name}/"))
            seen += len(names)
            for name in names:
                if prefix + name in every.named or matches(prefix + name):
                    found[prefix + name] = _state(Path(folder, name))
            if seen > _MOST:
                break
        return found


def _rebased(before: dict[str, str], stopped: dict[str, str], now: dict[str, str]) -> dict[str, str]:
    """Return the states before a run with the user's changes since it stopped, but for what it had changed itself."""
    own = {path for path in {*before, *stopped} if before.get(path) != stopped.get(path)}
    kept = {path: state for path, state in before.items() if path in own}
    return {**{path: state for path, state in now.items() if path not in own}, **kept}


def _matcher(globs: tuple[str, ...]) -> Callable[[str], bool]:
    return path_matcher(globs) if globs else lambda _: False


def _state(path: Path) -> str:
    """Return what identifies a file's content; a file that declares dependencies may change these."""
    try:
        if path.is_symlink():
            return f"link {path.readlink()}"
        content = read_regular(path, _READ)
        status = path.stat()
    except OSError:
        return "unreadable"
    if len(content) == _READ:
        return f"{status.st_size}:{status.st_mtime_ns}"
    return hashlib.sha256(_without_dependencies(path, content)).hexdigest()


def _without_dependencies(path: Path, content: bytes) -> bytes:
    try:
        if path.name == "package.json":
            values = cast("dict[str, object]", json.loads(content))
        elif path.name in {"pyproject.toml", "Cargo.toml"}:
            values = dict(parse_toml(path, content).values)
        else:
            return content
        return json.dumps({key: values[key] for key in values if key not in _DECLARED}, default=str).encode()
    except (ValueError, RecursionError, AttributeError, TypeError, UsageError):
        return content


_DECLARED = {
    *("dependencies", "devDependencies", "dev-dependencies", "peerDependencies", "optionalDependencies", "version"),
    *("project", "dependency-groups", "build-system", "package", "build-dependencies", "workspaces"),
}
"""The keys of a project's file that say what it is and needs, not how it is tested."""
