"""How much is read, as a person sets it."""

from pathlib import Path

import pytest
import yaml

from ralph.cli import main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """A folder of three pages, and no settings but its own."""
    for kind in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    docs = tmp_path / "here" / "docs"
    docs.mkdir(parents=True)
    for name in "abc":
        (docs / f"{name}.md").write_text(f"# Kiln {name}\n\nThe kiln named {name.upper()} has 2 doors.\n")
    monkeypatch.chdir(docs.parent)


def queries(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setattr("sys.argv", ["ralph", "score", "queries", "-g", "docs"])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_how_many_pages_are_read_can_be_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RALPH_PLUGINS__GROUNDING__READING__PAGES", "2")
    assert queries(monkeypatch) == 0
    printed = capsys.readouterr()
    assert {url for query in yaml.safe_load(printed.out) for url in query["source_urls"]} == {"a.md", "b.md"}
    assert "1 files or addresses were left out: at most 2 pages are read" in printed.err


def test_a_limit_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("RALPH_PLUGINS__GROUNDING__READING__SITE_SECONDS", "0")
    assert queries(monkeypatch) != 0
    assert "plugins.grounding.reading.site_seconds: 0 is not valid" in " ".join(capsys.readouterr().err.split())
