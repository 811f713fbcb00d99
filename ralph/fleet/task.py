"""The tasks of a fleet, and the files that list them."""

import json
import os
import re
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, Field, ValidationError, model_validator

from ralph.decision.limits import Limits
from ralph.errors import SettingError, UsageError, plainly
from ralph.settings import Source, load_settings, require_numbers, setting_error
from ralph.settings.consent import leaves
from ralph.settings.model import ENVIRONMENT_PREFIX, SECRETS
from ralph.system.files import read_regular
from ralph.types import evolve

VERSION = 1
"""Of the records of tasks; a worker leaves tasks with a greater one to newer workers."""

_MOST_BYTES = 50_000_000
_MOST_TASKS = 100_000

SCP = re.compile(r"(?:[\w.-]+@)?[\w][\w.-]*:(?!/?/)[\w./~+@-]+", re.ASCII)
"""An address such as USER@HOST:PATH."""

_LOGIN = re.compile(r"(\w*)://([^/?#]*)@")
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"


class Task(BaseModel, frozen=True, extra="forbid"):
    """One task of a fleet: the work, the place for it, and what a worker must know before it starts.

    Attributes:
        name: how other tasks and commands call it; unique in the fleet.
        repository: the address or path of a git repository, which each attempt gets a fresh worktree of.
        folder: a folder on the worker's machine to work in, instead of a repository.
        ref: the branch, tag or commit to begin from; None for the repository's own default.
        branch: the branch that receives the result; None for one that is named after the run.
        verify: commands that a claim of completion must pass.
        limits: on the run; the ones that are not given come from the worker's settings.
        priority: tasks with a greater one start first.
        labels: a worker must have all of them.
        after: names of tasks that must have been completed before.
        settings: more settings of the run, as in ralph.toml.
    """

    version: int = Field(default=VERSION, ge=1)
    name: str | None = Field(default=None, pattern=NAME)
    task: str = Field(max_length=100_000)
    repository: str | None = Field(default=None, min_length=1, max_length=2_000)
    folder: Path | None = None
    ref: str | None = Field(default=None, min_length=1, max_length=250)
    branch: str | None = Field(default=None, min_length=1, max_length=250)
    verify: tuple[str, ...] = ()
    limits: Limits = Limits()
    priority: int = Field(default=0, ge=-1_000, le=1_000)
    labels: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    settings: dict[str, Any] = {}

    @model_validator(mode="after")
    def _in_one_place(self) -> "Task":
        if (self.repository is None) == (self.folder is None):
            raise ValueError("a task has either a repository or a folder")
        if not self.task.strip():
            raise ValueError("the task is empty")
        for git_name in (self.ref, self.branch, self.repository):
            if git_name and git_name.startswith("-"):
                raise ValueError(f"{git_name[:40]!r} begins with a dash")
        return self

    @property
    def place(self) -> str:
        """The repository or folder, by which runs in one place are counted."""
        return self.repository or str(self.folder)


def has_login(address: str) -> bool:
    """Return True if an address contains a password or a token; the user name of an ssh address is allowed."""
    found = _LOGIN.search(address)
    return found is not None and (found[1] != "ssh" or ":" in found[2])


def read_tasks(path: Path) -> list[Task]:
    """Return the tasks of a YAML or JSON file: a list, or a table with `tasks` and what they have in common.

    Relative folders and repositories are those beside the file.

    Raises:
        UsageError: the file cannot be read, or a task in it is not valid.
    """
    try:
        text = read_regular(path, _MOST_BYTES + 1).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"{path} cannot be read: {why}.", "Name a file of tasks in YAML or JSON.") from None
    if len(text) > _MOST_BYTES:
        raise UsageError(f"{path} is larger than {_MOST_BYTES:,} bytes.", "Submit it in several parts.")
    return tasks_of(_parsed(text, path), str(path), path.parent)


def tasks_of(given: Any, name: str, base: Path) -> list[Task]:
    """Return the tasks of a parsed file in a folder. Raises `UsageError`, which names the file and the task."""
    table = cast("dict[str, Any]", given) if isinstance(given, dict) else {"tasks": given}
    common = {key: value for key, value in table.items() if key != "tasks"}
    listed: Any = table.get("tasks", [common] if "task" in common else None)
    if not isinstance(listed, list) or not listed:
        raise UsageError(f"{name} has no list of tasks.", "Write `tasks:` and below it a list of tables with `task:`.")
    items = cast("list[Any]", listed)
    if len(items) > _MOST_TASKS:
        raise UsageError(f"{name} has more than {_MOST_TASKS:,} tasks.", "Submit it in several parts.")
    elsewhere = {key: value for key, value in common.items() if key not in {"repository", "folder"}}
    tables = [_table(item, name, number) for number, item in enumerate(items, 1)]
    whole = ({**(elsewhere if {"repository", "folder"} & {*own} else common), **own} for own in tables)
    return [_in(base, _task(each, name, number)) for number, each in enumerate(whole, 1)]


def _in(base: Path, task: Task) -> Task:
    """Return a task with its relative folder or repository made absolute: a worker has another current folder."""
    given = str(task.folder) if task.repository is None else task.repository
    if "://" in given or "::" in given or given.startswith("~"):
        return task
    found = Path(os.path.abspath(base / given))  # noqa: PTH100 - links stay as they are written
    if task.repository is None:
        return evolve(task, folder=found)
    is_address = SCP.fullmatch(given) and not found.exists()
    return task if is_address else evolve(task, repository=str(found))


def _parsed(text: str, path: Path) -> Any:
    try:
        if path.suffix == ".json":
            return json.loads(text)
        return _yaml(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be parsed: {str(error)[:300]}.", "Write it as YAML or JSON.") from None


def _yaml(text: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise missing_extra("Tasks in YAML need the package pyyaml") from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def missing_extra(problem: str) -> UsageError:
    """Return the error for a missing package of the extra `fleet`."""
    from ralph.system.install import extra_remedy

    return UsageError(f"{problem}, which is not installed.", extra_remedy("fleet"))


def _table(item: Any, name: str, number: int) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise UsageError(f"{name}: task {number} is not a table.", "Write `- task: …` for each task.")
    return cast("dict[str, Any]", item)


def _task(values: dict[str, Any], name: str, number: int) -> Task:
    place = f"{name}: task {number}"
    origins = dict.fromkeys((*Task.model_fields, *(key for key, _ in leaves(values))), place)
    try:
        task = Task.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["loc"]:
            raise setting_error(error, origins, Task) from None
        raise UsageError(
            f"{place}: {plainly(first['msg'])}.", "`ralph fleet submit --help` names the fields of a task."
        ) from None
    require_numbers(values, task, origins)
    _require_settings(task.settings, f"{place}: settings")
    return task


def _require_settings(values: dict[str, Any], place: str) -> None:
    """Raise `SettingError` for settings that no worker could use, or that are not to be stored."""
    if not values:
        return
    load_settings([Source(place, values)])
    keys = [key for key, _ in leaves(values)]
    if "store" in keys:
        raise SettingError("store", place, "the runs of a fleet are in the fleet's own store.", "Leave it out.")
    if secret := next((each for each in SECRETS if any(f"{key}.".startswith(f"{each}.") for key in keys)), None):
        variable = f"{ENVIRONMENT_PREFIX}{secret.replace('.', '__').upper()}"
        raise SettingError(
            secret, place, "it would be stored for all to read.", f"Set {variable} in the worker's environment."
        )
