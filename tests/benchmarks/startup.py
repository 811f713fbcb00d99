"""Cost of starting: of the program, of the analysis as a library, and the heavy modules that come with it.

Each thing and its reference take turns, so that a busy machine slows both; the least processor time of each counts, for
what is more than that is the machine's. All of it runs from bytecode, as installed programs do. Prints one JSON object:
`version_ratio` (`ralph --version` ÷ `import typer`), `import_ratio` (importing the module of `ResponseAnalyzer` ÷ a
process that imports pydantic and defines one model), `import_ms` (their difference), `analyzer_ratio` and `analyzer_ms`
(the same for a process that also builds an analyzer), `first_analysis_ratio` and `first_analysis_ms` (the same for one
that also analyzes a first reply), `help_ratio`
(`ralph --help`, which asks the installed plug-ins ÷ the help of a program that typer shows for one command),
`heavy_modules` (modules that `import ralph` and `ralph --version` load and should not), `help_heavy_modules` (the same
for `ralph --help`, which needs what typer's own help needs), and the times behind them. An argument says how often each
is measured.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from tempfile import TemporaryDirectory

ROUNDS = int(sys.argv[1]) if sys.argv[1:] else 25

BYTECODE = TemporaryDirectory()
ENVIRONMENT = {**os.environ, "PYTHONPYCACHEPREFIX": BYTECODE.name, "PYTHONDONTWRITEBYTECODE": ""}

PYDANTIC = "import pydantic\nclass Model(pydantic.BaseModel):\n    name: str = ''\n"
IMPORT = "from ralph.analysis.analyzer import ResponseAnalyzer"
ANALYZER = f"{IMPORT}\nResponseAnalyzer()"
FIRST_ANALYSIS = """
from ralph.analysis import AnalysisContext, ResponseAnalyzer
from ralph.status import parse_status
from ralph.types.output import Output
text = "I fixed the parser in `src/parse.py`, and all 12 tests pass. The task is complete."
ResponseAnalyzer().analyze(Output(text=text), parse_status(text), AnalysisContext())
"""
HELP = "import typer\napp = typer.Typer()\n@app.command()\ndef greet(name: str) -> None: ...\napp()"
HEAVY = (
    *("anyio", "asyncio", "copilot", "httpx", "opentelemetry", "psutil", "pydantic", "pydantic_settings", "rich"),
    *("sqlalchemy", "textual"),
)
FOR_HELP = {"pydantic", "rich"}
LOADED = f"import sys; print(*[name for name in {HEAVY} if name in sys.modules])"
PROGRAM = "import sys; from ralph.cli import main\nsys.argv = ['ralph', '{word}']\ntry: main()\nexcept SystemExit: pass"


def main() -> None:
    """Measure, and print the result."""
    typer, version = side_by_side(("-c", "import typer"), ("-m", "ralph", "--version"))
    model, imported, analyzer, analyzed = side_by_side(
        ("-c", PYDANTIC), ("-c", IMPORT), ("-c", ANALYZER), ("-c", FIRST_ANALYSIS)
    )
    plain_help, help_of_all = side_by_side(("-c", HELP, "--help"), ("-m", "ralph", "--help"))
    result = {
        "version_ratio": round(version / typer, 3),
        "import_ratio": round(imported / model, 3),
        "import_ms": round((imported - model) * 1000, 1),
        "analyzer_ratio": round(analyzer / model, 3),
        "analyzer_ms": round((analyzer - model) * 1000, 1),
        "first_analysis_ratio": round(analyzed / model, 3),
        "first_analysis_ms": round((analyzed - model) * 1000, 1),
        "help_ratio": round(help_of_all / plain_help, 3),
        "heavy_modules": sorted({*loaded("import ralph"), *loaded(PROGRAM.format(word="--version"))}),
        "help_heavy_modules": sorted({*loaded(PROGRAM.format(word="--help"))} - FOR_HELP),
        "version_ms": round(version * 1000, 1),
        "model_ms": round(model * 1000, 1),
        "typer_ms": round(typer * 1000, 1),
        "help_ms": round(help_of_all * 1000, 1),
        "plain_help_ms": round(plain_help * 1000, 1),
        "within": version <= 1.5 * typer,
    }
    print(json.dumps(result))


def side_by_side(*processes: Sequence[str]) -> list[float]:
    """Return the least seconds of processor time that a Python process with each of the arguments takes."""
    times: list[list[float]] = [[] for _ in processes]
    for _ in range(ROUNDS):
        for taken, words in zip(times, processes, strict=True):
            began = processor_time()
            subprocess.run([sys.executable, *words], check=True, capture_output=True, env=ENVIRONMENT)
            taken.append(processor_time() - began)
    return [min(taken) for taken in times]


def processor_time() -> float:
    """Return the seconds of processor time of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def loaded(code: str) -> list[str]:
    """Return the heavy modules that a process has loaded after it ran some code."""
    done = subprocess.run([sys.executable, "-c", f"{code}\n{LOADED}"], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[-1].split()


if __name__ == "__main__":
    main()
