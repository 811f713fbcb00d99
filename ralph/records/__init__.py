"""The durable records and events of a run, and the view of them that displays show."""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.records.events import Event, parse_event
    from ralph.records.projection import RunView
    from ralph.records.record import IterationRecord, RunRecord, RunState

__all__ = ["Event", "IterationRecord", "RunRecord", "RunState", "RunView", "parse_event"]

__getattr__, __dir__ = lazy_exports(__name__)
