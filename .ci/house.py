"""Measure the shape of the code: entries, layers, arrows, lines, functions, docstrings, files of one iteration.

Usage: uv run python .ci/house.py            prints the figures as JSON
       uv run python .ci/house.py --check    also exits with 1 if one of them is over its limit
"""

import ast
import json
import re
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "ralph"
LIMITS = {
    "entries": 24,
    "layers": 14,
    "arrows": 140,
    "lines": 47_945,  # without the viewers and the fleet; the goal is 36,000
    "viewer_lines": 6_108,
    "fleet_lines": 4_000,
    "fleet_arrows": 20,
    "function_median": 6,
    "function_p90": 18,
    "function_longest": 80,
    "small_modules_percent": 15,
    "odd_docstrings_percent": 0,
    "longest_file": 500,
    "files_of_an_iteration": 60,
}
_ODD = re.compile(r"(What|Whether|Where|How|Who)\b")
_SMALL = 60
_VIEWERS = (
    "watch/live",
    "watch/tui",
    "watch/web",
    "watch/report",
    "watch/telemetry",
    "cli/watch",
    "cli/serve",
    "cli/report",
)
"""What shows runs: the live display and the optional applications, which are counted apart."""

_FLEET = ("fleet/", "cli/fleet")
"""The optional engine of many runs, which is counted apart, with its arrows."""

Functions = ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> Iterator[tuple[Path, str, ast.Module]]:
    """Yield each module of the package: its path, its text and its tree."""
    for path in sorted(HOUSE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield path, text, ast.parse(text)


def entries() -> list[str]:
    """Return the names of the rooms: what stands in `ralph/` besides the package's own files."""
    own = {"__init__.py", "__main__.py", "py.typed", "__pycache__"}
    return sorted(path.name.removesuffix(".py") for path in HOUSE.iterdir() if path.name not in own)


def arrows(rooms: list[str]) -> set[tuple[str, str]]:
    """Return the pairs of rooms of which the first imports the second, deferred imports included."""
    found: set[tuple[str, str]] = set()
    for path, _, tree in modules():
        room = path.relative_to(HOUSE).parts[0].removesuffix(".py")
        for node in ast.walk(tree):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found |= {(room, name.split(".")[1]) for name in names if name.startswith("ralph.")}
    return {(room, other) for room, other in found if room != other and room in rooms and other in rooms}


def docstrings(tree: ast.Module) -> Iterator[str]:
    """Yield the docstrings of a module, its classes, functions and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def files_of_an_iteration() -> int:
    """Return how many files run code in one iteration: scripted executor, SQLite store, plain folder."""
    import anyio

    from ralph import Runner
    from ralph.store import open_store
    from ralph.testing import ScriptedExecutor, writes
    from ralph.workspace import PlainWorkspace

    seen: set[str] = set()
    counting = False

    def profile(frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        if counting and event == "call" and code.co_name != "<module>" and code.co_filename.startswith(str(HOUSE)):
            seen.add(code.co_filename)

    async def run(folder: Path) -> None:
        nonlocal counting
        replies = [writes("a.txt", "one", "Wrote the first part."), writes("a.txt", "two", "Wrote the second part.")]
        workspace = folder / "workspace"
        workspace.mkdir()
        async with Runner(
            executor=ScriptedExecutor(replies),
            store=open_store(str(folder / "ralph.db")),
            workspace=PlainWorkspace(workspace),
        ) as runner:
            async for event in runner.stream("Write both parts of a.txt."):
                if event.type == "iteration_finished":
                    counting = event.iteration == 1

    threading.setprofile(profile)  # the store works in a thread of its own
    sys.setprofile(profile)
    try:
        with tempfile.TemporaryDirectory() as folder:
            anyio.run(run, Path(folder))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len(seen)


def _is_in(path: Path, places: tuple[str, ...]) -> bool:
    return path.relative_to(HOUSE).as_posix().startswith(places)


def figures() -> dict[str, float]:
    """Return all figures by name."""
    found = list(modules())
    functions = [node for _, _, tree in found for node in ast.walk(tree) if isinstance(node, Functions)]
    sizes = sorted((node.end_lineno or node.lineno) - node.lineno + 1 for node in functions)
    lengths = [text.count("\n") for _, text, _ in found]
    viewers = sum(text.count("\n") for path, text, _ in found if _is_in(path, _VIEWERS))
    fleet = sum(text.count("\n") for path, text, _ in found if _is_in(path, _FLEET))
    texts = [text for _, _, tree in found for text in docstrings(tree)]
    rooms = entries()
    drawn = arrows(rooms)
    fleet_arrows = {arrow for arrow in drawn if "fleet" in arrow}
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    return {
        "entries": len(rooms),
        "layers": next(len(each["layers"]) for each in contracts if each.get("containers") == ["ralph"]),
        "arrows": len(drawn) - len(fleet_arrows),
        "fleet_arrows": len(fleet_arrows),
        "modules": len(found),
        "lines": sum(lengths) - viewers - fleet,
        "viewer_lines": viewers,
        "fleet_lines": fleet,
        "function_median": sizes[len(sizes) // 2],
        "function_p90": sizes[int(len(sizes) * 0.9)],
        "function_longest": sizes[-1],
        "small_modules_percent": round(100 * sum(length < _SMALL for length in lengths) / len(lengths), 1),
        "odd_docstrings_percent": round(100 * sum(bool(_ODD.match(text)) for text in texts) / len(texts), 1),
        "longest_file": max(lengths),
        "files_of_an_iteration": files_of_an_iteration(),
    }


def main() -> int:
    """Print the figures; return 1 if `--check` was given and one is over its limit."""
    found = figures()
    print(json.dumps(found, indent=1))
    over = {name: limit for name, limit in LIMITS.items() if found[name] > limit}
    for name, limit in over.items():
        print(f"{name} is {found[name]}, the limit is {limit}", file=sys.stderr)
    return 1 if over and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
