"""Build the site of the documentation in site/html; a link or an anchor that leads nowhere fails the build.

`uv run --group docs python docs/site.py`. The navigation is what docs/index.md lists. Pages outside
docs/, such as the READMEs of the plug-ins, become pages of the site, and programs that pages link to become files.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from os.path import relpath
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS, SITE = ROOT / "docs", ROOT / "site"

_LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[)#])")
_FENCE = re.compile(r"^(`{3,})(?:(?:reply|counterexample|plan|task)\b.*|text(?=\n(?:class|async|\w+\()))", re.MULTILINE)
"""The first line of a reply or a plan, which the site shows as text, or of a signature, which it shows as Python."""
_LISTED = re.compile(r"^## (.+)|^- \[([^\]]+)\]\(([^)#]+)\)", re.MULTILINE)


def place(path: Path) -> Path:
    """Return where a file of the repository stands among the pages of the site."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS)
    inside = path.relative_to(ROOT)
    if inside.name == "README.md" and inside.parent.name:
        return Path("plugins", f"{inside.parent.name}.md")
    return Path("about.md") if inside.name == "README.md" else inside.with_name(inside.name.lower())


def outside() -> Iterator[Path]:
    """Yield the pages that stand elsewhere than in docs/."""
    yield from ROOT.glob("*.md")
    yield from ROOT.glob("plugins/*/README.md")


def shown(text: str, page: Path) -> str:
    """Return a page with each link and each block as the site needs it."""

    def link(found: re.Match[str]) -> str:
        target = (page.parent / found[1]).resolve()
        if not target.is_file():
            return found[1]  # zensical reports it
        if target.suffix != ".md" and not target.is_relative_to(DOCS):
            copied = SITE / "pages" / place(target)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, copied)
        return relpath(place(target), place(page).parent)

    fenced = _FENCE.sub(lambda fence: fence[1] + ("python" if fence[0].endswith("text") else "text"), text)
    return _LINK.sub(link, fenced)


def navigation() -> str:
    """Return the navigation: the sections of the index with their pages, and the changes."""
    index = DOCS / "index.md"
    sections: dict[str, list[dict[str, str]]] = {}
    pages: list[dict[str, str]] = []
    for section, title, link in _LISTED.findall(index.read_text(encoding="utf-8")):
        if section:
            pages = sections[section] = []
        else:
            pages.append({title: place((index.parent / link).resolve()).as_posix()})
    sections["Contribute"].append({"Changes": "changelog.md"})
    parts = [f"{{ {json.dumps(title)} = [{', '.join(map(entry, pages))}] }}" for title, pages in sections.items()]
    return "\n".join(["nav = [", *(f"  {part}," for part in [entry({"Home": "index.md"}), *parts]), "]\n"])


def entry(page: dict[str, str]) -> str:
    """Return one page of the navigation as TOML, for which strings of JSON will do."""
    ((title, path),) = page.items()
    return f"{{ {json.dumps(title, ensure_ascii=False)} = {json.dumps(path)} }}"


def main() -> int:
    """Copy the pages, write the configuration, and build."""
    shutil.rmtree(SITE, ignore_errors=True)
    for page in (*DOCS.rglob("*.md"), *outside()):
        copied = SITE / "pages" / place(page)
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_text(shown(page.read_text(encoding="utf-8"), page), encoding="utf-8")
    shutil.copytree(DOCS / "pictures", SITE / "pages" / "pictures")
    settings = (
        (DOCS / "zensical.toml").read_text(encoding="utf-8").replace("[project]\n", f"[project]\n{navigation()}", 1)
    )
    (SITE / "zensical.toml").write_text(settings, encoding="utf-8")
    return subprocess.call(["zensical", "build", "--strict", "--clean"], cwd=SITE)


if __name__ == "__main__":
    sys.exit(main())
