"""What each part of the analysis is worth: every part is switched off in turn, and everything is judged again.

The first argument names a folder of labelled data, as `analysis_quality.py` reads it; the project's own labelled cases
(`tests/unit/analysis/cases`) are judged beside it. Prints a table: each part, its lines of code, and for each question
how many rows are right only with it (+), right only without it (−), and wrong either way, but otherwise (~). For the
replay these are passes that are not made because of it, that are made because of it, and that are decided otherwise. A
part with an empty row changes no answer on this data.

- `ablation.py FOLDER`: the detectors.
- `ablation.py FOLDER --functions [MODULE …]`: every function of the analysis, or of the modules, such as `stuck`. A
  function that is switched off finds nothing: it returns an empty value of its type.
- `ablation.py FOLDER --words [ROLE …]`: the words of every role, or of the roles, in all languages.
"""

import inspect
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import CodeType, FunctionType
from typing import Any, NamedTuple, cast, get_args

import analysis_quality as quality

import ralph.analysis
from ralph.analysis import DETECTORS, lexicon, vocabulary
from ralph.analysis.lexicon import Lexicon, Role

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "analysis"))
cases: Any = import_module("test_cases")

PROCESSES = 2
UNTOUCHED = ("lexicon", "vocabulary", "text", "result")
"""Modules whose functions prepare the reading, and find nothing by themselves."""

Answers = dict[str, list[tuple[object, object]]]
"""For each question every row: what it should be, and what it was found to be."""


class Part(NamedTuple):
    """A part of the analysis; `switch_off` lasts until the process ends."""

    name: str
    lines: int
    switch_off: Callable[[], None]


def main(folder: Path, kind: str, names: list[str]) -> None:
    """Prints the table."""
    parts = list({"": detectors, "--functions": functions, "--words": roles}[kind](names))
    before = answers(folder)
    print("| part | lines | " + " | ".join(before) + " |")
    print("|---" * (len(before) + 2) + "|")
    with multiprocessing.get_context("fork").Pool(PROCESSES, maxtasksperchild=1) as pool:
        jobs = [pool.apply_async(without, (index, kind, names, folder)) for index in range(len(parts))]
        for part, job in zip(parts, jobs, strict=True):
            after = job.get()
            cells = [compared(before[question], after[question]) for question in before]
            print(f"| {part.name} | {part.lines} | " + " | ".join(cells) + " |", flush=True)


def without(index: int, kind: str, names: list[str], folder: Path) -> Answers:
    """The answers without one part; in a process of its own, which ends after it."""
    part = list({"": detectors, "--functions": functions, "--words": roles}[kind](names))[index]
    part.switch_off()
    return answers(folder)


def detectors(_: list[str]) -> Iterator[Part]:
    for detector in DETECTORS:
        assert isinstance(detector, FunctionType)
        lines = sum(map(lines_of, reached(detector)))
        yield Part(detector.__name__, lines, lambda each=detector: silence(each, ()))


def reached(detector: FunctionType) -> set[Any]:
    """The functions and classes of its own module that a detector uses, itself included."""
    module = detector.__globals__
    found: set[Any] = set()
    ahead: list[Any] = [detector]
    while ahead:
        part = ahead.pop()
        if part in found or getattr(part, "__module__", "") != detector.__module__:
            continue
        found.add(part)
        bodies = functions_in(part) if inspect.isclass(part) else (part,)
        names = {name for body in bodies for code in codes_of(body.__code__) for name in code.co_names}
        ahead += [
            module[name] for name in names if inspect.isclass(module.get(name)) or inspect.isfunction(module.get(name))
        ]
    return found


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the expressions and functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


def functions(modules: list[str]) -> Iterator[Part]:
    """Every function and method whose type has an empty value."""
    for info in walk_packages(ralph.analysis.__path__, "ralph.analysis."):
        name = info.name.removeprefix("ralph.analysis.")
        if name.startswith(UNTOUCHED) or (modules and name.split(".")[-1] not in modules):
            continue
        for function in functions_of(import_module(info.name)):
            empty = empty_value(str(function.__annotations__.get("return", "")), function)
            if empty is not ...:
                label = f"{name}.{function.__qualname__}"
                yield Part(label, lines_of(function), lambda each=function, value=empty: silence(each, value))


def functions_of(module: Any) -> Iterator[FunctionType]:
    for owner in (module, *(each for each in vars(module).values() if inspect.isclass(each))):
        yield from (found for found in functions_in(owner) if found.__module__ == module.__name__)


def functions_in(owner: Any) -> Iterator[FunctionType]:
    """The functions of a module, or the methods and properties of a class."""
    for found in list(vars(owner).values()):
        value = found.func if isinstance(found, cached_property) else found
        value = value.fget if isinstance(value, property) else inspect.unwrap(getattr(value, "__func__", value))
        if isinstance(value, FunctionType):
            yield value


def empty_value(annotation: str, function: FunctionType) -> object:
    """An empty value of a type; `...` if it has none."""
    annotation = annotation.removeprefix("<class '").removesuffix("'>")
    if annotation.endswith("None") and annotation != "None":
        return None
    if inspect.isgeneratorfunction(function) or "[" in annotation:
        return () if not annotation.startswith("dict") else ...
    return {"bool": False, "str": "", "int": 0, "float": 0.0}.get(annotation, ...)


def silence(function: FunctionType, value: object) -> None:
    """Make a function return a value, wherever it was imported to."""

    def silent(*_: object, **__: object) -> object: ...

    function.__code__ = returning(silent.__code__, value)


def returning(code: CodeType, value: object) -> CodeType:
    """The code of an empty function that returns a value: its only constant is what it returns."""
    return code.replace(co_consts=(value,))


def lines_of(part: Any) -> int:
    return len(inspect.getsourcelines(part)[0])


def roles(names: list[str]) -> Iterator[Part]:
    for role in names or sorted(name for group in get_args(Role) for name in get_args(group) or (group,)):
        tables: list[Any] = [table for words in every_lexicon() for table in (words.words, words.claims)]
        forms = sum(len(forms) for table in tables for forms in table.get(role, {}).values())
        yield Part(f"{role} ({forms} forms)", 0, lambda each=role: forget(each))


def every_lexicon() -> list[Lexicon]:
    return [lexicon.lexicon(language) for language in lexicon.LEXICONS]


def forget(role: str) -> None:
    """Take a role out of every lexicon."""
    for words in every_lexicon():
        for table in (words.words, words.claims):
            cast("dict[str, Any]", table).pop(role, None)
    vocabulary.vocabulary.cache_clear()


def answers(folder: Path) -> Answers:
    """Every row of every question, judged."""
    found: Answers = {
        "completion": pairs(quality.finals(folder)),
        "mid-turn": pairs(quality.mid_turn(folder)),
        "status block": pairs(quality.status_blocks(folder)),
        "states": pairs(quality.states(folder)),
        "stuck": pairs(quality.stuck(folder)),
        "test-only": pairs(quality.test_only(folder)),
        "replay": [],
    }
    for variant in quality.KNOWN:
        for passes, result in quality.replayed(folder, variant):
            decided = {step.index: str(step.decision) for step in result.steps}
            found["replay"] += [(None, decided.get(index)) for index in range(len(passes))]
    for name in cases.REPLIES:
        held = "unread cases" if name in cases.UNREAD else "own cases"
        found.setdefault(held, []).extend((each.expected, each.found) for each in cases.replies.__wrapped__(name))
    found["own loops"] = [(each.expected, each.found) for each in cases.loops.__wrapped__()]
    return found


def pairs(judged: Any) -> list[tuple[object, object]]:
    return [(expected, found) for _, expected, found in judged]


def compared(before: list[tuple[object, object]], after: list[tuple[object, object]]) -> str:
    """Rows that are right with the part alone, right without it alone, and different but neither."""
    changed = [(old[1] == old[0], new[1] == new[0]) for old, new in zip(before, after, strict=True) if old != new]
    counts = {
        "+": sum(old and not new for old, new in changed),
        "−": sum(new and not old for old, new in changed),
        "~": sum(old == new for old, new in changed),
    }
    return " ".join(f"{sign}{count}" for sign, count in counts.items() if count)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if not arguments or (arguments[1:] and arguments[1] not in {"--functions", "--words"}):
        sys.exit("usage: ablation.py FOLDER [--functions [MODULE …] | --words [ROLE …]]")
    main(Path(arguments[0]), arguments[1] if arguments[1:] else "", arguments[2:])
