"""From the settings to a provider of similarity, and to a model on this machine."""

import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from ralph.errors import UsageError
from ralph_grounding.errors import ProviderError
from ralph_grounding.settings import ProviderSettings
from ralph_grounding.similarity import local
from ralph_grounding.similarity.base import SimilarityProvider
from ralph_grounding.similarity.calibration import UNFITTED
from ralph_grounding.similarity.choose import provider_for
from ralph_grounding.similarity.lexical import LexicalProvider
from ralph_grounding.similarity.local import LocalProvider


def chosen(**given: object) -> SimilarityProvider:
    return provider_for(ProviderSettings.model_validate(given))


def test_the_settings_name_the_provider(tmp_path: Path) -> None:  # covers: S3-146, S3-147
    model = {"embedding_model": "m", "url": "http://127.0.0.1:1/v1"}
    assert isinstance(chosen(), LexicalProvider)
    assert chosen(similarity="local", **model).name == "local:m"
    assert chosen(similarity="endpoint", **model).name == "endpoint:m"
    assert chosen(similarity="hybrid", embedding="endpoint", **model).name == "hybrid:m"
    assert chosen(similarity="hybrid", **model).name == "hybrid:m"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"similarity": "local"}, r"providers\.embedding_model is empty"),
        ({"similarity": "hybrid"}, r"providers\.embedding_model is empty"),
        ({"similarity": "endpoint", "url": "http://127.0.0.1/v1"}, r"providers\.embedding_model is empty"),
        ({"similarity": "endpoint", "embedding_model": "m"}, r"providers\.url is empty"),
        ({"similarity": "endpoint", "embedding_model": "m", "url": "no"}, r"providers\.url is not an HTTP URL"),
        (
            {"similarity": "endpoint", "embedding_model": "m", "url": "http://x/v1?key=sk-1"},
            "has a query or a fragment",
        ),
    ],
)
def test_a_setting_that_is_missing_is_named(given: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        chosen(**given)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "cannot be read"),
        ("{", "is not a calibration"),
        ('{"local:m": {"claims": 2, "agreement": 0.5}}', "local:m.claims"),
        ('{"local:other": {"claims": 0.5, "agreement": 0.5}}', "is for local:other, not for local:m"),
    ],
)
def test_a_calibration_that_does_not_fit_is_refused(tmp_path: Path, text: str | None, problem: str) -> None:
    file = tmp_path / "calibration.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError, match=problem):
        chosen(similarity="local", embedding_model="m", calibration=str(file))


def test_a_calibration_of_the_same_model_elsewhere_is_not_taken_for_this_one(tmp_path: Path) -> None:
    file = tmp_path / "calibration.json"
    file.write_text('{"local:m": {"claims": 0.5, "agreement": 0.5}}')
    model = {"embedding_model": "m", "url": "http://127.0.0.1:1/v1", "calibration": str(file)}
    with pytest.raises(UsageError, match="is for local:m, not for endpoint:m"):
        chosen(similarity="endpoint", **model)
    assert chosen(similarity="hybrid", **model).name == "hybrid:m"


LIBRARIES = {
    "fastembed": """
        import numpy

        class TextEmbedding:
            model = None

            @classmethod
            def list_supported_models(cls):
                return [{"model": name} for name in ("here", "there", "nowhere", "broken")]

            def __init__(self, model_name, cache_dir, local_files_only):
                if model_name == "broken":
                    raise ValueError("the file is torn.\\nAnd more.")
                if model_name != "here" and (model_name != "there" or local_files_only):
                    raise ValueError(f"{model_name} is not in the cache")

            def embed(self, texts, batch_size):
                return (numpy.array([len(text), 1.0]) for text in texts)
    """,
    "sentence_transformers": """
        import numpy

        class SentenceTransformer:
            max_seq_length = None

            def __init__(self, model_name, local_files_only, trust_remote_code, model_kwargs):
                assert (trust_remote_code, model_kwargs) == (False, {"use_safetensors": True})
                if model_name != "here" and (model_name != "there" or local_files_only):
                    raise OSError(f"{model_name} is not in the cache")

            def encode(self, texts, batch_size, show_progress_bar):
                assert not show_progress_bar
                if "Never." in texts:
                    raise RuntimeError("out of memory")
                return numpy.array([[len(text), 1.0] for text in texts])
    """,
}
"""The libraries as far as they are used. The real fastembed embeds by a real model in `test_similarity_local_model.py`:
here it only stands for one whose downloads fail at once, where the real one tries for most of a minute. The real
sentence-transformers wants torch, which is gigabytes, and so is tried by nothing but this stand-in.
"""


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """One of the libraries is installed, and the other is not."""
    name: str = request.param
    module = ModuleType(name)
    exec(dedent(LIBRARIES[name]), module.__dict__)
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(local, "find_spec", {name: True}.get)
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return name


async def test_a_model_on_this_machine_embeds(library: str) -> None:
    async with LocalProvider("here", UNFITTED) as provider:
        assert (await provider.agreement("Dogs wait.", "Cats wait.")).raw == pytest.approx(1)


async def test_a_model_that_is_not_here_is_downloaded_only_if_asked(library: str) -> None:
    with pytest.raises(ProviderError, match=r"there is not on this machine.*providers\.download") as raised:
        await LocalProvider("there", UNFITTED).__aenter__()
    assert raised.value.kind == "model"
    async with LocalProvider("there", UNFITTED, download=True) as provider:
        assert (await provider.agreement("Dogs wait.", "Cats wait.")).raw > 0


async def test_a_model_that_cannot_be_downloaded_is_told(library: str) -> None:
    with pytest.raises(ProviderError, match=r"nowhere could not be found or downloaded: nowhere is not in the ca"):
        await LocalProvider("nowhere", UNFITTED, download=True).__aenter__()


@pytest.mark.parametrize("library", ["fastembed"], indirect=True)
async def test_only_the_first_line_of_what_a_library_says_is_told(library: str) -> None:
    with pytest.raises(ProviderError) as raised:
        await LocalProvider("broken", UNFITTED).__aenter__()
    assert "(the file is torn)" in str(raised.value)
    assert "And more" not in str(raised.value)


@pytest.mark.parametrize("library", ["sentence_transformers"], indirect=True)
async def test_a_model_that_fails_at_a_text_is_replaced_by_words(library: str) -> None:
    async with chosen(similarity="local", embedding_model="here") as provider:
        assert (await provider.agreement("Never.", "Never.")).fallback
        assert not (await provider.agreement("Ever.", "Ever.")).fallback


@pytest.mark.parametrize("library", ["sentence_transformers"], indirect=True)
@pytest.mark.parametrize("form", ["{}", "here"])
async def test_a_library_that_may_run_what_a_folder_holds_is_given_none(
    library: str, tmp_path: Path, form: str
) -> None:
    (tmp_path / "here").mkdir()
    with pytest.raises(ProviderError, match="has no usable model: sentence-transformers is not used for folders"):
        await LocalProvider(form.format(tmp_path / "here"), UNFITTED).__aenter__()


async def test_without_a_package_the_command_that_installs_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "find_spec", dict[str, bool]().get)
    with pytest.raises(ProviderError) as raised:
        await chosen(similarity="local", embedding_model="m").__aenter__()
    assert "`uv sync --all-packages --extra local` in a clone" in str(raised.value)
    assert "`pip install fastembed` in the environment that Ralph is in" in str(raised.value)
    assert raised.value.kind == "model"
