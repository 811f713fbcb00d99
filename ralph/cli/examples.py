"""Examples of calls: two for each group of `ralph --help`, and those in the help of a command and the manual page."""

from collections.abc import Mapping

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "run": ('ralph run "Make the tests pass" --verify "pytest -q"', "ralph run -f task.md --max-iterations 20"),
    "resume": ("ralph resume", "ralph resume last --max-iterations 40"),
    "demo": ("ralph demo", "ralph demo --keep"),
    "fleet": ("ralph fleet submit -f tasks.yaml", "ralph fleet worker --slots 4", "ralph fleet status"),
    "status": ("ralph status", "ralph status --json"),
    "runs": ("ralph runs --since 7d --search parser", "ralph runs --outcome stuck --json"),
    "show": ("ralph show last", "ralph show last --iteration 3 --why"),
    "logs": ("ralph logs last --follow", "ralph logs last --json"),
    "watch": ("ralph watch", "ralph watch last"),
    "serve": ("ralph serve", "ralph serve --port 8420"),
    "report": ("ralph report last -o report.html", "ralph report last --format markdown"),
    "stats": ("ralph stats --since 30d", "ralph stats --json"),
    "pause": ("ralph pause last",),
    "stop": ("ralph stop last",),
    "tell": ('ralph tell last "Leave the public API as it is."', "ralph tell last - < message.txt"),
    "extend": ("ralph extend last --max-iterations +10", "ralph extend last --max-duration +1h"),
    "breaker": ("ralph breaker", "ralph breaker reset last"),
    "diff": ("ralph diff last", "ralph diff last --stat"),
    "rollback": ("ralph rollback last --to 3", "ralph rollback last --to 0 --yes"),
    "analyze": ("ralph analyze reply.txt", "ralph analyze reply.txt --task task.md --json"),
    "replay": ("ralph replay --from-logs", "ralph replay --run last --set breaker.no_progress=5"),
    "export": ("ralph export last -o run.jsonl",),
    "import": ("ralph import run.jsonl",),
    "init": ("ralph init", "ralph init --plan"),
    "doctor": ("ralph doctor", "ralph doctor --json"),
    "login": ("ralph login", "ralph login --executor codex"),
    "config": ("ralph config show", 'ralph config set verify "pytest -q"'),
    "completion": ("ralph completion fish > ~/.config/fish/completions/ralph.fish",),
    "man": ("ralph man > ~/.local/share/man/man1/ralph.1",),
    "plugins": ("ralph plugins", "ralph plugins add claude"),
}

_IN_HELP = ("run", "demo", "status", "show", "tell", "stop", "diff", "rollback", "analyze", "replay", "doctor", "init")
"""The commands with an example in `ralph --help`: two of each group."""


def examples_of_all(groups: Mapping[str, Mapping[str, str]]) -> str:
    """Return the examples below the list of all commands: two for each of its groups."""
    lines: list[str] = []
    for title, group in groups.items():
        shown = [EXAMPLES[name][0] for name in _IN_HELP if name in group]
        lines += [f"  {'' if number else title:<8}  {text}" for number, text in enumerate(shown)]
    return "\n".join(["Examples:", *lines, "", "`ralph help COMMAND` explains a command, with further examples."])
