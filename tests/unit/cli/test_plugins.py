"""`ralph plugins`, the switches, the workspace's own file, and runs with plug-ins that are broken."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Install = Callable[..., None]

ECHO = """
    from pydantic import BaseModel, SecretStr
    from ralph import Completed, Executor
    from ralph.plugins import Provider, hookimpl

    DONE = "\\n---RALPH_STATUS---\\nEXIT_SIGNAL: true\\nREASON: all there\\n---END_RALPH_STATUS---\\n"


    class Settings(BaseModel):
        greeting: str = "Hello."
        token: SecretStr = SecretStr("")


    class Echo(Executor):
        name = "echo"

        def __init__(self, greeting):
            self.greeting = greeting

        async def execute(self, prompt, turn):
            (turn.workspace / "greeting.txt").write_text(self.greeting)
            return turn.transcript.finish(Completed(), text=self.greeting + DONE)


    @hookimpl
    def ralph_settings():
        return Settings


    @hookimpl
    def ralph_executors():
        yield Provider("echo", "greets", lambda context: Echo(context.own.greeting))
"""

BROKEN_OBSERVER = """
    from ralph import Hooks
    from ralph.plugins import Provider, PromptPart, hookimpl


    class Mute:
        def analyze(self, output, status, context):
            raise RuntimeError("no voice")


    @hookimpl
    def ralph_analyzers():
        yield Provider("mute", "fails", lambda context: Mute())


    def blind(reply):
        raise RuntimeError("no eyes")


    @hookimpl
    def ralph_detectors():
        yield blind


    class Broken(Hooks):
        async def on_event(self, event):
            raise RuntimeError("no more ink")


    @hookimpl
    def ralph_observers():
        yield Broken()


    @hookimpl
    def ralph_prompt_parts():
        yield PromptPart("nothing", "fails", lambda moment: 1 / 0)


    @hookimpl
    def ralph_keywords():
        raise RuntimeError("a keyword is missing")
"""

LOCAL = """
from ralph import Keyword
from ralph.plugins import hookimpl


@hookimpl
def ralph_keywords():
    yield Keyword(text="mission accomplished")
"""

RUN = ("run", "Greet.", "--executor", "echo", "--verify", "none", "--store", "memory:", "--max-iterations", "3")


def listed(ralph: Callable[..., Any], *words: str) -> dict[str, Any]:
    ended = ralph("plugins", "--json", *words)
    told = json.loads(ended.out)
    assert (ended.code, ended.err) == (2 if told["conflicts"] else 0, "")
    return {**told, "plugins": {each["name"]: each for each in told["plugins"] if not each["built_in"]}}


def write_local(workspace: Path, code: str = LOCAL) -> Path:
    path = workspace / ".ralph" / "plugin.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(code)
    return path


def test_a_leftover_table_is_reported_beside_the_list(
    ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_PLUGINS__GONE__KEY", "1")
    shown = ralph("plugins")
    assert shown.code == 2, "no run can start then"
    assert "copilot" in shown.out
    assert "plugins.gone: no plug-in of that name is installed." in " ".join(shown.out.split())


def test_they_are_listed_with_what_they_add_and_what_is_wrong(ralph: Callable[..., Any], install: Install) -> None:
    install("echo", ECHO)
    install("broken", "raise RuntimeError('a library is missing')")
    told = listed(ralph)
    assert told["plugins"]["echo"] == {
        "name": "echo",
        "version": "1.2",
        "distribution": "ralph-echo",
        "from": "ralph_echo",
        "built_in": False,
        "loaded": True,
        "adds": {"executors": ["echo"]},
        "settings": ["greeting", "token"],
        "lacks": "",
        "problems": [],
    }
    assert told["plugins"]["broken"]["problems"] == ["It cannot be loaded: RuntimeError: a library is missing."]
    assert (told["conflicts"], told["off"]) == ([], False)
    shown = ralph("plugins")
    assert "executors: echo" in shown.out
    assert [line for line in shown.out.splitlines() if line != line.rstrip()] == []
    assert "The plug-in 'broken' (ralph-broken 1.2): It cannot be loaded" in shown.out


def test_two_of_one_name_are_listed_and_stop_a_run_before_it_begins(
    ralph: Callable[..., Any], install: Install
) -> None:
    install("echo", ECHO)
    install("other", ECHO)
    assert len(listed(ralph)["conflicts"]) == 1
    ended = ralph(*RUN)
    assert ended.code == 2
    assert "'echo' (ralph-echo 1.2)" in ended.err
    assert "'other' (ralph-other 1.2)" in ended.err


def test_a_run_uses_a_plugins_executor_with_its_own_settings(
    ralph: Callable[..., Any], install: Install, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("echo", ECHO)
    assert ralph(*RUN).code == 0
    assert (workspace / "greeting.txt").read_text() == "Hello."
    monkeypatch.setenv("RALPH_PLUGINS__ECHO__GREETING", "Good evening.")
    assert ralph(*RUN).code == 0
    assert (workspace / "greeting.txt").read_text() == "Good evening."
    monkeypatch.setenv("RALPH_PLUGINS__ECHO__GREETNG", "x")
    ended = ralph(*RUN)
    assert ended.code == 2
    assert "the environment: plugins.echo.greetng: there is no such setting. Did you mean 'greeting'?" in ended.err


def test_a_variable_gives_a_plugin_a_list(
    ralph: Callable[..., Any], install: Install, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = ECHO.replace('greeting: str = "Hello."', "greeting: list[str]").replace(
        "Echo(context.own.greeting)", 'Echo(" + ".join(context.own.greeting))'
    )
    install("echo", listing)
    ended = ralph(*RUN)
    assert ended.code == 2
    assert (
        "the plug-in 'echo' (ralph-echo 1.2): plugins.echo.greeting: it is missing. Set it in ralph.toml" in ended.err
    )
    monkeypatch.setenv("RALPH_PLUGINS__ECHO__GREETING", '["Good", "evening"]')
    assert ralph(*RUN).code == 0
    assert (workspace / "greeting.txt").read_text() == "Good + evening"
    monkeypatch.setenv("RALPH_PLUGINS__ECHO__GREETING", '["Good", ')
    ended = ralph(*RUN)
    assert ended.code == 2
    assert "RALPH_PLUGINS__ECHO__GREETING: lists and tables are written as JSON." in ended.err


def test_a_plugins_secret_is_masked_wherever_settings_are_shown(
    ralph: Callable[..., Any], install: Install, workspace: Path, home: Path
) -> None:
    install("echo", ECHO)
    place = home / "config" / "ralph" / "ralph.toml"
    place.parent.mkdir(parents=True)
    place.write_text('[plugins.echo]\ngreeting = "Hi."\ntoken = "an-open-secret"\n')
    shown = ralph("config", "show", "--json")
    assert "an-open-secret" not in shown.out + shown.err
    assert json.loads(shown.out)["settings"]["plugins"]["value"]["echo"]["greeting"] == "Hi."


def test_a_workspace_cannot_set_up_plugins_without_consent(
    ralph: Callable[..., Any], install: Install, workspace: Path
) -> None:
    install("echo", ECHO)
    (workspace / "ralph.toml").write_text('[plugins.echo]\ngreeting = "Hi."\n')
    ended = ralph(*RUN)
    assert ended.code == 2
    assert "sets plugins" in ended.err
    assert ralph(*RUN, "--trust").code == 0


def test_plugins_that_raise_everywhere_leave_a_run_completed_and_a_clear_report(
    ralph: Callable[..., Any], install: Install
) -> None:
    install("echo", ECHO)
    install("raises", "raise RuntimeError('a library is missing')")
    install("observer", BROKEN_OBSERVER)
    ended = ralph(*RUN, "--analyzer", "mute", "--display", "json")
    assert ended.code == 0
    events = [json.loads(line) for line in ended.out.splitlines()]
    assert events[-1]["stop_reason"] == "completed"
    told = " ".join(event["text"] for event in events if event["type"] == "diagnosed")
    assert "The plug-in 'raises' (ralph-raises 1.2): It cannot be loaded: RuntimeError: a library is missing." in told
    assert "'observer' (ralph-observer 1.2): ralph_keywords failed: RuntimeError: a keyword is missing." in told
    assert "The prompt part nothing failed: ZeroDivisionError" in told
    assert "The detector blind failed: RuntimeError: no eyes." in told
    assert "The analyzer mute failed: RuntimeError: no voice." in told
    assert "The observer Broken.on_event of the plug-in 'observer' (ralph-observer 1.2) failed (RuntimeError)" in told


@pytest.mark.parametrize("off", ["flag", "variable"])
def test_all_plugins_can_be_turned_off(
    ralph: Callable[..., Any], install: Install, monkeypatch: pytest.MonkeyPatch, off: str
) -> None:
    install("echo", "raise SystemExit('imported')")
    monkeypatch.setenv("RALPH_PLUGINS", "off" if off == "variable" else "on")
    ended = ralph(*RUN, *(["--no-plugins"] if off == "flag" else []))
    assert ended.code == 2
    assert ended.err == "ralph: There is no executor called 'echo'. Known: copilot, copilot-cli, copilot-sdk.\n"


def test_the_listing_says_that_they_are_off(
    ralph: Callable[..., Any], install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("echo", ECHO)
    monkeypatch.setenv("RALPH_PLUGINS", "OFF")
    told = listed(ralph)
    assert (told["plugins"], told["off"]) == ({}, True)
    monkeypatch.delenv("RALPH_PLUGINS")
    assert "echo" in listed(ralph)["plugins"]
    assert listed(ralph, "--no-plugins") == told
    monkeypatch.setenv("RALPH_PLUGINS", "none")
    assert ralph("plugins").err.startswith("ralph: the environment: RALPH_PLUGINS: it must be `off` or `on`.")


class TestLocalFile:
    def test_it_is_off_until_somebody_agrees_and_again_when_it_changes(
        self, ralph: Callable[..., Any], workspace: Path, install: Install
    ) -> None:
        install("echo", ECHO)
        path = write_local(workspace)
        ended = ralph(*RUN, "--display", "plain")
        assert ended.code == 0
        assert f"'local' ({path}): It needs your consent, so it is left out" in " ".join(ended.out.split())
        assert not listed(ralph)["plugins"]["local"]["loaded"]
        assert ralph(*RUN, "--trust").code == 0
        local = listed(ralph)["plugins"]["local"]
        assert (local["from"], local["adds"]) == (str(path), {"keywords": ["mission accomplished"]})
        write_local(workspace, f"{LOCAL}\n# changed\n")
        local = listed(ralph)["plugins"]["local"]
        assert (local["loaded"], local["adds"]) == (False, {})
        assert "It needs your consent" in local["problems"][0]

    def test_a_resumed_run_takes_it_and_its_settings_along_with_consent(
        self, ralph: Callable[..., Any], workspace: Path, install: Install
    ) -> None:
        install("echo", ECHO.replace("EXIT_SIGNAL: true", "EXIT_SIGNAL: false"))
        words = ("--max-iterations", "1", "--display", "plain")
        assert ralph("run", "Greet.", "--executor", "echo", "--verify", "none", *words).code == 5
        path = write_local(workspace)
        (workspace / "ralph.toml").write_text('[plugins.echo]\ngreeting = "Hi."\n')
        for number, trust in enumerate(((), ("--trust",), ()), start=2):
            ended = ralph("resume", "--max-iterations", str(number), "--display", "plain", *trust)
            assert ended.code == 5
            assert (f"'local' ({path}): It needs your consent" in " ".join(ended.out.split())) is (number == 2)
            assert (workspace / "greeting.txt").read_text() == ("Hello." if number == 2 else "Hi.")

    def test_a_setting_names_another_one(
        self, ralph: Callable[..., Any], workspace: Path, install: Install, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install("echo", ECHO)
        (workspace / "mine.py").write_text(LOCAL)
        monkeypatch.setenv("RALPH_PLUGIN_FILE", "mine.py")
        assert ralph(*RUN, "--trust").code == 0
        assert listed(ralph)["plugins"]["local"]["from"] == str(workspace / "mine.py")
        monkeypatch.setenv("RALPH_PLUGIN_FILE", "none.py")
        assert "does not exist. Correct `plugin_file`" in ralph("plugins").err

    @pytest.mark.parametrize("hostile", ["link", "folder", "large"])
    def test_what_is_no_plain_small_file_is_not_read(
        self, ralph: Callable[..., Any], workspace: Path, hostile: str
    ) -> None:
        path = workspace / ".ralph" / "plugin.py"
        path.parent.mkdir()
        if hostile == "link":
            path.symlink_to("/etc/hostname")
        elif hostile == "folder":
            path.mkdir()
        else:
            path.write_text("#" * 1_000_001)
        ended = ralph("plugins")
        assert ended.code == 2
        assert str(path) in ended.err


def test_an_analyzer_beside_the_built_in_one_holds_a_completion_back(
    ralph: Callable[..., Any], install: Install, workspace: Path
) -> None:
    install("echo", ECHO)
    install(
        "brevity",
        """
        from ralph import Analysis
        from ralph.analysis import Opinion
        from ralph.plugins import Provider, hookimpl


        class Measured(Analysis, frozen=True):
            words: int = 0


        class Brevity:
            def analyze(self, output, status, context):
                short = context.iteration < 3
                opinion = Opinion(on_completion="holds_back" if short else "", reason="too few words")
                return Measured(words=len(output.text.split()), opinion=opinion)


        @hookimpl
        def ralph_analyzers():
            yield Provider("brevity", "counts words", lambda context: Brevity())
        """,
    )
    ended = ralph(*RUN, "--analyzer", "brevity", "--display", "json")
    assert ended.code == 0
    events = [json.loads(line) for line in ended.out.splitlines()]
    finished = [event for event in events if event["type"] == "iteration_finished"]
    assert [event["decision"]["kind"] for event in finished] == ["continue", "continue", "complete"]
    further = finished[0]["analysis"]["further"]["brevity"]
    assert (further["words"], further["opinion"]["reason"]) == (8, "too few words")
    assert "the analyzer brevity blocks it: too few words" in finished[0]["decision"]["feedback"]
    assert "There is no analyzer called 'brevty'" in ralph(*RUN, "--analyzer", "brevty").err


def test_an_executor_that_is_none_is_an_error_that_names_its_plugin(
    ralph: Callable[..., Any], install: Install
) -> None:
    install("echo", ECHO.replace("Echo(context.own.greeting)", "context.own.greting"))
    ended = ralph(*RUN)
    assert ended.code == 2
    assert "The executor 'echo' of the plug-in 'echo' (ralph-echo 1.2) could not be created" in ended.err


class TestOtherParts:
    CODE = """
        from ralph.watch import Display
        from ralph.plugins import Provider, Provider, VerifierProvider, hookimpl
        from ralph.store import open_store
        from ralph.types.verification import Verdict
        from ralph.verifiers import Verifier
        from pydantic import BaseModel


        class Dots(Display):
            def show(self, event):
                if event.type == "run_finished":
                    self.out.write(f"it ended: {event.stop_reason}, verified: {event.verified}\\n")


        class Keys(BaseModel, extra="forbid"):
            path: str


        class Exists(Verifier):
            before_run = False

            def __init__(self, path):
                self.name, self.path = f"{path} exists", path

            async def verify(self, subject):
                there = (subject.workspace / self.path).is_file()
                return Verdict(verifier=self.name, passed=there, signature="" if there else "missing")


        @hookimpl
        def ralph_displays():
            yield Provider("dots", "says how it ended", lambda context: Dots())


        @hookimpl
        def ralph_stores():
            yield Provider("shelf", "a file on the shelf", lambda context: open_store(context.argument.removeprefix("shelf://")))


        @hookimpl
        def ralph_verifiers():
            yield VerifierProvider("exists", "a file must be there", Keys, lambda keys, context: Exists(keys.path))
    """

    def test_a_run_is_shown_verified_and_kept_by_parts_of_plugins(
        self, ralph: Callable[..., Any], install: Install, tmp_path: Path
    ) -> None:
        install("echo", ECHO)
        install("parts", self.CODE)
        shelf = f"shelf://{tmp_path}/shelf.db"
        asked = ("run", "Greet.", "--executor", "echo", "--verifier", "exists:path=greeting.txt")
        ended = ralph(*asked, "--store", shelf, "--display", "dots")
        assert (ended.code, ended.out) == (0, "it ended: completed, verified: True\n")
        (run,) = json.loads(ralph("runs", "--json", "--store", shelf).out)
        assert run["stop_reason"] == "completed"

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("--display", "dts"), "There is no display called 'dts'. Did you mean 'dots'?"),
            (("--store", "shelve://x"), "shelve://… names no store that Ralph can use."),
            (("--verifier", "exist:path=x"), "There is no verifier called 'exist'. Did you mean 'exists'?"),
            (("--verifier", "exists:pth=x"), "The verifier 'exists' has no key 'pth'. Did you mean 'path'?"),
        ],
    )
    def test_a_wrong_name_is_found_out_before_the_run(
        self, ralph: Callable[..., Any], install: Install, workspace: Path, words: tuple[str, str], told: str
    ) -> None:
        install("echo", ECHO)
        install("parts", self.CODE)
        ended = ralph("run", "Greet.", "--executor", "echo", *words)
        assert ended.code == 2
        assert told in ended.err
        assert not (workspace / "greeting.txt").exists()


def test_a_resumed_run_keeps_its_plugins_settings_but_for_the_secrets(
    ralph: Callable[..., Any], install: Install, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(
        "echo",
        ECHO.replace("Echo(context.own.greeting)", "Echo(greeting(context.own))")
        + """
    def greeting(own):
        return f"{own.greeting} {len(own.token.get_secret_value())}"
    """,
    )
    monkeypatch.setenv("RALPH_PLUGINS__ECHO__GREETING", "Good night.")
    monkeypatch.setenv("RALPH_PLUGINS__ECHO__TOKEN", "a-token-of-17-let")
    asked = ("--executor", "echo", "--verify", "false", "--max-iterations")
    assert ralph("run", "Greet.", *asked, "1").code == 5
    (workspace / "greeting.txt").unlink()
    monkeypatch.delenv("RALPH_PLUGINS__ECHO__GREETING")
    assert ralph("resume", "--max-iterations", "2").code == 5
    assert (workspace / "greeting.txt").read_text() == "Good night. 17"
    assert "a-token-of-17-let" not in ralph("show", "last", "--json").out
