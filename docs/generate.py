"""Write the parts of the documentation that come from the code: settings, events, commands, names.

`uv run python docs/generate.py` fills everything between `<!-- generated: NAME -->` and `<!-- end -->` in docs. A test
runs it and fails if a page would change.
"""

import inspect
import re
import runpy
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer.main
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, BeforeValidator, JsonValue, SecretStr

from ralph.settings import Setting
from ralph.system import declarations

DOCS = Path(__file__).parent

_API = runpy.run_path(str(DOCS / "api.py"))

_PLACE = re.compile(r"(<!-- generated: ([a-z]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_ATTRIBUTE = re.compile(r"^    (\w+(?:, \w+)*): (.*(?:\n {8,}.*)*)", re.MULTILINE)
_COMMON = 4
"""An option that so many commands have is described once for all."""
_ASTRONOMICAL = 10**9
"""A bound from there on only keeps arithmetic sane."""

_WORDS: dict[Any, str] = {
    str: "text",
    SecretStr: "text",
    int: "whole number",
    float: "number",
    bool: "boolean",
    Path: "path",
    datetime: "time (ISO 8601)",
    Any: "any",
}

_VALUES = """A value with a link into the Python API has the fields that stand there. In JSON, a tuple is a list,
a dict a table, a datetime text (ISO 8601), and None `null`. The other values:
"""

PACKAGES = (
    "ralph",
    "ralph.analysis",
    "ralph.records.events",
    "ralph.types",
    "ralph.types.output",
    "ralph.status",
    "ralph.decision.claims",
    "ralph.types.verification",
    "ralph.executors",
    "ralph.executors.program_output",
    "ralph.system.process",
    "ralph.workspace",
    "ralph.store",
    "ralph.loop.ownership",
    "ralph.types.requests",
    "ralph.pipeline.evaluate",
    "ralph.pipeline.replay",
    "ralph.verifiers",
    "ralph.tasks",
    "ralph.watch",
    "ralph.watch.web",
    "ralph.plugins",
    "ralph.hooks",
    "ralph.testing",
    "ralph.system.files",
    "ralph.errors",
)


def rewritten(text: str) -> str:
    """A page with its generated parts as they should be."""
    return _PLACE.sub(lambda place: f"{place[1]}\n{PARTS[place[2]]().strip()}\n\n{place[3]}", text)


def layers() -> str:
    """The import contract of `ralph/` as a Mermaid diagram: one box for each layer, the highest on top."""
    contracts = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(each["layers"] for each in contracts["contracts"] if each.get("containers") == ["ralph"])
    boxes = [f'    layer{number}["{layer.replace(" | ", " · ")}"]' for number, layer in enumerate(layers)]
    arrows = [f"    layer{number} --> layer{number + 1}" for number in range(len(layers) - 1)]
    return "\n".join(["```mermaid", "flowchart TD", *boxes, *arrows, "```"])


def settings() -> str:
    """A table for each section of the settings."""
    from ralph.settings import Settings

    sections = {"": Settings, **dict(_sections(Settings))}
    return "\n".join(_section(name, model) for name, model in sections.items())


def consent() -> str:
    """The settings that a workspace may not make by itself, and the direction in which it may make the others."""
    from ralph.settings import TRUSTED_ONLY, Settings, settings_in

    always = [f"- `{key}`" for key in TRUSTED_ONLY]
    rows = [["Key", "Tighter", "From"]]
    rows += [[f"`{each.key}`", str(each.tighter), _default(each)] for each in settings_in(Settings) if each.tighter]
    between = "These need consent only for a value that is looser than the default:"
    return "\n".join([*always, "", between, "", _table(rows)])


def profiles() -> str:
    """The settings that each breaker profile sets."""
    from ralph.decision.breaker import PRESETS

    names = sorted({name for preset in PRESETS.values() for name in preset.model_fields_set})
    rows = [["Profile", *(f"`{name}`" for name in names)]]
    rows += [[f"`{name}`", *(f"{getattr(preset, each):g}" for each in names)] for name, preset in PRESETS.items()]
    return _table(rows)


def limits() -> str:
    """The limits of a run."""
    return _flagged("limits.", "Limit")


def timeouts() -> str:
    """The time-outs of a turn."""
    return _flagged("executor.", "Time-out", only=declarations.TIMES)


def events() -> str:
    """Every event with its fields, then every kind of value in them."""
    from ralph.records.events import Event

    kinds: tuple[type[BaseModel], ...] = get_args(get_args(Event)[0])
    common = kinds[0].__mro__[1]
    values: dict[type[BaseModel], None] = {}
    elsewhere = _API["anchors"](PACKAGES)
    parts = ["## Every event\n", _fields(common, values)]
    for kind in sorted(kinds, key=lambda kind: _constant(kind, "type")):
        parts += [f"## {_constant(kind, 'type')}\n", _summary(kind), _fields(kind, values, besides=common)]
    parts.append(f"## Values\n\n{_VALUES}\n")
    told: dict[str, str] = {}
    while left := [model for model in values if model.__name__ not in told and model not in elsewhere]:
        for model in left:
            told[model.__name__] = f"### {model.__name__}\n\n{_summary(model)}\n{_fields(model, values)}"
    text = "\n".join([*parts, *(told[name] for name in sorted(told))]).replace("None", "null")
    text = text.replace("and null is", "and None is")
    links = {f"(#{model.__name__.lower()})": f"(python-api.md#{anchor})" for model, anchor in elsewhere.items()}
    return re.sub(r"\(#\w+\)", lambda link: links.get(link[0], link[0]), text)


def commands() -> str:
    """Every built-in command with its arguments and options."""
    from ralph.cli.commands import COMMANDS, command

    group = command()
    context = typer.Context(group, info_name="ralph")
    return _commands((f"ralph {name}", group.get_command(context, name)) for name in COMMANDS)


def names() -> str:
    """The names that each package exports, with their signatures and fields."""
    return _API["reference"](PACKAGES)


def hooks() -> str:
    """Every hook of a plug-in: how it is called, what it is for, and an example."""
    from ralph.plugins import spec as module

    return "\n".join(_hook(getattr(module, name)) for name in module.HOOK_NAMES)


def observers() -> str:
    """Return the methods of an observer with what each is given; those that may veto come first."""
    from ralph.hooks import Hooks

    methods = [method for name, method in vars(Hooks).items() if name.startswith(("before_", "on_"))]
    rows = [["Method", "Is given", "What it is"]]
    rows += [[f"`{method.__name__}`", _given(method), " ".join((method.__doc__ or "").split())] for method in methods]
    return _table(rows)


def scoring() -> str:
    """The commands, the settings and the names of the plug-in that scores answers."""
    import ralph_grounding
    from ralph_grounding.cli.app import app_for
    from ralph_grounding.settings import GroundingSettings

    group = typer.main.get_command(app_for(GroundingSettings()))
    commands = _commands((f"ralph score {name}", each) for name, each in getattr(group, "commands", {}).items())
    table = "plugins.grounding"
    inner = ((heading.strip("[]"), model) for heading, model in _sections(GroundingSettings))
    settings = [_section(f"[{table}.{name}]", model) for name, model in inner]
    own = _section("", GroundingSettings).replace("## At the top", f"## `[{table}]`")
    return "\n".join([commands, own, *settings, _package(ralph_grounding.__name__)])


PARTS: dict[str, Callable[[], str]] = {
    "consent": consent,
    "layers": layers,
    "limits": limits,
    "profiles": profiles,
    "timeouts": timeouts,
    "settings": settings,
    "events": events,
    "commands": commands,
    "names": names,
    "hooks": hooks,
    "observers": observers,
    "scoring": scoring,
}


def _hook(function: Callable[..., Any]) -> str:
    about, _, example = inspect.cleandoc(function.__doc__ or "").partition("Example:\n")
    arguments = ", ".join(inspect.signature(function).parameters)
    gives = str(function.__annotations__["return"]).replace(" | None", "")
    called = f"```text\n{function.__name__}({arguments}) -> {gives}\n```\n"
    paragraphs = "\n\n".join(" ".join(part.split()) for part in about.strip().split("\n\n"))
    return f"## {function.__name__}\n\n{called}\n{paragraphs}\n\n<!-- run -->\n\n{inspect.cleandoc(example)}\n"


def _given(method: Callable[..., Any]) -> str:
    """Return what a method is given: an event is a link to its form."""
    told = next(each for name, each in inspect.signature(method).parameters.items() if name != "self").annotation
    if get_origin(told) is Annotated:
        return "[any event](events.md)"
    kind = getattr(told, "model_fields", {}).get("type")
    return f"[`{told.__name__}`](events.md#{kind.default})" if kind is not None else f"`{told.__name__}`"


def _sections(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """The models within the settings, by the heading that they have in ralph.toml."""
    for name, field in model.model_fields.items():
        inner = next(_models(field.annotation), None)
        if inner is not None:
            origin = get_origin(field.annotation)
            headings: dict[Any, str] = {tuple: f"[[{name}]]", dict: f'[{name}."MODEL"]'}
            yield headings.get(origin, f"[{name}]"), inner


def _section(heading: str, model: type[BaseModel]) -> str:
    rows = [["Key", "Type", "Default", "Flag", "What it is"]]
    plain = re.fullmatch(r"\[(\w+)\]", heading)
    for name, field in model.model_fields.items():
        if not heading and next(_models(field.annotation), None) is not None:
            continue
        setting = Setting(f"{plain[1]}.{name}" if plain else name, field)
        flag = f"`{setting.flag.name}`" if setting.flag else ""
        kind = _kind(field.annotation, field.metadata)
        rows.append([f"`{setting.key}`", kind, _default(setting), flag, field.description or ""])
    title = f"## `{heading}`" if heading else "## At the top"
    listed = f"{_summary(model)}\n" if heading and not plain else ""
    return f"{title}\n\n{listed}{_table(rows)}"


def _default(setting: Setting) -> str:
    if setting.field.is_required():
        return "**required**"
    unset = "unset" if setting.field.get_default(call_default_factory=True) is None else "none"
    return f"`{setting.default}`" if setting.default else unset


def _flagged(prefix: str, heading: str, only: str = "") -> str:
    """A table of the settings whose keys begin so and that have a flag, of one group of the help or of all."""
    from ralph.settings import FLAGS

    rows = [["Flag", "Key", "Default", heading]]
    for flag, each in FLAGS.items():
        if each.key.startswith(prefix) and each.flag and each.flag.group == (only or each.flag.group):
            rows.append([f"`{flag}`", f"`{each.key}`", _default(each), each.field.description or ""])
    return _table(rows)


def _fields(model: type[BaseModel], values: dict[type[BaseModel], None], besides: type[BaseModel] | None = None) -> str:
    """A list of a model's fields; the models that they hold are noted in `values`."""
    told, lines = _attributes(model), list[str]()
    for name, field in model.model_fields.items():
        if (besides is None or name not in besides.model_fields) and not (besides and name == "type"):
            values.update(dict.fromkeys(_models(field.annotation)))
            kind = _kind(field.annotation, field.metadata, null=True)
            lines.append(f"- `{name}`: {kind}{f'; {told[name]}' if told.get(name) else ''}")
    return "\n".join(lines or ["Nothing besides the common fields."]) + "\n"


def _attributes(model: type[BaseModel]) -> dict[str, str]:
    """What the docstring says of each attribute."""
    _, _, listed = inspect.cleandoc(model.__doc__ or "").partition("Attributes:\n")
    said = {name: text for names, text in _ATTRIBUTE.findall(listed) for name in names.split(", ")}
    return {name: " ".join(text.split()) for name, text in said.items()}


def _summary(model: type[Any]) -> str:
    text, _, _ = inspect.cleandoc(model.__doc__ or "").partition("Attributes:\n")
    return f"{' '.join(text.split())}\n"


def _constant(model: type[BaseModel], name: str) -> str:
    return str(model.model_fields[name].default)


def _kind(annotation: Any, metadata: Iterable[Any] = (), *, null: bool = False) -> str:
    """A type in plain words; models are links."""
    arguments, metadata = get_args(annotation), tuple(metadata)
    match get_origin(annotation):
        case origin if origin is Annotated:
            return _kind(arguments[0], (*arguments[1:], *metadata), null=null)
        case origin if origin in {Union, UnionType}:
            kinds = [_kind(each, metadata) for each in arguments if each is not NoneType]
            return " or ".join([*kinds, "null"] if null and NoneType in arguments else kinds)
        case origin if origin is Literal:
            return ", ".join(f"`{each}`" for each in arguments)
        case origin if origin is tuple:
            return f"list of {_kind(arguments[0])}"
        case origin if origin is dict:
            return f"table of {_kind(arguments[1])}"
        case _:
            pass
    if any(isinstance(each, BeforeValidator) and each.func is declarations.parse_duration for each in metadata):
        return "duration"
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    return "any" if annotation is JsonValue else f"{_WORDS[annotation]}{_range(metadata)}"


def _range(metadata: Iterable[Any]) -> str:
    signs: dict[Any, tuple[str, str]] = {Gt: ("gt", ">"), Ge: ("ge", "≥"), Le: ("le", "≤")}
    found = sorted(metadata, key=lambda each: type(each) is Le)
    bounds = [
        f"{sign} {getattr(each, name):g}"
        for each in found
        for name, sign in [signs.get(type(each), ("", ""))]
        if sign and getattr(each, name) < _ASTRONOMICAL
    ]
    return f" {', '.join(bounds)}" if bounds else ""


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation) if annotation is not JsonValue else ():
        yield from _models(argument)


def _commands(found: Iterable[tuple[str, Any]]) -> str:
    """Describe each command; what several have in common is described once, and what one repeats has a link."""
    each = [one for path, command in found for one in _with_inner(path, command)]
    uses = Counter(option for _, command in each for option in _options(command))
    common = [option for option, times in uses.items() if times >= _COMMON]
    first = {option: path for path, command in reversed(each) for option in _options(command)}
    shared = [f"- {spelled}: {text}" for spelled, text in common]
    opening = (
        ["## Common options\n", "A command names those that it has.\n", "\n".join(shared) + "\n"] if shared else []
    )
    return "\n".join([*opening, *(_command(path, command, common, first) for path, command in each)])


def _with_inner(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _with_inner(f"{path} {name}", inner)


def _options(command: Any) -> list[tuple[str, str]]:
    """Return the options and the described arguments of a command, as they are spelled, each with its help."""
    found: list[tuple[str, str]] = []
    for each in command.params:
        if each.param_type_name == "option":
            value = f" {each.metavar}" if each.metavar else ""
            names = (*each.opts, *each.secondary_opts)
            found.append((", ".join(f"`{name}{value}`" for name in names), each.help or ""))
        elif getattr(each, "help", None):
            found.append((f"`{(each.metavar or each.name.upper()).strip('[]')}`", each.help))
    return [(spelled, text.replace("<", "&lt;")) for spelled, text in found]


def _command(path: str, command: Any, common: list[tuple[str, str]], first: dict[tuple[str, str], str]) -> str:
    usage = " ".join(command.collect_usage_pieces(typer.Context(command, info_name=path)))
    usage = usage.replace("[[", "[").replace("]]", "]")
    parts = [f"## {path}\n", f"```text\n{path} {usage}\n```\n", f"{' '.join((command.help or '').split())}\n"]
    own, named = list[str](), dict[str, list[str]]()
    for option in _options(command):
        spelled, text = option
        if option in common:
            named.setdefault("[Common](#common-options)", []).append(spelled)
        elif text and first[option] != path:
            place = first[option]
            named.setdefault(f"As in [{place}](#{place.replace(' ', '-')})", []).append(spelled)
        else:
            own.append(f"- {spelled}: {text}".rstrip(": "))
    parts += ["\n".join(own) + "\n"] if own else []
    parts += [f"{label}: {', '.join(options)}.\n" for label, options in named.items()]
    return "\n".join(parts)


def _package(name: str) -> str:
    module = import_module(name)
    rows = [["Name", "What it is"]]
    rows += [
        [f"`{each}`", _API["about"](getattr(module, each)) or _API["remark"](each)] for each in _API["exported"](module)
    ]
    return f"## {name}\n\n{_table(rows)}"


def _table(rows: Iterable[list[str]]) -> str:
    lines = [f"| {' | '.join(_escaped(cell) for cell in row)} |" for row in rows]
    columns = lines[0].count(" | ") + 1
    return "\n".join([lines[0], f"|{'---|' * columns}", *lines[1:]]) + "\n"


def _escaped(cell: str) -> str:
    """A cell's text; between backticks only what would end the cell is escaped."""
    plain_and_code = cell.replace("|", r"\|").split("`")
    plain_and_code[::2] = [plain.replace("<", "&lt;") for plain in plain_and_code[::2]]
    return "`".join(plain_and_code)


if __name__ == "__main__":
    for page in DOCS.rglob("*.md"):
        page.write_text(rewritten(page.read_text(encoding="utf-8")), encoding="utf-8")
