"""Test doubles and conformance suites for code built on Ralph.

`ModelServer` is a scripted model endpoint on loopback for real agents, `ScriptedExecutor` an executor without an agent,
`FakeClock` a clock that a test moves. `ExecutorConformance`, `DetectorConformance`, `AnalyzerConformance`,
`VerifierConformance` and `StoreConformance` are the tests that every implementation must pass. `SeenEvents` keeps a
run's events, `Repository` is a real git repository, and `run_ralph` runs the program. `until`, `wait_until`, `lives`
and `living` watch files and processes. The other names are the steps of a server's script. Names are imported at first
use.
"""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.executors.scripted import Reply, ScriptedExecutor, writes
    from ralph.testing.analysis_conformance import AnalyzerConformance, DetectorConformance
    from ralph.testing.executor_conformance import ExecutorConformance
    from ralph.testing.model_server import ModelServer
    from ralph.testing.observe import FakeClock, SeenEvents, lives, living, until, wait_until
    from ralph.testing.program import Repository, own_environment, run_ralph
    from ralph.testing.steps import (
        Call,
        Cut,
        EditFile,
        Empty,
        Fail,
        Garbage,
        Hang,
        Say,
        Shell,
        Stall,
        Step,
        Use,
        WriteFile,
    )
    from ralph.testing.store_conformance import StoreConformance
    from ralph.testing.verifier_conformance import VerifierConformance
    from ralph.testing.wire import ModelRequest

__all__ = [
    "AnalyzerConformance",
    "Call",
    "Cut",
    "DetectorConformance",
    "EditFile",
    "Empty",
    "ExecutorConformance",
    "Fail",
    "FakeClock",
    "Garbage",
    "Hang",
    "ModelRequest",
    "ModelServer",
    "Reply",
    "Repository",
    "Say",
    "ScriptedExecutor",
    "SeenEvents",
    "Shell",
    "Stall",
    "Step",
    "StoreConformance",
    "Use",
    "VerifierConformance",
    "WriteFile",
    "lives",
    "living",
    "own_environment",
    "run_ralph",
    "until",
    "wait_until",
    "writes",
]

__getattr__, __dir__ = lazy_exports(__name__)
