"""What typer complains of, as one paragraph with the nearest name."""

import typer

from ralph.errors import nearest

__all__ = ["paragraph"]

_CONTEXT = "ctx"


def paragraph(error: typer.TyperException) -> str:
    """A usage error as a person is told it."""
    said = " ".join(str(getattr(error, "format_message", error.__str__)()).split())
    context = getattr(error, _CONTEXT, None)
    if context is None:
        return said
    option = getattr(error, "option_name", None)
    if option and getattr(error, "possibilities", None) is not None:
        known = [name for parameter in context.command.params for name in parameter.opts if name.startswith("--")]
        said = f"There is no option {option}. {nearest(str(option), known)}"
    return f"{said} `{context.command_path} --help` tells more."
