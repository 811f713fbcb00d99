"""Every store does what a store does."""

import pytest

from ralph.store import MemoryStore, Store, open_store
from ralph.testing import StoreConformance


class TestMemoryStore(StoreConformance):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()


class TestSqliteStore(StoreConformance):
    @pytest.fixture
    def store(self, tmp_path) -> Store:
        return open_store(str(tmp_path / "ralph.db"))


class TestPostgresStore(StoreConformance):
    @pytest.fixture
    def store(self, postgres_url) -> Store:
        return open_store(postgres_url)
