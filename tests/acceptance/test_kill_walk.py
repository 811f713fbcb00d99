"""Ralph is killed at every point of an iteration, and each time a new process goes on with the run.

`kill_walk.py` is the program that is killed, and says what a point is.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, NamedTuple

import pytest

CHILD = Path(__file__).with_name("kill_walk.py")
FINISHED = "1 store.append[iteration_finished] after #1"
IN_A_TURN = "2 agent.hears after #2"
TAKEN_UP = "2 store.append[iteration_started] before #1"
KILLS = 150
LEAST = {"sqlite": 50, "postgres": 20}

pytestmark = pytest.mark.timeout(900)

Said = dict[str, Any]


class Killer:
    """Has `kill_walk.py` do orders."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def do(self, orders: Sequence[Said]) -> list[Said]:
        """The answers to orders, in their order."""
        assert self._process.stdin
        assert self._process.stdout
        lines = [json.dumps({"id": number, **order}) for number, order in enumerate(orders)]
        self._process.stdin.write("".join(f"{line}\n" for line in [*lines, "null"]))
        self._process.stdin.flush()
        answers: dict[int, Said] = {}
        while len(answers) < len(orders):
            answer = json.loads(self._process.stdout.readline())
            answers[answer["id"]] = answer
        return [answers[number] for number in range(len(orders))]


@pytest.fixture(scope="module")
def killer() -> Generator[Killer]:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, str(CHILD)], stdin=pipe, stdout=pipe, text=True) as process:
        yield Killer(process)


class Case(NamedTuple):
    """One walk up to a point: its folder, its store."""

    point: str
    folder: Path
    store: str

    def order(self, mode: str, **more: Any) -> Said:
        return {"mode": mode, "point": self.point, "folder": str(self.folder), "store": self.store, **more}


@pytest.fixture
def cases(tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    """Makes cases: each has a git workspace of its own, and on SQLite a store."""
    origin = tmp_path / "origin"
    origin.mkdir()
    (origin / "README.md").write_text("# Two halves\n")
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "start")):
        subprocess.run(("git", *identity, *words), cwd=origin, check=True, capture_output=True)

    def make(number: int, point: str = "") -> Case:
        folder = tmp_path / f"case-{number}"
        folder.mkdir()
        subprocess.run(("cp", "-r", str(origin), str(folder / "workspace")), check=True)
        postgres = request.param == "postgres"
        store = request.getfixturevalue("postgres_url") if postgres else f"sqlite:///{folder}/runs.db"
        return Case(point, folder, store)

    return make


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def published(case: Case) -> set[tuple[int, str, int]]:
    return {tuple(json.loads(line)) for line in lines(case.folder / "published")}  # type: ignore[misc]


def alike(fold: Said) -> Said:
    """What of a fold must not depend on a crash; times do."""
    spent = {name: fold["spent"][name] for name in ("iterations", "usage")}
    decision = {name: fold["decision"][name] for name in ("kind", "verified", "still_open")}
    return {**fold, "spent": spent, "decision": decision}


def judged(case: Case, killed: Said, resumed: Said, whole: Said) -> Counter[str]:
    """Compares a run that was killed and resumed with one that was not."""
    kept = {tuple(event) for event in killed["events"]}
    events = {tuple(event) for event in resumed["events"]}
    before, after = [tuple(it) for it in killed["iterations"]], [tuple(it) for it in resumed["iterations"]]
    begun = Counter(event[2] for event in resumed["events"] if event[1] == "iteration_started")
    repeated = sum(count - 1 for count in begun.values())
    lost = published(case) - events
    assert published(case) <= kept | events
    assert kept <= events, "what was durable is there"
    assert after[: len(before)] == before, f"{case.point}: a finished iteration is as it was"
    assert [seq for seq, *_ in resumed["events"]] == list(range(1, len(events) + 1))
    assert resumed["state"] == "finished"
    assert alike(resumed["fold"]) == alike(whole["fold"]), case.point
    assert repeated <= 1, f"{case.point}: {begun}"
    assert not (case.folder / "orphans").exists(), f"{case.point}: an agent of the dead run met the next one"
    assert resumed["alive"] == [], f"{case.point}: an agent was left behind"
    return Counter(points=1, finished=len(before), repeated=repeated, lost=len(lost))


@pytest.mark.long
@pytest.mark.parametrize("cases", ["sqlite", "postgres"], indirect=True)
def test_a_kill_at_any_point_loses_nothing_that_was_finished(
    cases: Any, killer: Killer, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    traced = cases(0)
    [ran] = killer.do([traced.order("run")])
    assert ran["code"] == 0, ran
    assert ran["said"] == {"stop_reason": "completed", "iterations": 2, "verified": True}
    [whole] = killer.do([traced.order("look")])
    points = lines(traced.folder / "points")
    store = request.node.callspec.params["cases"]
    points = distinct(points[points.index(FINISHED) + 1 :])
    if store == "postgres":  # between two of its points the store is the same; SQLite's walk has what else differs
        points = [point for point in points if " store." in point or " told " in point]
    assert len(points) >= LEAST[store], points
    walk = [cases(number, point) for number, point in enumerate(points, start=1)]
    for case, end in zip(walk, killer.do([case.order("run") for case in walk]), strict=True):
        assert end["code"] == -9, f"{case.point} was not come by: {end}"
    killed = killer.do([case.order("look") for case in walk])
    orders = [
        case.order("resume", point="", run=found["said"]["run"]) for case, found in zip(walk, killed, strict=True)
    ]
    for case, end in zip(walk, killer.do(orders), strict=True):
        assert (end["code"], end["said"].get("stop_reason")) == (0, "completed"), f"{case.point}: {end}"
    resumed = killer.do([case.order("look") for case in walk])
    sums: Counter[str] = Counter()
    for case, before, after in zip(walk, killed, resumed, strict=True):
        sums += judged(case, before["said"], after["said"], whole["said"])
    with capsys.disabled():
        print(f"\n{table(points, sums, store)}")
    assert sums["lost"] == 0


@pytest.mark.parametrize("cases", ["sqlite"], indirect=True)
@pytest.mark.long
def test_a_kill_while_a_run_is_taken_up_loses_nothing_either(cases: Any, killer: Killer) -> None:
    whole, traced = cases(0), cases(1, IN_A_TURN)
    killer.do([case.order("run") for case in (whole, traced)])
    looked = [answer["said"] for answer in killer.do([case.order("look") for case in (whole, traced)])]
    before = len(lines(traced.folder / "points"))
    killer.do([traced.order("resume", point="", run=looked[1]["run"])])
    points = lines(traced.folder / "points")[before:]
    points = distinct(points[: points.index(TAKEN_UP) + 1])
    assert any("store.acquire" in point for point in points)
    walk = [cases(number, IN_A_TURN) for number in range(2, len(points) + 2)]
    killer.do([case.order("run") for case in walk])
    runs = [answer["said"]["run"] for answer in killer.do([case.order("look") for case in walk])]
    again = list(zip(walk, runs, points, strict=True))
    for end in killer.do([case.order("resume", point=point, run=run) for case, run, point in again]):
        assert end["code"] == -9, end
    killed = killer.do([case.order("look") for case in walk])
    for end in killer.do([case.order("resume", point="", run=run) for case, run, _ in again]):
        assert end["code"] == 0, end
    for case, first, last in zip(walk, killed, killer.do([case.order("look") for case in walk]), strict=True):
        assert judged(case, first["said"], last["said"], looked[0])["lost"] == 0


@pytest.mark.attack
@pytest.mark.parametrize("cases", ["sqlite", "postgres"], indirect=True)
def test_a_kill_at_a_random_moment_loses_nothing(
    cases: Any, killer: Killer, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    traced = cases(0)
    killer.do([traced.order("look")])
    began = monotonic()
    killer.do([traced.order("run")])
    took = monotonic() - began
    [whole] = killer.do([traced.order("look")])
    # A moment after a random point, not after the start: it is within the run, however fast the machine is just then.
    points = [point for point in lines(traced.folder / "points") if "release" not in point]
    chance = Random(14)
    walk = [cases(number, chance.choice(points)) for number in range(1, KILLS + 1)]
    ends = killer.do([case.order("run", after=chance.uniform(0.0, took / 20)) for case in walk])
    looked = [answer["said"] for answer in killer.do([case.order("look") for case in walk])]
    begun = [(case, said) for case, said in zip(walk, looked, strict=True) if said["run"]]
    for end in killer.do([
        case.order("resume", point="", run=said["run"]) for case, said in begun if said["state"] != "finished"
    ]):
        assert (end["code"], end["said"].get("stop_reason")) == (0, "completed"), end
    resumed = [answer["said"] for answer in killer.do([case.order("look") for case, _ in begun])]
    sums: Counter[str] = Counter(killed=sum(end["code"] == -9 for end in ends), begun=len(begun))
    for (case, before), after in zip(begun, resumed, strict=True):
        sums += judged(case, before, after, whole["said"])
    with capsys.disabled():
        print(f"\nrandom kills on {request.node.callspec.params['cases']}: {dict(sums)}")
    assert sums["killed"] > KILLS / 2, "what was not killed shows nothing"
    assert sums["lost"] == 0


def distinct(points: Sequence[str]) -> list[str]:
    """The points with something between each and the next: after one call and before the next is the same moment."""
    following = zip(points, [*points[1:], ""], strict=True)
    return [point for point, then in following if not (" after " in point and " before " in then)]


def table(points: Sequence[str], sums: Mapping[str, int], store: str) -> str:
    kinds = Counter(point.split(" ")[1].partition(".")[0] for point in points)
    of = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
    figures = "  ".join(f"{name} {sums[name]}" for name in ("points", "finished", "repeated", "lost"))
    return f"kill walk on {store:<9} {figures}  ({of})"
