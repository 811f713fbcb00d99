"""Every hook is documented, and its example is a plug-in that works."""

import inspect
from pathlib import Path
from types import ModuleType

import pytest

from ralph.hooks import Hooks
from ralph.plugins import Plugins, spec

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "hooks.md").read_text(encoding="utf-8")


def example(name: str) -> str:
    """The code in a hook's docstring."""
    _, _, code = inspect.cleandoc(getattr(spec, name).__doc__ or "").partition("Example:\n")
    return inspect.cleandoc(code).removeprefix("```python\n").removesuffix("```")


def test_a_hook_has_a_chapter_with_its_example(subtests: pytest.Subtests) -> None:
    for name in spec.HOOK_NAMES:
        with subtests.test(name=name):
            assert f"\n## {name}\n" in PAGE
            assert example(name).strip() in PAGE


def test_every_method_of_an_observer_has_its_line() -> None:
    methods = [name for name in vars(Hooks) if name.startswith(("on_", "before_"))]
    assert [name for name in methods if f"| `{name}` |" not in PAGE] == []


def test_the_example_is_a_plugin_that_works(subtests: pytest.Subtests) -> None:
    for name in spec.HOOK_NAMES:
        with subtests.test(name=name):
            module = ModuleType(f"example_{name}")
            exec(compile(example(name), name, "exec"), module.__dict__)
            plugins = Plugins.of([module])
            plugins.require_sound()
            assert plugins.problems == ()
            if name == "ralph_settings":
                assert plugins.all[-1].own is not None
            else:
                assert [offer for offer in plugins.offers(name) if not offer.plugin.built_in]
