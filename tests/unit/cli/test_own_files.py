"""Which files Ralph takes for its own."""

from pathlib import Path

import pytest

from ralph.loop.assembly import own_files


def test_a_store_is_its_file_and_what_lies_beside_it_also_behind_a_link(tmp_path: Path) -> None:
    kept = tmp_path.resolve() / "kept"
    kept.mkdir()
    (tmp_path / "runs.db").symlink_to(kept / "night.db")
    (kept / "night.db-journal").symlink_to(tmp_path / "work.py")
    found = own_files(str(tmp_path / "runs.db"))[:4]
    assert found == [kept / f"night.db{end}" for end in ("", "-wal", "-shm", "-journal")]


@pytest.mark.parametrize("store", ["memory:", "postgresql://nobody@nowhere/runs"])
def test_a_store_in_no_file_has_none(store: str) -> None:
    assert not [path for path in own_files(store) if path.name.endswith("-wal")]
