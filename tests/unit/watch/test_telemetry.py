"""What wrong OTEL_* values do to a program, each in a process of its own that is forked from one."""

import json
import logging
import os
import subprocess
import sys

import pytest

from ralph.system.secrets import Redactor

CASES = """
import contextlib, io, json, os, sys
import copilot._telemetry, google.protobuf, requests
import ralph.hooks
from ralph.watch.telemetry import exporting

assert not [name for name in sys.modules if name.startswith("opentelemetry.")], "loaded too early"
for name in [name for name in os.environ if name.startswith("OTEL_")]:
    del os.environ[name]

def one(variables):
    os.environ.update(variables)
    notes, printed = [], io.StringIO()
    with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
        with exporting(notes.append) as observers:
            began = list(notes)
            copilot._telemetry.get_trace_context()
    return [len(observers), began, notes[len(began):], printed.getvalue()]

for variables in json.load(sys.stdin):
    reader, writer = os.pipe()
    if not (child := os.fork()):
        try:
            said = one(variables)
        except BaseException as error:
            said = repr(error)
        os.write(writer, json.dumps(said).encode())
        os._exit(0)
    os.close(writer)
    print(os.fdopen(reader).read())
    os.waitpid(child, 0)
"""

HERE = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_a_wrong_value_costs_at_most_the_telemetry_and_is_named_in_one_note() -> None:
    table = [  # the variables, how many observers, what the note names
        ({"OTEL_PROPAGATORS": "foo"}, 0, "OTEL_PROPAGATORS=foo"),
        ({"OTEL_PROPAGATORS": "foo", **HERE}, 1, "OTEL_PROPAGATORS=foo"),
        ({"OTEL_PYTHON_CONTEXT": "zzz"}, 0, ""),
        ({"OTEL_SERVICE_NAME": "night"}, 0, ""),
        ({"OTEL_METRIC_EXPORT_INTERVAL": "-1", **HERE}, 0, "OTEL_METRIC_EXPORT_INTERVAL=-1"),
        ({"OTEL_BSP_MAX_QUEUE_SIZE": "-5", **HERE}, 0, "OTEL_BSP_MAX_QUEUE_SIZE=-5"),
        ({"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "abc", **HERE}, 0, "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=abc"),
        ({"OTEL_EXPORTER_OTLP_TIMEOUT": "soon", **HERE}, 1, "OTEL_EXPORTER_OTLP_TIMEOUT=soon"),
        ({"OTEL_EXPORTER_OTLP_COMPRESSION": "zip", **HERE}, 1, "OTEL_EXPORTER_OTLP_COMPRESSION=zip"),
        ({"OTEL_BSP_SCHEDULE_DELAY": "abc", **HERE}, 1, "OTEL_BSP_SCHEDULE_DELAY=abc"),
        ({"OTEL_PYTHON_CONTEXT": "zzz", **HERE}, 1, "OTEL_PYTHON_CONTEXT=zzz"),
        ({"OTEL_EXPERIMENTAL_RESOURCE_DETECTORS": "zzz", **HERE}, 1, "OTEL_EXPERIMENTAL_RESOURCE_DETECTORS=zzz"),
        ({"OTEL_TRACES_SAMPLER": "zzz", **HERE}, 1, "OTEL_TRACES_SAMPLER=zzz"),
    ]
    done = subprocess.run(
        (sys.executable, "-c", CASES),
        input=json.dumps([variables for variables, *_ in table]),
        capture_output=True,
        text=True,
        check=True,
    )
    for (variables, observers, named), line in zip(table, done.stdout.splitlines(), strict=True):
        found = json.loads(line)
        assert isinstance(found, list), (variables, found)
        count, began, ended, printed = found
        assert (count, len(began), printed) == (observers, bool(named), ""), (variables, found)
        assert all(named in note and "orrect or unset it" in note for note in began), (variables, found)
        assert len(ended) <= 1, (variables, found)
    assert done.stderr == ""


@pytest.mark.parametrize(("capture", "sent"), [("", "the observer %s failed"), ("true", "the observer *** failed")])
def test_a_warning_is_sent_masked_with_its_severity(monkeypatch: pytest.MonkeyPatch, capture: str, sent: str) -> None:
    from opentelemetry._logs import SeverityNumber

    from ralph.watch import telemetry_observer as observer

    said: list[tuple[str, SeverityNumber]] = []

    def log(text: str, severity: SeverityNumber, _: int) -> None:
        said.append((text, severity))

    monkeypatch.setattr(observer, "_log", log)
    monkeypatch.setattr(logging, "lastResort", None)
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", capture)
    bridge = observer.Bridge(Redactor(["violet-secret"]))
    for level in (logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL):
        record = logging.LogRecord("ralph.hooks", level, "", 1, "the observer %s failed", ("violet-secret",), None)
        if level >= bridge.level:
            bridge.emit(record)
    assert said == [(sent, SeverityNumber.WARN), (sent, SeverityNumber.ERROR), (sent, SeverityNumber.FATAL)]


@pytest.mark.parametrize(
    ("variable", "place", "kept", "secrets"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://user:secretpw@x.invalid/", "ftp://x.invalid/", ["secretpw", "user:"]),
        (
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "http://127.0.0.1:1/v1?api-key=violetkey",
            "http://127.0.0.1:1/v1:",
            ["violetkey"],
        ),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://u:a?violetpw@127.0.0.1:1/", "the collector:", ["violetpw"]),
    ],
)
def test_the_note_names_the_place_without_credentials(variable: str, place: str, kept: str, secrets: list[str]) -> None:
    code = """
import sys
from ralph.watch.telemetry import exporting
with exporting(print):
    from opentelemetry import trace
    trace.get_tracer("x").start_span("x").end()
"""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")} | {variable: place}
    done = subprocess.run((sys.executable, "-c", code), env=env, capture_output=True, text=True, check=True)
    assert f"could not be sent to {kept}" in done.stdout
    assert not [each for each in secrets if each in done.stdout + done.stderr]
    assert len(done.stdout.splitlines()) == 1
    assert "HTTPConnectionPool" not in done.stdout
