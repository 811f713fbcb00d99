"""The reference of the public names: signatures, fields with their types, and what the docstrings say of them."""

import ast
import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import groupby, pairwise
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, ClassVar, ForwardRef, Literal, Union, cast, get_args, get_origin

from annotated_types import Ge, Gt
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

__all__ = ["about", "anchors", "exported", "reference", "remark"]

_DESCRIBED = re.compile(r"^    (\w+(?:, \w+)*): (.*(?:\n {8,}.*)*)", re.MULTILINE)
_RAISES = re.compile(r"^Raises:\n((?:    .*\n?)+)", re.MULTILINE)
_WIDTH = 100
_LONG = 60
"""A default that is longer is left out."""

_BOUNDS = {Gt(0): "positive ", Ge(0): "non-negative "}

_OWN_PAGES = {"ralph.records.events": "Each event is a model of [events](events.md)."}
"""Packages with a page of their own."""

_UNIONS: dict[frozenset[object], str] = {}
"""The exported names of unions."""


def reference(packages: Iterable[str]) -> str:
    """Return a chapter for each package: its constants and the names of others, then each class and function in full.

    A name that several packages export is described in the first one other than `ralph` itself.
    """
    modules = [import_module(name) for name in packages]
    for module in modules:
        _UNIONS.update({_members_of(getattr(module, name)): name for name in exported(module)})
    _UNIONS.pop(frozenset(), None)
    homes = _homes(modules)
    return "\n".join(_chapter(module, homes) for module in modules)


def anchors(packages: Iterable[str]) -> dict[object, str]:
    """Return the anchor of each class and function that the reference describes."""
    found = _homes([import_module(name) for name in packages])
    return {
        thing: _anchor(f"{home}.{_name(thing)}")
        for thing, home in found.items()
        if _is_described(thing) and home not in _OWN_PAGES
    }


def _homes(modules: list[ModuleType]) -> dict[object, str]:
    by_rank = [modules[0], *modules[:0:-1]]
    return {_key(module, name): module.__name__ for module in by_rank for name in exported(module)}


def exported(module: ModuleType) -> list[str]:
    """The public names of a module: those in its `__all__`, else all that it defines without an underscore in front."""
    if listed := getattr(module, "__all__", None):
        return list(listed)
    names: set[str] = set()
    for node in ast.parse(inspect.getsource(module)).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case _:
                pass
    return sorted(name for name in names if not name.startswith("_"))


def _key(module: ModuleType, name: str) -> object:
    thing = getattr(module, name)
    return thing if _is_described(thing) else (module.__name__, name)


def _is_described(thing: object) -> bool:
    return inspect.isclass(thing) or inspect.isfunction(thing)


def _chapter(module: ModuleType, homes: Mapping[object, str]) -> str:
    constants, elsewhere, parts = list[str](), list[str](), list[str]()
    for name in exported(module):
        thing = getattr(module, name)
        home = homes[_key(module, name)]
        if home in _OWN_PAGES and "type" in getattr(thing, "model_fields", {}):
            elsewhere.append(f"[`{name}`](events.md#{thing.model_fields['type'].default})")
        elif not _is_described(thing) or home in _OWN_PAGES:
            constants.append(f"- `{name}`: {about(thing) or remark(name)}".rstrip(": "))
        elif home == module.__name__:
            parts.append(f"### {home}.{_name(thing)}\n\n{_thing(name, thing)}")
        if _is_described(thing) and home not in _OWN_PAGES and (home, name) != (module.__name__, _name(thing)):
            elsewhere.append(f"[`{name}`](#{_anchor(f'{home}.{_name(thing)}')})")
    opening = [_OWN_PAGES[module.__name__]] if module.__name__ in _OWN_PAGES else []
    label = "Described there" if opening else "From other packages"
    opening += [f"{label}: {', '.join(elsewhere)}."] if elsewhere else []
    opening += ["\n".join(constants)] if constants else []
    return "\n".join([f"## {module.__name__}\n", *(f"{each}\n" for each in opening), *dict.fromkeys(parts)])


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower())


def _name(thing: Any) -> str:
    return thing.__name__


def _thing(name: str, thing: Any) -> str:
    if not inspect.isclass(thing):
        return _function(thing)
    fields = _fields(thing)
    described = _described(thing)
    heading = "" if _is_plain_model(thing) else _heading(thing, fields)
    is_short = heading.endswith(thing.__name__)
    parts = [_code(heading)] if heading and not is_short else []
    parts.append(f"`{heading}`: {about(thing)}\n" if is_short else f"{about(thing)}\n")
    if fields:
        parts.append(
            _listed((f"{each}{kind}{default}", described.get(each) or more) for each, kind, default, more in fields)
        )
    else:
        parts += _parameters(thing.__init__, described)
    parts += _members(thing, {each for each, *_ in fields})
    return "\n".join([*parts, *_raises(thing)])


def _is_plain_model(thing: type[Any]) -> bool:
    return thing.__bases__ == (BaseModel,) and bool(thing.model_config.get("frozen"))


def _heading(thing: type[Any], fields: list[Any]) -> str:
    bases = ", ".join(base.__name__ for base in thing.__bases__ if base not in {object, tuple})
    if fields or "__init__" not in vars(thing):
        return f"class {thing.__name__}({bases})" if bases else f"class {thing.__name__}"
    return f"class {_signature(thing.__init__, thing.__name__)}".removesuffix(" -> None")


def _function(function: Callable[..., Any]) -> str:
    parts = [_code(_signature(function)), f"{about(function)}\n", *_parameters(function, _described(function))]
    return "\n".join([*parts, *_raises(function)])


def _listed(entries: Iterable[tuple[str, str]]) -> str:
    """Return a list of codes with their descriptions; neighbours with one description share it."""
    lines = list[str]()
    for text, codes in groupby(entries, key=lambda entry: entry[1]):
        line = f"- {', '.join(f'`{code}`' for code, _ in codes)}"
        lines.append(f"{line}: {text}" if text else line)
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    return f"```text\n{text}\n```\n"


def _signature(function: Callable[..., Any], name: str = "") -> str:
    """Return a function's signature as in its source, one parameter a line if it is long."""
    signature = inspect.signature(function)
    parts, kinds = list[str](), [each.kind for each in signature.parameters.values()]
    for number, each in enumerate(signature.parameters.values()):
        if each.name == "self" or (number == 0 and each.name == "cls"):
            continue
        if each.kind is each.KEYWORD_ONLY and kinds[number - 1 : number] not in ([each.kind], [each.VAR_POSITIONAL]):
            parts.append("*")
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        kind = "" if each.annotation is each.empty else f": {_type(each.annotation)}"
        default = "" if each.default is each.empty else f" = {_value(each.default)}"
        parts.append(f"{star}{each.name}{kind}{default}")
    gives = "" if signature.return_annotation is signature.empty else f" -> {_type(signature.return_annotation)}"
    waits = "async " if inspect.iscoroutinefunction(function) and not name else ""
    name = name or function.__name__
    line = f"{waits}{name}({', '.join(parts)}){gives}"
    return line if len(line) <= _WIDTH else f"{waits}{name}(\n    " + ",\n    ".join(parts) + f",\n){gives}"


def _type(annotation: Any) -> str:
    """Return a type as one writes it, with no more of its metadata than a lower bound."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    match origin:
        case _ if isinstance(annotation, str):
            return annotation
        case _ if isinstance(annotation, ForwardRef):
            return annotation.__forward_arg__
        case _ if origin is Annotated or origin is ClassVar:
            return _bounded(_type(arguments[0]), arguments[1:])
        case _ if origin in {Union, UnionType}:
            return _union(arguments)
        case _ if origin is Literal:
            return f"Literal[{', '.join(repr(each) for each in arguments)}]"
        case _ if origin is not None and arguments:
            return f"{_type(origin)}[{', '.join(_type(each) for each in arguments)}]"
        case _ if isinstance(annotation, list):
            return f"[{', '.join(map(_type, cast('list[Any]', annotation)))}]"
        case _:
            return _plain(annotation)


def _members_of(thing: object) -> frozenset[object]:
    """Return the types of a union; nothing for any other thing."""
    if get_origin(thing) is Annotated:
        thing = get_args(thing)[0]
    return frozenset(get_args(thing)) if get_origin(thing) in {Union, UnionType} else frozenset()


def _union(arguments: Iterable[Any]) -> str:
    known = {each for each in arguments if each is not NoneType}
    if name := _UNIONS.get(frozenset(known)):
        return f"{name} | None" if NoneType in arguments else name
    kinds = [_type(each) for each in arguments if each is not NoneType]
    return " | ".join([*kinds, *(["None"] if NoneType in arguments else [])])


def _plain(annotation: Any) -> str:
    if annotation is NoneType or annotation is None:
        return "None"
    return "…" if annotation is Ellipsis else getattr(annotation, "__name__", str(annotation))


def _value(value: object) -> str:
    shown = value.__name__ if inspect.isfunction(value) or inspect.isclass(value) else repr(value)
    return "…" if len(shown) > _LONG or " at 0x" in shown else shown


def _fields(thing: type[Any]) -> list[tuple[str, str, str, str]]:
    """Return the fields of a model, dataclass or named tuple: name, type, default, description."""
    if issubclass(thing, BaseModel):
        return [(name, *_model_field(field), field.description or "") for name, field in thing.model_fields.items()]
    if dataclasses.is_dataclass(thing):
        found = dataclasses.fields(thing)
        return [
            (each.name, f": {_type(each.type)}", _made(each), "")
            for each in found
            if each.init and not each.name.startswith("_")
        ]
    names: tuple[str, ...] = getattr(thing, "_fields", ())
    if issubclass(thing, tuple) and names:
        kinds: Mapping[str, Any] = inspect.get_annotations(cast("type[Any]", thing))
        defaults: Mapping[str, Any] = getattr(cast("Any", thing), "_field_defaults", {})
        missing = object()
        return [
            (each, f": {_type(kinds.get(each, Any))}", _default(missing, defaults.get(each, missing)), "")
            for each in names
        ]
    return []


def _model_field(field: FieldInfo) -> tuple[str, str]:
    """Return the type of a field, unless its default is its only value, and its default."""
    default = _default(PydanticUndefined, field.get_default(call_default_factory=True, validated_data={}))
    if get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1 and default:
        return "", default
    return f": {_bounded(_type(field.annotation), field.metadata)}", default


def _bounded(kind: str, metadata: Iterable[Any]) -> str:
    """Return the name of a number's type with its lower bound."""
    bounds = [name for bound, name in _BOUNDS.items() if bound in metadata]
    return "".join([*bounds, kind]) if kind in {"int", "float"} else kind


def _made(field: "dataclasses.Field[Any]") -> str:
    if field.default_factory is not dataclasses.MISSING:
        made: Any = field.default_factory()
        is_plain = isinstance(made, tuple | dict | list | str | int)
        return f" = {_value(cast('object', made)) if is_plain else f'{type(made).__name__}()'}"
    return _default(dataclasses.MISSING, field.default)


def _default(missing: object, value: object) -> str:
    if value is missing:
        return ""
    return f" = {type(value).__name__}()" if isinstance(value, BaseModel) else f" = {_value(value)}"


def _parameters(function: Callable[..., Any], described: Mapping[str, str]) -> list[str]:
    if function is object.__init__:
        return []
    rows = [(each, described[each]) for each in inspect.signature(function).parameters if each in described]
    return [_listed(rows)] if rows else []


def _members(thing: type[Any], fields: set[str]) -> Iterator[str]:
    """Yield the attributes and methods of a class, those of undocumented bases of Ralph's own included."""
    attributes, methods = list[tuple[str, str]](), list[tuple[str, str]]()
    described, assigned = _described(thing), _assigned(thing)
    taken = set(inspect.signature(thing.__init__).parameters if "__init__" in vars(thing) else ())
    for name, member in _own(thing).items():
        if name in fields or name.startswith(("_", "test_", "model_")):
            continue
        if isinstance(member, property):
            kind = inspect.signature(member.fget).return_annotation if member.fget else Any
            attributes.append((f"{name}: {_type(kind)}", about(member)))
        elif function := _called(member):
            called = re.sub(r",\n\)", ")", _signature(function)).replace("(\n    ", "(").replace("\n    ", " ")
            methods.append((called, about(function)))
        elif name in described:
            kind = inspect.get_annotations(thing).get(name, type(member))
            attributes.append((f"{name}: {_type(kind)}", described[name]))
    seen = {code.partition(":")[0] for code, _ in attributes} | fields | taken
    attributes += [
        (f"{name}: {assigned[name]}", text) for name, text in described.items() if name in assigned.keys() - seen
    ]
    if attributes:
        yield f"Attributes:\n\n{_listed(attributes)}"
    if methods:
        yield f"Methods:\n\n{_listed(methods)}"


def _own(thing: type[Any]) -> dict[str, Any]:
    """Return the members of a class and of its private bases."""
    found = dict(vars(thing))
    for base in thing.__mro__[1:]:
        if base.__name__.startswith("_") and base.__module__.startswith("ralph"):
            found = {**vars(base), **found}
    return found


def _called(member: Any) -> Callable[..., Any] | None:
    if isinstance(member, classmethod | staticmethod):
        return cast("Any", member).__func__
    return member if inspect.isfunction(member) else None


def _assigned(thing: type[Any]) -> dict[str, str]:
    """Return the types of the attributes that a class sets on itself, as its source writes them."""
    if not thing.__module__.startswith("ralph"):
        return {}
    tree = ast.parse(inspect.getsource(thing))
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
            found[node.target.attr] = ast.unparse(node.annotation)
    return found


def _described(thing: Any) -> dict[str, str]:
    """Return what the sections of a docstring say of each name: arguments, attributes."""
    text = inspect.cleandoc(thing.__doc__ or "")
    said = {name: text for names, text in _DESCRIBED.findall(text) for name in names.split(", ")}
    return {name: " ".join(text.split()) for name, text in said.items()}


def _raises(thing: Any) -> list[str]:
    found = _RAISES.search(inspect.cleandoc(thing.__doc__ or ""))
    if found is None:
        return []
    errors = [(name, " ".join(text.split()).rstrip(".")) for name, text in _DESCRIBED.findall(found[0])]
    return [f"Raises {'; '.join(f'`{name}`: {text}' for name, text in errors)}.\n"]


def about(thing: object) -> str:
    """Return the first paragraph of a docstring, or the value of a constant."""
    if isinstance(thing, int | str):
        return f"`{thing!r}`"
    if get_origin(thing) is Annotated:
        thing = get_args(thing)[0]
    if get_origin(thing) in {Union, UnionType}:
        return f"One of {', '.join(f'`{each.__name__}`' for each in get_args(thing) if hasattr(each, '__name__'))}."
    if not (callable(thing) or isinstance(thing, property)) or get_origin(thing) is not None:
        return ""
    text = inspect.cleandoc(thing.__doc__ or "").partition("\n\n")[0]
    return " ".join(text.split())


@cache
def remark(name: str) -> str:
    """Return the first sentences of the text below the line that assigns a name, in whichever module that is."""
    for module in [each for path, each in sys.modules.items() if path.startswith("ralph.") and hasattr(each, name)]:
        for assigned, below in pairwise(ast.parse(inspect.getsource(module)).body):
            if isinstance(assigned, ast.Assign | ast.AnnAssign) and isinstance(below, ast.Expr):
                target = assigned.target if isinstance(assigned, ast.AnnAssign) else assigned.targets[0]
                if ast.unparse(target) == name and isinstance(below.value, ast.Constant):
                    return " ".join(str(below.value.value).partition("\n\n")[0].split())
    return ""
