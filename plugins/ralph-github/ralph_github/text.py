"""Foreign text, made harmless: what people on GitHub wrote for the agent, and what the agent said for GitHub."""

__all__ = ["code", "line", "quoted"]


def line(text: str, most: int) -> str:
    """One line of at most `most` characters that can be seen."""
    seen = "".join(char if char.isprintable() else " " for char in text[: 4 * most])
    words = " ".join(seen.split())
    return words if len(words) <= most and len(text) <= 4 * most else f"{words[: most - 1]}…"


def code(text: str, most: int) -> str:
    """The same as code of Markdown: there nothing mentions a person, refers to an issue, loads an image or is a tag."""
    shown = line(text, most).replace("`", "'")
    return f"`{shown}`" if shown else ""


def quoted(text: str, most: int) -> str:
    """Lines with a mark before each, so that none of them can pass for what stands around them.

    Comments of HTML, which no reader of the issue sees, are taken out, as are characters that nobody sees.
    """
    cut = _without_comments(text[: 2 * most])
    lines = ("".join(char for char in each if char.isprintable() or char == "\t") for each in cut.splitlines())
    kept = "\n".join(lines).strip()
    shortened = len(kept) > most or len(text) > 2 * most
    shown = f"{kept[:most]}\n[The rest is left out.]" if shortened else kept
    return "\n".join(f"> {each}".rstrip() for each in shown.splitlines())


def _without_comments(text: str) -> str:
    kept: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0:
        kept.append(text[at:start])
        end = text.find("-->", start + 4)
        at = end + 3 if end >= 0 else len(text)
    return "".join((*kept, text[at:]))
