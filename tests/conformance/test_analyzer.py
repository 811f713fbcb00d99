"""Every analyzer does what an analyzer does."""

import pytest

from ralph.analysis import Analyzer, Keyword, ResponseAnalyzer, SeveralAnalyzers
from ralph.testing import AnalyzerConformance


class TestBuiltIn(AnalyzerConformance):
    @pytest.fixture
    def analyzer(self) -> Analyzer:
        return ResponseAnalyzer()


class TestBuiltInInOneLanguageWithAWord(AnalyzerConformance):
    @pytest.fixture
    def analyzer(self) -> Analyzer:
        return ResponseAnalyzer([Keyword(text="mission accomplished")], ["de"])


class TestSeveral(AnalyzerConformance):
    @pytest.fixture
    def analyzer(self) -> Analyzer:
        return SeveralAnalyzers(ResponseAnalyzer(), {"second": ResponseAnalyzer()})
