"""The status block: the agent's report on its own work, in a form that needs no interpretation.

```
---RALPH_STATUS---
EXIT_SIGNAL: false
STATUS: IN_PROGRESS
REASON: The parser is done, the printer is next.
---END_RALPH_STATUS---
```

The same is read as `RALPH_STATUS: {json}` and as YAML (`RALPH_STATUS:` above indented `key: value` lines), under the
names COPILOT_STATUS and END_STATUS, indented, in bold, in a fence, and with any line endings. The last well-formed
block that counts is the report. These do not count:

- a mention within a line: the marker starts its line, after indentation and bold marks;
- a block in a quote (`> `);
- a block in a fence that holds anything else;
- a block whose fields equal those of the prompt's own example.

A block without a closing line, without any field, or with an EXIT_SIGNAL other than true, false, yes, no, 1 and 0 is
malformed: a value of its own, never a guess. So is an `EXIT_SIGNAL` line outside of any block.
"""

from ralph.status.fields import StatusField
from ralph.status.report import Status, StatusForm, StatusMalformed, StatusMissing, StatusReport, parse_status

__all__ = ["Status", "StatusField", "StatusForm", "StatusMalformed", "StatusMissing", "StatusReport", "parse_status"]
