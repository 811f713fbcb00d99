"""Commands that plug-ins bring, also where the plug-ins cannot be asked for them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Install = Callable[..., None]

GREET = """
    import typer
    from ralph.plugins import Command, hookimpl


    @hookimpl
    def ralph_commands():
        yield Command("greet", "Greets.", "ralph_greeting:app")
        yield Command("lost", "Is not there.", "no_such_module:app")


    app = typer.Typer()


    @app.command()
    def greet(name: str) -> None:
        '''Greets somebody.'''
        typer.echo(f"Hello, {name}!")
"""


def test_a_plugin_brings_a_command(ralph: Callable[..., Any], install: Install) -> None:
    install("greeting", GREET)
    assert ralph("greet", "Ada").out == "Hello, Ada!\n"
    assert "greet" in ralph("--help").out


def test_the_help_of_all_has_what_a_plugin_says_of_a_command_and_does_not_load_it(
    ralph: Callable[..., Any], install: Install
) -> None:
    install(
        "heavy",
        """
        import sys
        from ralph.plugins import Command, hookimpl


        @hookimpl
        def ralph_commands():
            yield Command("lift", "Lifts a weight.", lambda: sys.stderr.write("it is loaded"))
        """,
    )
    ended = ralph("--help")
    assert (ended.code, ended.err) == (0, "")
    assert "Lifts a weight." in ended.out


def test_one_that_cannot_be_loaded_says_so_and_hides_no_other(ralph: Callable[..., Any], install: Install) -> None:
    install("greeting", GREET)
    ended = ralph("lost")
    assert ended.code == 2
    assert (
        "The command 'lost' of the plug-in 'greeting' (ralph-greeting 1.2) cannot be loaded: ModuleNotFoundError"
        in ended.err
    )
    assert ralph("--help").code == 0


@pytest.mark.parametrize("words", [(), ("--help",), ("Ada",)], ids=["bare", "help", "argument"])
def test_a_plugins_wrong_setting_is_told_where_its_command_is_called(
    ralph: Callable[..., Any], install: Install, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    install("greeting", GREET)
    monkeypatch.setenv("RALPH_PLUGINS__GREETING__LOUDLY", "yes")
    ended = ralph("greet", *words)
    assert (ended.code, ended.out) == (2, "")
    assert "plugins.greeting.loudly" in ended.err
    assert "There is no command" not in ended.err
    assert ralph("--help").code == 0
    monkeypatch.delenv("RALPH_PLUGINS__GREETING__LOUDLY")
    assert "There is no command 'gree'. Did you mean 'greet'?" in ralph("gree").err


def test_settings_that_nobody_agreed_to_are_left_out_and_told_of(
    ralph: Callable[..., Any], install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("greeting", GREET)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ralph.toml").write_text("[plugins.greeting]\nloudly = true\n", encoding="utf-8")
    ended = ralph("greet", "Ada")
    assert (ended.code, ended.out) == (0, "Hello, Ada!\n")
    assert "Left out: " in ended.err
    assert "ralph.toml comes with the workspace and sets plugins" in ended.err
    assert ralph("--help").err == ""
