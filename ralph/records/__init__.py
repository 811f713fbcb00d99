"""The durable records and events of a run, and the view of them that displays show."""
