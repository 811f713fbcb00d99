"""The words that a setting chooses from, for the settings and for the parts that they reach."""

from typing import Literal

Context = Literal["fresh", "continue"]
"""Each iteration has a fresh session of the agent, or continues one."""

ProtectChecks = Literal["auto", "on", "off"]
CommitPolicy = Literal["none", "iteration", "completion"]
"""The time at which changes are committed to the branch that is checked out."""

Chooser = Literal["agent", "ralph"]
"""The one who chooses the next item of the plan: the agent or Ralph."""

PermissionMode = Literal["workspace", "approve-all", "read-only"]
WireApi = Literal["completions", "responses"]
CliMode = Literal["prompt", "what-the-shell"]
WorktreeEnd = Literal["keep", "merge", "discard"]
