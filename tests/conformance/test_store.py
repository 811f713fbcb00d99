"""Every store does what a store does."""

import pytest

from ralph.store import Store, open_store
from ralph.store.memory import MemoryStore
from ralph.testing import StoreConformance


class TestMemoryStore(StoreConformance):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()


class TestSqlStore(StoreConformance):
    @pytest.fixture
    def store(self, tmp_path) -> Store:
        return open_store(str(tmp_path / "ralph.db"))
