"""The plug-ins that belong to Ralph, what each adds, and the command that installs one beside this Ralph."""

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

RUNTIME = "ralph-runtime"

PARTS_ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    "ralph_executors": {"acp": "ralph-acp", "claude": "ralph-claude", "codex": "ralph-codex"},
    "ralph_commands": {"notify": "ralph-notify", "score": "ralph-grounding"},
    "ralph_verifiers": {"grounding": "ralph-grounding"},
    "ralph_analyzers": {"grounding": "ralph-grounding"},
    "ralph_task_sources": {"github": "ralph-github"},
}
"""Parts that come with a plug-in: for each hook the names of the parts, with the distribution that has each."""

KNOWN: tuple[str, ...] = tuple(sorted({each for parts in PARTS_ELSEWHERE.values() for each in parts.values()}))
"""The distributions of Ralph's plug-ins."""


def missing_plugin(hook: str, name: str) -> str:
    """Return the remedy for a part that a plug-in of Ralph's has which is not installed; else empty."""
    found = PARTS_ELSEWHERE.get(hook, {}).get(name, "")
    if not found or is_installed(found):
        return ""
    return f"It comes with the plug-in {found}, which is not installed: `{shlex.join(install_command([found]))}`."


def is_installed(name: str) -> bool:
    """Return whether a distribution is installed beside Ralph."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def install_command(names: Sequence[str], prefix: Path | None = None) -> list[str]:
    """Return the command that installs distributions beside this Ralph, by the way in which it was installed itself.

    Args:
        names: the distributions. One that lies beside the clone or the wheel that Ralph was installed from is taken
            from there.
        prefix: the environment that Ralph is in; None for this one.
    """
    prefix = prefix or Path(sys.prefix)
    places = [_place(name) for name in names]
    if wanted := _tool_requirements(prefix):
        return ["uv", "tool", "install", wanted[0], *_each("--with", [*wanted[1:], *places])]
    if (prefix / "pipx_metadata.json").exists():
        return ["pipx", "inject", RUNTIME, *places]
    if is_temporary(prefix):
        return ["uvx", "--from", str(_origin() or RUNTIME), *_each("--with", places), "ralph"]
    if find_spec("pip"):
        return [sys.executable, "-m", "pip", "install", *places]
    return ["uv", "pip", "install", "--python", sys.executable, *places]


def is_temporary(prefix: Path | None = None) -> bool:
    """Return whether Ralph runs in an environment that `uvx` made, where nothing can be added."""
    return bool({"archive-v0", "environments-v2"} & {*(prefix or Path(sys.prefix)).parts})


def _each(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in dict.fromkeys(values) for word in (option, value)]


def _origin() -> Path | None:
    """Return the clone or the wheel that Ralph was installed from; None for an index."""
    try:
        said: Any = json.loads(distribution(RUNTIME).read_text("direct_url.json") or "{}")
        parts = urlsplit(str(said.get("url", "")))
    except (PackageNotFoundError, ValueError, AttributeError):
        return None
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def _place(name: str) -> str:
    """Return what an installer takes for a distribution: its folder in the clone, a wheel, or its name."""
    origin = _origin()
    if origin is None:
        return name
    folder = origin / "plugins" / name
    wheels = sorted(origin.parent.glob(f"{name.replace('-', '_')}-*.whl")) if origin.suffix == ".whl" else []
    return str(folder if folder.is_dir() else wheels[-1] if wheels else name)


def _tool_requirements(prefix: Path) -> list[str]:
    """Return what `uv tool install` was given, Ralph first: installing anew must not lose the other plug-ins."""
    import tomllib

    try:
        with (prefix / "uv-receipt.toml").open("rb") as file:
            listed: Any = tomllib.load(file)["tool"]["requirements"]
        listed = sorted(listed, key=lambda each: each["name"] != RUNTIME)
        return [_requirement(each) for each in listed]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []


def _requirement(said: Mapping[str, Any]) -> str:
    extras = f"[{','.join(said['extras'])}]" if said.get("extras") else ""
    place = next((said[kind] for kind in ("editable", "directory", "path", "url", "git") if kind in said), "")
    return f"{place}{extras}" if place else f"{said['name']}{extras}{said.get('specifier', '')}"
