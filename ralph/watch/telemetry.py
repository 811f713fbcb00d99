"""The export of telemetry: what the `OTEL_*` variables want, and what keeps it from being sent.

Nothing of OpenTelemetry is loaded before the variables want it, as a wrong value can break its import.
"""

import logging
import os
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from importlib.metadata import entry_points
from textwrap import shorten
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from ralph import __version__
from ralph.system.secrets import Redactor, secret_values

if TYPE_CHECKING:
    from ralph.hooks import Hooks

_FLUSH, _HURRIED_FLUSH = 2.0, 0.4
"""Seconds at the end of a program to send what is left; the second after a signal."""

_SIGNALS = ("TRACES", "METRICS", "LOGS")
_NUMBERS = re.compile(r"OTEL_((BSP|BLRP|METRIC_EXPORT)_.*|EXPORTER_OTLP_.*TIMEOUT|.*_LIMIT)")


def signals(environ: Mapping[str, str]) -> tuple[frozenset[str], str]:
    """Return which of TRACES, METRICS and LOGS the variables want to be exported, and what of them is not possible."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return frozenset(), ""
    wanted: set[str] = set()
    for signal in _SIGNALS:
        name, variable = environ.get(f"OTEL_{signal}_EXPORTER"), f"OTEL_{signal}"
        name = name or ("otlp" if _endpoint(environ, signal) else "none")
        protocol = environ.get(f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL") or environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
        if name not in {"otlp", "none"}:
            return frozenset(), f"{variable}_EXPORTER={name} is not supported: Ralph knows otlp and none"
        if name == "otlp" and protocol == "grpc":
            return frozenset(), "the protocol grpc is not supported: use http/protobuf, usually at port 4318"
        wanted |= {signal} if name == "otlp" else set()
    return frozenset(wanted), ""


@contextmanager
def exporting(note: Callable[[str], None], mask: Callable[[str], str] | None = None) -> Generator[list["Hooks"]]:
    """Export what the variables of the environment want; provide the observer, or nothing if they want nothing.

    Leaving the block takes at most two seconds, however the collector is, and half a second after a signal.

    Args:
        note: shows the user why there is no telemetry, or why it could not be sent.
        mask: applied to the program's own warnings; by default it masks the secrets of the environment.
    """
    problems, logger = _Problems(), logging.getLogger("opentelemetry")
    logger.handlers, logger.propagate = [problems], False
    mask = mask or Redactor(secret_values(os.environ))
    wanted, problem = signals(os.environ)
    if ignored := _without_unknown_propagators():
        note(f"{ignored}: it is ignored. Correct or unset it.")
    if problem:
        note(f"No telemetry is sent: {problem}.")
    if not wanted or not (exported := _begin(wanted, problems, note)):
        yield []
        return
    from ralph.watch.telemetry_observer import Bridge, Telemetry

    observer, bridge, hurried = Telemetry(), Bridge(mask), False
    logging.getLogger("ralph").addHandler(bridge)
    try:
        yield [observer]
    except KeyboardInterrupt:
        hurried = True
        raise
    finally:
        observer.end_all()
        why = exported.end(_HURRIED_FLUSH if hurried or observer.cancelled else _FLUSH)
        logging.getLogger("ralph").removeHandler(bridge)
        if why:
            places = " and ".join(dict.fromkeys(_place(_endpoint(os.environ, each)) for each in sorted(wanted)))
            note(f"Telemetry could not be sent to {places}: start it, correct or unset the OTEL_… variables ({why}).")


def _begin(wanted: frozenset[str], problems: "_Problems", note: Callable[[str], None]) -> "_Exported | None":
    """Set up what is wanted; show in one note what keeps it from that, or which values are ignored."""
    try:
        import ralph.watch.telemetry_observer  # pyright: ignore[reportUnusedImport] # noqa: F401

        exported = _providers(wanted, problems)
    except ImportError:
        from ralph.system.install import extra_remedy

        note(f"No telemetry is sent: the extra `otlp` is missing. {extra_remedy('otlp')}")
        return None
    except Exception as error:  # noqa: BLE001 - each part of the SDK has its own for a wrong value
        note(f"No telemetry is sent: {_suspects(str(error))}. Correct or unset it ({_shown(str(error))}).")
        return None
    if said := list(problems.said.values()):
        note(f"Telemetry is sent, but {_suspects(' '.join(said))} is ignored. Correct or unset it ({_shown(said[0])}).")
        problems.said.clear()
    return exported


def _without_unknown_propagators() -> str:
    """Unset OTEL_PROPAGATORS if it names one that is missing: OpenTelemetry, which SDKs import, too, would raise."""
    for name in filter(None, map(str.strip, os.environ.get("OTEL_PROPAGATORS", "").split(","))):
        if name != "none" and not entry_points(group="opentelemetry_propagator", name=name):
            return f"OTEL_PROPAGATORS={_shown(os.environ.pop('OTEL_PROPAGATORS'))} names what is not installed"
    return ""


def _suspects(said: str) -> str:
    """Return the variables that a complaint is about, with their values."""
    given = {name: value for name, value in os.environ.items() if name.startswith("OTEL_") and "HEADERS" not in name}
    wrong = [name for name, value in given.items() if _NUMBERS.fullmatch(name) and not value.strip("0").isdecimal()]
    named = [name for name, value in given.items() if name in said or (len(value) > 1 and value in said)]
    return ", ".join(_shown(f"{name}={given[name]}") for name in wrong or named or given)


def _providers(wanted: frozenset[str], problems: "_Problems") -> "_Exported":
    """Make the providers of the process, unless it has its own. Raises `ImportError` without the extra."""
    from opentelemetry import metrics, trace
    from opentelemetry._logs import set_logger_provider
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "") or os.environ.get("OTEL_SERVICE_NAME")
    resource = Resource.create({"service.version": __version__} | ({} if named else {"service.name": "ralph"}))
    made: dict[str, tuple[Callable[[Any], None], Any]] = {}
    exported = _Exported(problems)
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return exported  # such as under `opentelemetry-instrument`
    if "TRACES" in wanted:
        tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        tracers.add_span_processor(BatchSpanProcessor(exported.heard(OTLPSpanExporter())))
        made["trace"] = (trace.set_tracer_provider, tracers)
    if "METRICS" in wanted:
        reader = PeriodicExportingMetricReader(exported.heard(OTLPMetricExporter()))
        meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        made["metric"] = (metrics.set_meter_provider, meters)
    if "LOGS" in wanted:
        loggers = LoggerProvider(resource=resource, shutdown_on_exit=False)
        loggers.add_log_record_processor(BatchLogRecordProcessor(exported.heard(OTLPLogExporter())))
        made["log"] = (set_logger_provider, loggers)
    for signal, (use, provider) in made.items():  # all or, after a fault above, none
        use(provider)
        exported.providers[signal] = provider
    return exported


class _Exported:
    """The providers that Ralph has made, and what came of their exports."""

    def __init__(self, problems: "_Problems") -> None:
        self.providers: dict[str, Any] = {}
        self._problems = problems
        self._arrived = False

    def heard(self, exporter: Any) -> Any:
        """Return the exporter, of which is known from now on that something has arrived."""
        send = exporter.export

        def export(*batch: Any, **options: Any) -> Any:
            result = send(*batch, **options)
            self._arrived = self._arrived or result.name == "SUCCESS"
            return result

        exporter.export = export
        return exporter

    def end(self, limit: float) -> str:
        """Send what is left within this many seconds, unless all was refused so far; return why something was not."""
        threads = [Thread(target=made.shutdown, name=signal, daemon=True) for signal, made in self.providers.items()]
        for thread in threads:
            thread.start()
        last = monotonic() + limit
        while (left := [each for each in threads if each.is_alive()]) and monotonic() < last:
            if not self._arrived and all(self._refused(each.name) for each in left):
                break
            left[0].join(0.02)
        if self._problems.said:
            return _shown(next(iter(self._problems.said.values())))
        return f"it takes more than {limit:g} seconds" if left else ""

    def _refused(self, signal: str) -> bool:
        return any(name.endswith(f"{signal}_exporter") for name in self._problems.said)


class _Problems(logging.Handler):
    """Keeps the first complaint of each part of OpenTelemetry, which would otherwise be printed over the display."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: dict[str, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        given = record.args if isinstance(record.args, tuple) else ()
        errors = [each for each in given if isinstance(each, BaseException)]
        self.said.setdefault(record.name, _cause(errors[0]) if errors else record.getMessage())


def _cause(error: BaseException) -> str:
    """Return the innermost error: that the connection was refused, not which pool of connections saw it."""
    for _ in range(9):
        inner = (error.__cause__, getattr(error, "reason", None), *error.args)
        error = next((each for each in inner if isinstance(each, BaseException)), error)
    return getattr(error, "strerror", None) or str(error)


def _endpoint(environ: Mapping[str, str], signal: str) -> str:
    return environ.get(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT") or environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")


def _place(url: str) -> str:
    """Return an address without a user, a password and a query; a phrase if they cannot be told apart."""
    return "the collector" if not url or re.search(r"[?#].*@", url) else _shown(url)


def _shown(text: str) -> str:
    """Return a text without what can be a secret: users, queries, values of headers and the like; whole words."""
    given = [pair for name, value in os.environ.items() if "_OTLP_" in name for pair in value.split(",")]
    secrets = [part for each in given for part in (each.partition("=")[2], each.partition("://")[2].rpartition("@")[0])]
    text = re.sub(r"\?[^\s'\")]*", "", re.sub(r"//[^/\s]*@", "//", text))
    return shorten(Redactor([*secret_values(os.environ), *secrets])(text), 200, placeholder=" …")
