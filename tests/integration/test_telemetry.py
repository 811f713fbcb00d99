"""Traces, metrics and logs of a run, received over OTLP/HTTP on loopback and decoded."""

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ralph.testing import ModelServer, Say, Shell
from ralph.watch.telemetry import signals

DONE = "All done.\n\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n"
SECRET_WORDS = ("violet-task", "violet-command", "violet-answer", "violet-result")
"""Parts of the task, the command, its output and the answer, of which nothing may be sent."""


class Received(NamedTuple):
    """A span, from protobuf or JSON."""

    name: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    start: int
    end: int
    failed: bool
    service: str


class Collector(ThreadingHTTPServer):
    """An OTLP/HTTP receiver."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Receiver)
        self.posts: list[tuple[str, str, bytes]] = []
        Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def bodies(self, path: str, kind: str) -> list[bytes]:
        return [body for at, content, body in self.posts if at.endswith(path) and kind in content]

    @property
    def spans(self) -> list[Received]:
        return [*self._binary(), *self._textual()]

    def _binary(self) -> Iterator[Received]:
        for body in self.bodies("/v1/traces", "protobuf"):
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                service = _decoded(resource.resource.attributes).get("service.name", "")
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        yield Received(
                            span.name,
                            span.trace_id.hex(),
                            span.span_id.hex(),
                            span.parent_span_id.hex(),
                            _decoded(span.attributes),
                            span.start_time_unix_nano,
                            span.end_time_unix_nano,
                            span.status.code == 2,
                            service,
                        )

    def _textual(self) -> Iterator[Received]:
        for body in self.bodies("/v1/traces", "json"):
            for resource in json.loads(body)["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    for span in scope["spans"]:
                        yield Received(
                            span["name"],
                            span["traceId"],
                            span["spanId"],
                            span.get("parentSpanId", ""),
                            {each["key"]: next(iter(each["value"].values())) for each in span.get("attributes", [])},
                            int(span["startTimeUnixNano"]),
                            int(span["endTimeUnixNano"]),
                            span.get("status", {}).get("code") == 2,
                            "the CLI",
                        )

    @property
    def points(self) -> dict[str, list[tuple[dict[str, Any], float]]]:
        """Each metric's points: attributes, and the number or the count of a histogram."""
        found: dict[str, list[tuple[dict[str, Any], float]]] = {}
        for body in self.bodies("/v1/metrics", "protobuf"):
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for metric in (each for scope in resource.scope_metrics for each in scope.metrics):
                    numbers = [(_decoded(p.attributes), p.as_double or p.as_int) for p in metric.sum.data_points]
                    counts = [(_decoded(p.attributes), float(p.count)) for p in metric.histogram.data_points]
                    found[metric.name] = [*numbers, *counts]
        return found

    @property
    def logs(self) -> list[tuple[str, str, str, dict[str, Any]]]:
        """Each record's body, trace, span and attributes."""
        return [
            (record.body.string_value, record.trace_id.hex(), record.span_id.hex(), _decoded(record.attributes))
            for body in self.bodies("/v1/logs", "protobuf")
            for resource in ExportLogsServiceRequest.FromString(body).resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]


class Receiver(BaseHTTPRequestHandler):
    server: Collector  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.posts.append((self.path, self.headers.get("content-type", ""), body))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the base class
        pass


def _decoded(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}


def tree(spans: list[Received]) -> str:
    """The spans, each below its parent, in the order in which they began."""
    known = {span.id for span in spans}

    def lines(parent: str, depth: int) -> Iterator[str]:
        below = [span for span in spans if (span.parent if span.parent in known else "") == parent]
        for span in sorted(below, key=lambda span: span.start):
            milliseconds = (span.end - span.start) / 1e6
            yield f"{'  ' * depth}{span.name}  [{span.service}] {milliseconds:.0f} ms"
            yield from lines(span.id, depth + 1)

    return "\n".join(lines("", 0))


@pytest.fixture
def collector() -> Generator[Collector]:
    collector = Collector()
    yield collector
    collector.shutdown()
    collector.server_close()


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return {**kept, "XDG_STATE_HOME": str(home), "COPILOT_HOME": str(home / "copilot"), **more}


def ran(
    folder: Path, script: Any, env: Mapping[str, str], *options: str, task: str = "Fix the violet-task."
) -> tuple[subprocess.CompletedProcess[str], float]:
    """A whole `ralph run` on the real runtime."""
    with ModelServer(script) as server:
        words = ("run", task, "--base-url", server.base_url, "--model", "m", "--max-iterations", "2")
        began = time.monotonic()
        done = subprocess.run(
            (sys.executable, "-m", "ralph", *words, "--verify-shell", "test -e made", "--display", "plain", *options),
            cwd=folder,
            env=dict(env),
            capture_output=True,
            text=True,
            check=False,
        )
        return done, time.monotonic() - began


SCRIPT = [Shell("touch made; echo violet-result # violet-command"), Say(f"violet-answer {DONE}")]


@pytest.mark.usefixtures("copilot_runtime")
@pytest.mark.timeout(120)
def test_a_run_on_the_real_runtime_is_one_trace_with_the_spans_of_the_cli_in_it(
    collector: Collector, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    done, _ = ran(work, SCRIPT, environment(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url))
    assert done.returncode == 0, done.stdout + done.stderr
    spans = [span for span in collector.spans if not span.name.startswith("session.")]
    print(tree(spans))
    assert len({span.trace for span in spans}) == 1
    ours = {span.name: span for span in spans if span.service == "ralph"}
    theirs = {span.name: span for span in spans if span.service != "ralph"}
    assert set(ours) == {
        "ralph.run",
        "ralph.iteration",
        "invoke_agent copilot-sdk",
        "execute_tool bash",
        "ralph.verification",
    }
    turn = ours["invoke_agent copilot-sdk"]
    assert (ours["ralph.iteration"].parent, turn.parent) == (ours["ralph.run"].id, ours["ralph.iteration"].id)
    assert ours["execute_tool bash"].parent == turn.id
    assert ours["ralph.verification"].parent == ours["ralph.iteration"].id
    assert theirs["invoke_agent"].parent == turn.id
    assert {"chat m", "invoke_agent"} <= set(theirs)
    assert turn.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert turn.attributes["gen_ai.usage.input_tokens"] > 100
    assert ours["ralph.run"].attributes["ralph.stop_reason"] == "completed"
    assert all(span.start <= span.end for span in spans)
    assert {(body, trace, span) for body, trace, span, _ in collector.logs} >= {
        ("iteration 1: complete", turn.trace, ours["ralph.iteration"].id),
        ("the run has ended: completed", turn.trace, ours["ralph.run"].id),
    }
    said = b"".join(body for _, _, body in collector.posts)
    assert not [word for word in SECRET_WORDS if word.encode() in said]


@pytest.mark.usefixtures("copilot_runtime")
@pytest.mark.timeout(120)
def test_contents_are_sent_where_the_user_wants_that(collector: Collector, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    env = environment(
        tmp_path,
        OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true",
        VIOLET_PASSWORD="violet-correct-horse",
    )
    script = [Shell("touch made; echo violet-result violet-correct-horse # violet-command"), SCRIPT[1]]
    done, _ = ran(work, script, env, task="Fix the violet-task by violet-correct-horse.")
    assert done.returncode == 0, done.stdout + done.stderr
    ours = {span.name: span.attributes for span in collector.spans if span.service == "ralph"}
    turn, tool = ours["invoke_agent copilot-sdk"], ours["execute_tool bash"]
    assert "violet-task" in json.loads(turn["gen_ai.input.messages"])[0]["parts"][0]["content"]
    assert "violet-answer" in turn["gen_ai.output.messages"]
    assert "violet-command" in tool["gen_ai.tool.call.arguments"]
    assert "violet-result" in tool["gen_ai.tool.call.result"]
    theirs = [span for span in collector.spans if span.service != "ralph"]
    assert "chat m" in {span.name for span in theirs}
    assert not [span for span in theirs if any(word in str(span.attributes) for word in SECRET_WORDS)]
    assert not [path for path, _, body in collector.posts if b"violet-correct-horse" in body]


SCRIPTED = """
import sys
from pathlib import Path
import anyio
from ralph import BreakerSettings, CircuitBreaker, Limits, Runner
from ralph.executors import FallbackExecutor
from ralph.store import MemoryStore
from ralph.testing import ScriptedExecutor
from ralph.types.output import Failed, TimedOut
from ralph.watch.telemetry import exporting

class Second(ScriptedExecutor):
    name = "second"

class Broken(ScriptedExecutor):
    name = "first"
    tries_again = False

async def main():
    failed = Failed(failure="unavailable", message="violet-answer")
    first = Broken([failed] * 9)
    subjects = ("The grammar has nine rules", "Module two imports the lexer", "Tests live elsewhere")
    said = [f"{subject}; looking further into part {n}, violet-answer." for n, subject in enumerate(subjects)]
    second = Second([TimedOut(limit="idle", after=5.0), *said])
    with exporting(lambda text: print("note:", text)) as observers:
        runner = Runner(
            executor=FallbackExecutor(first, second, sleep=lambda seconds: anyio.sleep(0)),
            store=MemoryStore(),
            workspace=Path(sys.argv[1]),
            verify=["false"],
            breaker=CircuitBreaker(BreakerSettings(no_progress=3)),
            limits=Limits(max_iterations=6),
            hooks=observers,
        )
        async with runner:
            record = await runner.run("violet-task")
        print(record.stop_reason, len(observers), "opentelemetry.sdk" in sys.modules)
        import logging
        logging.getLogger("ralph.test").warning("said by the program")

anyio.run(main)
"""


def scripted(folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    (folder / "work").mkdir()
    return subprocess.run(
        (sys.executable, "-c", SCRIPTED, str(folder / "work")),
        env=environment(folder, **env),
        capture_output=True,
        text=True,
        check=True,
    )


def test_failures_fallbacks_and_the_breaker_are_counted(collector: Collector, tmp_path: Path) -> None:
    done = scripted(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, OTEL_SERVICE_NAME="night")
    assert done.stdout == "circuit_open 1 True\n", done.stderr
    points = collector.points
    assert len(points["ralph.executor.retries"]) == 1
    fallbacks = [about for about, _ in points["ralph.executor.fallbacks"]]
    assert {(each["ralph.executor.before"], each["ralph.executor.after"]) for each in fallbacks} == {
        ("first", "second")
    }
    ended = [(about["ralph.outcome"], about["ralph.decision"]) for about, _ in points["ralph.iterations"]]
    assert sorted(ended) == [("completed", "continue"), ("completed", "halt"), ("timed_out_idle", "continue")]
    assert sum(count for _, count in points["ralph.iterations"]) == len([
        span for span in collector.spans if span.name == "ralph.iteration"
    ])
    assert [about["ralph.breaker.state"] for about, _ in points["ralph.breaker.transitions"]] == ["open"]
    assert {about["ralph.outcome"] for about, _ in points["ralph.verifier.verdicts"]} == {"failed"}
    assert points["ralph.runs"] == [({"ralph.stop_reason": "circuit_open", "ralph.verified": False}, 1)]
    assert {"ralph.iteration.duration", "ralph.analysis.duration", "gen_ai.client.token.usage"} <= points.keys()
    assert {about["gen_ai.token.type"] for about, _ in points["gen_ai.client.token.usage"]} == {"input", "output"}
    assert {span.service for span in collector.spans} == {"night"}
    assert {span.name for span in collector.spans if span.failed} == {"ralph.iteration", "invoke_agent second"}
    assert "said by the program" in {body for body, *_ in collector.logs}
    said = b"".join(body for _, _, body in collector.posts)
    assert not [word for word in SECRET_WORDS if word.encode() in said]


def test_a_trace_of_the_environment_is_continued(collector: Collector, tmp_path: Path) -> None:
    outer = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    scripted(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, TRACEPARENT=outer)
    [run] = [span for span in collector.spans if span.name == "ralph.run"]
    assert (run.trace, run.parent) == ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")


@pytest.mark.parametrize("silent", [False, True])
def test_a_collector_that_cannot_be_reached_delays_and_breaks_nothing(tmp_path: Path, *, silent: bool) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as deaf:  # it accepts, and never answers
        if not silent:
            deaf.server_close()
        began = time.monotonic()
        done = scripted(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{deaf.server_port}")
        took = time.monotonic() - began
    ended, note = done.stdout.splitlines()
    assert (ended, note.startswith("note: Telemetry could not be sent to http://127.0.0.1:")) == (
        "circuit_open 1 True",
        True,
    )
    assert done.stderr == "said by the program\n"
    (tmp_path / "without").mkdir()
    began = time.monotonic()
    scripted(tmp_path / "without")
    assert took - (time.monotonic() - began) < 2 + 2  # the time to send, and that to load the SDK on a busy machine


CANCELLED = """
import sys, time
from pathlib import Path
import anyio
from ralph import Runner
from ralph.store import MemoryStore
from ralph.testing import ScriptedExecutor
from ralph.watch.telemetry import exporting

async def main():
    with exporting(lambda text: print("note:", text)) as observers:
        executor = ScriptedExecutor(["One part is done, others are not."] * 9)
        runner = Runner(executor=executor, store=MemoryStore(), workspace=Path(sys.argv[1]), verify=["sleep 9"],
                        hooks=observers)
        async with anyio.create_task_group() as group:
            async def stop():
                await anyio.sleep(0.5)
                runner.cancel("SIGINT")
            group.start_soon(stop)
            async with runner:
                record = await runner.run("task")
        ended = time.monotonic()
    print(record.stop_reason, time.monotonic() - ended)

anyio.run(main)
"""


@pytest.mark.parametrize(("silent", "most"), [(False, 0.3), (True, 0.5)])
def test_a_collector_that_is_away_does_not_hold_up_a_signal(tmp_path: Path, *, silent: bool, most: float) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as deaf:
        if not silent:
            deaf.server_close()
        env = environment(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{deaf.server_port}")
        command = (sys.executable, "-c", CANCELLED, str(tmp_path))
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    note, ended = done.stdout.splitlines()
    print(ended)
    assert note.startswith("note: Telemetry could not be sent to http://127.0.0.1:"), done.stderr
    reason, took = ended.split()
    assert reason == "cancelled"
    assert float(took) <= most


@pytest.mark.parametrize("variables", [{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}])
def test_without_the_variables_nothing_of_the_sdk_is_loaded(tmp_path: Path, variables: dict[str, str]) -> None:
    assert scripted(tmp_path, **variables).stdout == "circuit_open 0 False\n"
    code = "import sys; from ralph.cli import main; sys.argv = ['ralph', '--version']\n"
    code += "try: main()\nfinally: print([*sys.modules])"
    done = subprocess.run(
        (sys.executable, "-c", code),
        env=environment(tmp_path, **variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ralph.cli" in done.stdout
    assert "opentelemetry" not in done.stdout


@pytest.mark.parametrize(
    ("variables", "wanted", "problem"),
    [
        ({}, set(), ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, {"TRACES", "METRICS", "LOGS"}, ""),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, {"TRACES"}, ""),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, {"TRACES"}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_LOGS_EXPORTER": "none"}, {"TRACES", "METRICS"}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "TRUE"}, set(), ""),
        ({"OTEL_SERVICE_NAME": "x"}, set(), ""),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, set(), "OTEL_TRACES_EXPORTER=zipkin"),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, set(), "http/protobuf"),
    ],
)
def test_the_standard_variables_say_what_is_sent(variables: dict[str, str], wanted: set[str], problem: str) -> None:
    found, said = signals(variables)
    assert (set(found), problem in said, bool(said)) == (wanted, True, bool(problem))
