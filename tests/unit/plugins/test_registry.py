"""What is loaded, from where, what it gives, and what becomes of a plug-in that is broken."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from ralph.analysis.lexicon import Keyword
from ralph.decision.claims import STRATEGIES
from ralph.errors import PluginConflictError, SettingError
from ralph.plugins import Plugins, hookimpl
from ralph.plugins.discovery import PARTS, Plugin
from ralph.plugins.own_settings import Tables
from ralph.verifiers.registry import VERIFIERS

Install = Callable[..., None]

ECHO = """
    from ralph import Completed, Executor
    from ralph.plugins import Provider, hookimpl


    class Echo(Executor):
        name = "echo"

        async def execute(self, prompt, turn):
            return turn.transcript.finish(Completed(), text=prompt.task)


    @hookimpl
    def ralph_executors():
        yield Provider("echo", "says what it was asked", lambda context: Echo())
"""

SETTINGS = """
    from pydantic import BaseModel, SecretStr
    from ralph import Keyword
    from ralph.plugins import hookimpl


    class Settings(BaseModel):
        word: str
        times: int = 1
        token: SecretStr = SecretStr("")


    @hookimpl
    def ralph_settings():
        return Settings


    @hookimpl
    def ralph_keywords(settings):
        yield Keyword(text=settings.word)
"""


def plugin(plugins: Plugins, name: str) -> Plugin:
    return next(each for each in plugins.all if each.name == name and not each.built_in)


def test_an_installed_distribution_is_found_with_what_it_is(install: Install) -> None:
    install("echo", ECHO)
    plugins = Plugins.found()
    found = plugin(plugins, "echo")
    assert (found.distribution, found.version, found.source, found.problems) == ("ralph-echo", "1.2", "ralph_echo", [])
    assert plugins.named("ralph_executors")["echo"].plugin is found


def test_the_built_in_parts_come_in_by_the_same_hooks() -> None:
    plugins = Plugins()
    assert plugins.named("ralph_executors").keys() == {"copilot", "copilot-cli", "copilot-sdk"}
    assert plugins.named("ralph_verifiers").keys() == VERIFIERS.keys()
    assert plugins.named("ralph_strategies").keys() == STRATEGIES.keys()
    assert plugins.named("ralph_stores").keys() >= {"memory", "sqlite", "postgresql"}
    assert plugins.named("ralph_displays").keys() >= {"auto", "live", "plain", "json", "none"}
    assert plugins.problems == ()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise RuntimeError('a library is missing')", "It cannot be loaded: RuntimeError: a library is missing."),
        ("import sys; sys.exit(3)", "It cannot be loaded: SystemExit: 3."),
        ("def f(:", "It cannot be loaded: SyntaxError"),
        ("import no_such_library", "No module named 'no_such_library'"),
        ("RALPH_API = 2", "It is made for version 2 of the hooks, and these are version 1"),
        ("def ralph_keywords(): ...", "ralph_keywords is not marked with @hookimpl"),
        ("from ralph.plugins import hookimpl\n@hookimpl\ndef ralph_keyword(): ...", "is ralph_keywords meant?"),
        ("from ralph.plugins import hookimpl\n@hookimpl\ndef ralph_keywords(run): ...", "It cannot be registered"),
        (
            "from ralph.plugins import hookimpl\n@hookimpl\ndef ralph_keywords(): 1 / 0",
            "ralph_keywords failed: ZeroDivisionError",
        ),
        (
            "from ralph.plugins import hookimpl\n@hookimpl\ndef ralph_keywords(): raise SystemExit(3)",
            "ralph_keywords failed: SystemExit: 3.",
        ),
        (
            "from ralph.plugins import hookimpl\n@hookimpl\ndef ralph_keywords():\n    yield 'finished'",
            "ralph_keywords returned an object of type str, which is not a Keyword.",
        ),
        ("from ralph.plugins import hookimpl\n@hookimpl\ndef ralph_keywords(): return 7", "ralph_keywords failed"),
        (
            "from ralph.plugins import hookimpl\n@hookimpl\ndef ralph_detectors():\n    while True: yield len",
            "ralph_detectors returned more than 1,000 things.",
        ),
        (
            "from ralph.plugins import hookimpl\n@hookimpl\ndef ralph_strategies(): return [object]",
            "ralph_strategies returned the class object, which has no name or no method `claim`.",
        ),
        (
            "from ralph.plugins import *\n@hookimpl\ndef ralph_executors(): yield Provider('', '', print)",
            "ralph_executors returned an executor without a name.",
        ),
        ("from ralph.plugins import hookimpl\n@hookimpl\ndef ralph_xyz(): ...", "ralph_xyz is not a hook."),
        (
            "from ralph.plugins import hookimpl\n@hookimpl\ndef ralph_settings(): return dict",
            "ralph_settings returned something that is not a pydantic model.",
        ),
    ],
)
def test_a_broken_plugin_is_told_of_and_the_rest_goes_on(install: Install, code: str, told: str) -> None:
    install("broken", code)
    install("echo", ECHO)
    plugins = Plugins.found()
    plugins.require_sound()
    assert told in " ".join(plugin(plugins, "broken").problems)
    assert all("The plug-in 'broken' (ralph-broken 1.2): " in problem for problem in plugins.problems)
    assert "echo" in plugins.named("ralph_executors")


def test_what_a_plugin_prints_while_it_is_imported_is_no_output(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("chatty", "print('thank you for using chatty')")
    Plugins.found()
    assert capsys.readouterr().out == ""


def test_a_secret_in_an_error_is_masked_and_a_long_one_is_cut(install: Install) -> None:
    install("leaky", f"raise RuntimeError('ghp_{'a' * 36} \\x1b[31m' + 'x' * 9000)")
    (problem,) = plugin(Plugins.found(), "leaky").problems
    assert "ghp_a" not in problem
    assert "\x1b" not in problem
    assert len(problem) < 700


def test_two_parts_of_one_name_are_an_error_that_names_both(install: Install) -> None:
    install("echo", ECHO)
    install("other", ECHO)
    with pytest.raises(PluginConflictError) as refused:
        Plugins.found().require_sound()
    assert "The executor 'echo'" in str(refused.value)
    assert "'echo' (ralph-echo 1.2)" in str(refused.value)
    assert "'other' (ralph-other 1.2)" in str(refused.value)


def test_a_plugin_cannot_take_the_place_of_a_built_in_part(install: Install) -> None:
    install("copy", ECHO.replace('Provider("echo"', 'Provider("copilot"'))
    with pytest.raises(PluginConflictError, match="in Ralph itself and in the plug-in 'copy'"):
        Plugins.found().named("ralph_executors")


def test_two_plugins_of_one_name_are_an_error_that_names_both(install: Install) -> None:
    install("echo", ECHO)
    install("echo", "", distribution="ralph-echo-too")
    with pytest.raises(PluginConflictError, match=r"ralph-echo 1\.2.*ralph-echo-too 1\.2"):
        Plugins.found().require_sound()


def test_an_object_may_be_a_plugin_and_counts_once() -> None:
    class Words:
        @hookimpl
        def ralph_detectors(self) -> list[object]:
            return [list]

    words = Words()
    plugins = Plugins.of([words, words])
    assert len(plugins.things("ralph_detectors")) == 1
    assert plugin(plugins, "Words").source == f"object of {__name__}"
    assert [problem.partition("): ")[2] for problem in plugins.problems] == ["It is there twice; the first one counts."]
    assert any("It is a class" in problem for problem in Plugins.of([Words]).problems)


def test_an_object_that_cannot_be_registered_has_the_same_problem_each_time() -> None:
    class Wrong:
        name = "wrong"

        @hookimpl
        def ralph_keywords(self, run: object) -> list[object]:
            return [run]

    wrong = Wrong()
    problems = Plugins.of([wrong, wrong]).problems
    assert len(problems) == 2
    assert all("Argument(s) {'run'} are declared in the hookimpl" in problem for problem in problems)


def test_a_plugin_that_fails_in_another_way_each_time_fills_no_memory() -> None:
    [plugin] = (each for each in Plugins.of([SimpleNamespace(name="odd")]).all if each.name == "odd")
    for number in range(1_000):
        plugin.complain(f"It failed at {number}.")
    assert len(plugin.problems) == 50


def test_a_hostile_object_is_only_left_out() -> None:
    class Hostile:
        def __getattribute__(self, name: str) -> object:
            raise RuntimeError(name)

    plugins = Plugins.of([Hostile(), SimpleNamespace(name="quiet")])
    assert plugin(plugins, "quiet").problems == []
    assert len(plugins.problems) == 1


class TestSettings:
    def test_a_table_is_read_as_the_plugins_own_model(self, install: Install) -> None:
        install("words", SETTINGS)
        tables = Tables({"words": {"word": "mission accomplished", "token": "t0p-secret-value"}})
        plugins = Plugins.found(tables)
        assert [keyword.text for keyword in plugins.things("ralph_keywords")] == ["mission accomplished"]
        assert plugins.secrets == ("t0p-secret-value",)
        assert "t0p" not in str(plugins.shown(tables.values))

    def test_a_setting_with_the_name_of_a_secret_is_shown_masked_whatever_its_type(self, install: Install) -> None:
        install("words", SETTINGS.replace("times: int = 1", 'api_key: str = ""'))
        tables = Tables({"words": {"word": "over", "api_key": "t0p-secret-value"}})
        shown = Plugins.found(tables).shown(tables.values)
        assert shown["words"]["word"] == "over"
        assert "t0p" not in str(shown)

    def test_secrets_are_found_in_tables_and_lists_too(self, install: Install) -> None:
        install(
            "keys",
            """
            from pydantic import BaseModel, SecretStr
            from ralph.plugins import hookimpl


            class Keys(BaseModel):
                by_host: dict[str, SecretStr]
                spare: list[SecretStr]


            @hookimpl
            def ralph_settings():
                return Keys
            """,
        )
        table = {"by_host": {"one.example": "first-key", "two.example": "second-key"}, "spare": ["third-key"]}
        assert Plugins.found(Tables({"keys": table})).secrets == ("first-key", "second-key", "third-key")

    @pytest.mark.parametrize(
        ("table", "told"),
        [
            ({"word": "a", "times": True}, "plugins.words.times: true is not valid: it should be a whole number"),
            ({"word": "a", "tims": 2}, "plugins.words.tims: there is no such setting. Did you mean 'times'?"),
            ({"word": "a", "times": "many"}, "plugins.words.times: 'many' is not valid: it should be a whole number"),
            ({"times": 2}, "plugins.words.word: it is missing. Add it."),
            ({"word": "a", "token": 5}, "plugins.words.token: the value is not valid: it should be text"),
        ],
    )
    def test_what_will_not_do_is_refused_as_for_any_setting(
        self, install: Install, table: dict[str, object], told: str
    ) -> None:
        install("words", SETTINGS)
        origins = {f"plugins.words.{key}": "ralph.toml" for key in table}
        with pytest.raises(SettingError) as refused:
            Plugins.found(Tables({"words": table}, origins))
        assert str(refused.value).startswith("ralph.toml: ")
        assert told in str(refused.value)

    def test_a_plugin_that_lacks_a_setting_is_told_of_and_not_asked_for_what_needs_it(self, install: Install) -> None:
        install("words", SETTINGS)
        plugins = Plugins.found()
        assert plugins.things("ralph_keywords") == []
        assert plugin(plugins, "words").lacks == "plugins.words.word"
        assert plugin(plugins, "words").problems == []

    def test_settings_for_what_is_not_there_or_takes_none_are_refused(self, install: Install) -> None:
        install("echo", ECHO)
        with pytest.raises(SettingError, match=r"plugins\.ehco: no plug-in of that name is installed. Did you mean"):
            Plugins.found(Tables({"ehco": {}}))
        with pytest.raises(SettingError, match=r"plugins\.echo\.word: the plug-in has no settings"):
            Plugins.found(Tables({"echo": {"word": "a"}}))

    def test_a_plugin_that_cannot_be_loaded_keeps_its_table(self, install: Install) -> None:
        install("broken", "raise RuntimeError")
        assert plugin(Plugins.found(Tables({"broken": {"word": "a"}})), "broken").problems


def test_helpers_that_are_called_like_hooks_are_no_problem(install: Install) -> None:
    install("helped", "import ralph.settings as ralph_config\ndef ralph_version(): ...\nralph_home = '/'")
    assert plugin(Plugins.found(), "helped").problems == []


def test_every_hook_that_gives_things_says_what_they_are() -> None:
    from ralph.plugins import spec

    assert {*PARTS, "ralph_settings"} == set(spec.HOOK_NAMES)


def test_of_what_a_hook_gives_the_odd_is_told_of_and_the_rest_is_kept() -> None:
    class Mixed:
        @hookimpl
        def ralph_keywords(self) -> list[object]:
            return [Keyword(text="shipped it"), 5]

    plugins = Plugins.of([Mixed()])
    assert plugins.things("ralph_keywords") == [Keyword(text="shipped it")]
    assert "an object of type int, which is not a Keyword" in plugins.problems[0]
