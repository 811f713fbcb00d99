"""What starting costs: of the program, of the analysis as a library, and which heavy modules come with it.

Each thing and its reference take turns, so that a busy machine slows both; the fastest of each counts, for what is
slower than that is the machine's. All of it runs from bytecode, as installed programs do. Prints one JSON object:
`version_ratio` (`ralph --version` ÷ `import typer`), `import_ms` (`import ralph.analysis` − a process that imports
pydantic and defines one model), `analyzer_ms` (the same for its `ResponseAnalyzer`, which needs all of it but the
words), `help_ratio` (`ralph --help`, which asks the plug-ins that are installed here ÷ the help of a program that typer
shows for one command), `heavy_modules` (what `import ralph` and `ralph --version` load of what they should not),
`help_heavy_modules` (the same for `ralph --help`, which needs what typer's own help needs), and the times behind them.
An argument says how often each is measured.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from tempfile import TemporaryDirectory
from time import perf_counter

ROUNDS = int(sys.argv[1]) if sys.argv[1:] else 25

BYTECODE = TemporaryDirectory()
ENVIRONMENT = {**os.environ, "PYTHONPYCACHEPREFIX": BYTECODE.name, "PYTHONDONTWRITEBYTECODE": ""}

PYDANTIC = "import pydantic\nclass Model(pydantic.BaseModel):\n    name: str = ''\n"
HELP = "import typer\napp = typer.Typer()\n@app.command()\ndef greet(name: str) -> None: ...\napp()"
HEAVY = (
    *("anyio", "asyncio", "copilot", "httpx", "opentelemetry", "psutil", "pydantic", "pydantic_settings", "rich"),
    *("sqlalchemy", "textual"),
)
FOR_HELP = {"pydantic", "rich"}
LOADED = f"import sys; print(*[name for name in {HEAVY} if name in sys.modules])"
PROGRAM = "import sys; from ralph.cli import main\nsys.argv = ['ralph', '{word}']\ntry: main()\nexcept SystemExit: pass"


def main() -> None:
    """Measures, and prints the result."""
    typer, version = side_by_side(("-c", "import typer"), ("-m", "ralph", "--version"))
    model, analysis = side_by_side(("-c", PYDANTIC), ("-c", "import ralph.analysis"))
    model_again, analyzer = side_by_side(("-c", PYDANTIC), ("-c", "from ralph.analysis import ResponseAnalyzer"))
    plain_help, help_of_all = side_by_side(("-c", HELP, "--help"), ("-m", "ralph", "--help"))
    result = {
        "version_ratio": round(version / typer, 3),
        "import_ms": round((analysis - model) * 1000, 1),
        "analyzer_ms": round((analyzer - model_again) * 1000, 1),
        "help_ratio": round(help_of_all / plain_help, 3),
        "heavy_modules": sorted({*loaded("import ralph"), *loaded(PROGRAM.format(word="--version"))}),
        "help_heavy_modules": sorted({*loaded(PROGRAM.format(word="--help"))} - FOR_HELP),
        "version_ms": round(version * 1000, 1),
        "typer_ms": round(typer * 1000, 1),
        "help_ms": round(help_of_all * 1000, 1),
        "plain_help_ms": round(plain_help * 1000, 1),
        "within": version <= 1.5 * typer,
    }
    print(json.dumps(result))


def side_by_side(reference: Sequence[str], measured: Sequence[str]) -> tuple[float, float]:
    """Seconds that a Python process with each of the arguments takes at its fastest."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for taken, words in zip(times, (reference, measured), strict=True):
            began = perf_counter()
            subprocess.run([sys.executable, *words], check=True, capture_output=True, env=ENVIRONMENT)
            taken.append(perf_counter() - began)
    return min(times[0]), min(times[1])


def loaded(code: str) -> list[str]:
    """Which of the heavy modules a process has loaded after it ran some code."""
    done = subprocess.run([sys.executable, "-c", f"{code}\n{LOADED}"], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[-1].split()


if __name__ == "__main__":
    main()
