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
    from ralph.executors.scripted import Reply as Reply
    from ralph.executors.scripted import ScriptedExecutor as ScriptedExecutor
    from ralph.executors.scripted import writes as writes
    from ralph.testing.analysis_conformance import AnalyzerConformance as AnalyzerConformance
    from ralph.testing.analysis_conformance import DetectorConformance as DetectorConformance
    from ralph.testing.executor_conformance import ExecutorConformance as ExecutorConformance
    from ralph.testing.model_server import ModelServer as ModelServer
    from ralph.testing.observe import FakeClock as FakeClock
    from ralph.testing.observe import SeenEvents as SeenEvents
    from ralph.testing.observe import lives as lives
    from ralph.testing.observe import living as living
    from ralph.testing.observe import until as until
    from ralph.testing.observe import wait_until as wait_until
    from ralph.testing.program import Repository as Repository
    from ralph.testing.program import own_environment as own_environment
    from ralph.testing.program import run_ralph as run_ralph
    from ralph.testing.steps import Call as Call
    from ralph.testing.steps import Cut as Cut
    from ralph.testing.steps import EditFile as EditFile
    from ralph.testing.steps import Empty as Empty
    from ralph.testing.steps import Fail as Fail
    from ralph.testing.steps import Garbage as Garbage
    from ralph.testing.steps import Hang as Hang
    from ralph.testing.steps import Say as Say
    from ralph.testing.steps import Shell as Shell
    from ralph.testing.steps import Stall as Stall
    from ralph.testing.steps import Step as Step
    from ralph.testing.steps import Use as Use
    from ralph.testing.steps import WriteFile as WriteFile
    from ralph.testing.store_conformance import StoreConformance as StoreConformance
    from ralph.testing.verifier_conformance import VerifierConformance as VerifierConformance
    from ralph.testing.wire import ModelRequest as ModelRequest

__getattr__, __dir__ = lazy_exports(__name__)
