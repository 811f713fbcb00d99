"""What ten plug-ins cost: at start-up, and in each analysis.

Ten distributions lie in a folder on the path as `pip install` leaves them, each with a detector that looks for a word
and gives a signal where it stands. Start-up is that of a process that imports what a run needs and loads the plug-ins,
with and without that folder; an analysis is that of an ordinary reply of 1 KB, with and without the ten detectors. Both
sides take turns, and the fastest of each counts. Prints one JSON object: `analysis_ratio` (with ÷ without),
`startup_ms` (with − without), and the times behind them. An argument says how often start-up is measured.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, thread_time

from analysis_texts import ordinary

from ralph.analysis import AnalysisContext, Analyzer, ResponseAnalyzer
from ralph.plugins import Plugins
from ralph.status import parse_status
from ralph.types.output import Output

ROUNDS = int(sys.argv[1]) if sys.argv[1:] else 15
TURNS = 3_000
WORDS = ("session", "cache", "retry", "import", "search", "settings", "export", "reset", "upload", "audit")

PLUGIN = '''\
"""Counts what is said of {word}."""

from ralph.analysis import Signal
from ralph.plugins import hookimpl


def detect_{word}(reply):
    at = reply.reading.prose.find("{word}")
    if at >= 0:
        yield Signal("{word}", "{word}", at, at + {length}, 0, "speaks of {word}")


@hookimpl
def ralph_detectors():
    yield detect_{word}
'''
LOADS = """
import ralph.loop.assembly
from ralph.plugins import Plugins
plugins = Plugins.found()
plugins.require_sound()
assert len(plugins.things('ralph_detectors')) >= {count} and not plugins.problems
"""


def main() -> None:
    """Measures, and prints the result."""
    with TemporaryDirectory() as place:
        folder = Path(place) / "site"
        for word in WORDS:
            install(folder, word)
        without, with_ten = startup(Path(place), folder)
        sys.path.insert(0, str(folder))
        plugins = Plugins.found()
    bare, plugged = analysis(plugins)
    result = {
        "analysis_ratio": round(plugged / bare, 3),
        "startup_ms": round((with_ten - without) * 1000, 1),
        "analysis_ms": round(bare * 1000, 3),
        "analysis_with_ten_ms": round(plugged * 1000, 3),
        "start_ms": round(without * 1000, 1),
        "start_with_ten_ms": round(with_ten * 1000, 1),
        "plugins": sum(not plugin.built_in for plugin in plugins.all),
    }
    print(json.dumps({**result, "within": result["analysis_ratio"] <= 1.2 and result["startup_ms"] <= 30}))


def install(folder: Path, word: str) -> None:
    """A distribution with one plug-in."""
    info = folder / f"ralph_{word}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: ralph-{word}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[ralph]\nbench-{word} = ralph_{word}\n")
    (folder / f"ralph_{word}.py").write_text(PLUGIN.format(word=word, length=len(word)))


def startup(place: Path, folder: Path) -> tuple[float, float]:
    """Seconds that a process takes without the plug-ins and with them, from bytecode."""
    cache = {"PYTHONPYCACHEPREFIX": str(place / "bytecode"), "PYTHONDONTWRITEBYTECODE": "", "RALPH_PLUGINS": ""}
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS + 1):
        for taken, path, count in zip(times, ("", str(folder)), (0, len(WORDS)), strict=True):
            environment = {**os.environ, **cache, "PYTHONPATH": path}
            began = perf_counter()
            subprocess.run([sys.executable, "-c", LOADS.format(count=count)], check=True, env=environment)
            taken.append(perf_counter() - began)
    return min(times[0][1:]), min(times[1][1:])


def analysis(plugins: Plugins) -> tuple[float, float]:
    """Seconds of its thread's time that an analysis takes without the detectors and with them."""
    analyzers = (ResponseAnalyzer(), plugins.analyzer_with(no_progress=3))
    text = ordinary(1_000)
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(TURNS):
        for taken, seconds in zip(times, timed(analyzers, text), strict=True):
            taken.append(seconds)
    return min(times[0]), min(times[1])


def timed(analyzers: tuple[Analyzer, ...], text: str) -> Iterator[float]:
    """Seconds of one analysis by each."""
    output, context = Output(text=text), AnalysisContext()
    for analyzer in analyzers:
        began = thread_time()
        analyzer.analyze(output, parse_status(text), context)
        yield thread_time() - began


if __name__ == "__main__":
    main()
