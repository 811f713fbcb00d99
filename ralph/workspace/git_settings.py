"""The settings of repositories and of the user that Ralph regards, and those that may start programs."""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from ralph.system.process_tree import scratch_folder
from ralph.workspace.gate import Git, GitError, environment, read_settings, settings_text

_KEPT = frozenset((
    *(f"core.{name}" for name in ("repositoryformatversion", "filemode", "ignorecase", "symlinks")),
    *(f"core.{name}" for name in ("precomposeunicode", "protecthfs", "protectntfs", "sharedrepository")),
    *(f"core.{name}" for name in ("autocrlf", "eol", "safecrlf", "sparsecheckout", "sparsecheckoutcone")),
    *("core.logallrefupdates", "extensions.objectformat", "extensions.refstorage", "i18n.commitencoding"),
    *(f"{who}.{what}" for who in ("user", "author", "committer") for what in ("name", "email")),
    *("user.useconfigonly", "index.version", "index.threads", "index.sparse", "index.skiphash"),
))
"""The keys of the repository's settings that are kept: none names a program, a file or an address."""

SPARSE = ("core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse")
"""Those of them that each worktree may have for itself."""

LISTS = ("core.excludesfile", "core.attributesfile")
"""Those that name a list of the user's."""

OF_WORKTREE = frozenset((*SPARSE, *LISTS, "core.worktree"))
_READ = _KEPT | OF_WORKTREE | {"core.hookspath", "commit.gpgsign", "extensions.worktreeconfig"}
_USERS = frozenset(key for key in _READ if not key.startswith(("core.rep", "extensions.", "core.worktree")))


_HARMLESS = re.compile(
    r"remote\..*\.(url|fetch|tagopt|prune|gh-resolved)|remote\.pushdefault"
    r"|branch\..*\.(remote|pushremote|merge|rebase|description|[a-z]+-[a-z-]+)"
    r"|core\.untrackedcache|gc\.auto|http\.postbuffer|lfs\.(repositoryformatversion|.*\.(access|locksverify))"
    r"|maintenance\.(auto|strategy)|submodule\.recurse"
    r"|submodule\..*\.(url|active)|(advice|color|column|log|status)\..*|user\.signingkey|init\.defaultbranch"
    r"|push\.(default|autosetupremote|followtags)|(pull|rebase)\.(rebase|ff|autostash|autosquash|updaterefs)"
    r"|fetch\.prune(tags)?|merge\.(ff|conflictstyle)|diff\.(algorithm|renames|colormoved)|rerere\.(enabled|autoupdate)",
    re.DOTALL,
)
"""Further keys that start no program and lead git nowhere else."""

_PUSHES = (".pushremote", ".pushdefault")

SETTINGS = ("config", "config.worktree")
"""The files of settings in a git folder."""

_UNDONE_AT_MOST = 50
_Setting = tuple[str, str]


def settings_with_programs_of(before: bytes, now: bytes, fitting: Collection[_Setting] = ()) -> tuple[bytes, list[str]]:
    """Return the text of a settings file with only its harmless keys as they are now, and the keys taken from before.

    Every key counts as one that starts programs or leads git elsewhere, unless it is known not to. Blocks.

    Args:
        before: the text of which the other keys are.
        now: the present text; one that git cannot read counts for nothing.
        fitting: settings that are harmless here.
    """
    try:
        then, present = listed(before), listed(now)
    except GitError:
        return before, []
    places = {".", *(value for key, value in then if key.startswith("remote.") and key.endswith(".url"))}
    known, found = _by_key(then), _by_key(present)

    def stays(key: str) -> bool:
        values = found.get(key, [])
        if all((key, value) in fitting for value in (*values, *known.get(key, []))):
            return True
        if key.startswith("extensions.") or not (key in _KEPT or _HARMLESS.fullmatch(key)):
            return False
        urls = {url for value in values for url in found.get(f"remote.{value}.url", [value])}
        leads = key.startswith(("remote.", "branch.")) and key.endswith((".url", ".remote", *_PUSHES))
        new = key not in known and not key.endswith(_PUSHES) and "::" not in str(urls)
        return not leads or known.get(key) == values or urls <= places or new

    risky = {key for key in known.keys() | found.keys() if not stays(key)}
    wanted = [(key, value) for key, value in then if key in risky]

    def is_wanted(settings: Iterable[_Setting]) -> bool:
        ours = [(key, value) for key, value in settings if key in risky or not stays(key)]
        ordered = any(key.startswith("include") for key in risky)
        return ours == wanted or (not ordered and _by_key(ours) == _by_key(wanted))

    if is_wanted(present):
        return now, []
    undone = sorted(key for key in risky if known.get(key) != found.get(key))
    if len(undone) <= _UNDONE_AT_MOST:
        made = _edited(now, undone, wanted)
        with suppress(GitError):
            if is_wanted(listed(made)):
                return made, undone
    return before, undone


def _by_key(settings: Iterable[_Setting]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in settings:
        found.setdefault(key, []).append(value)
    return found


def _edited(text: bytes, keys: Iterable[str], wanted: Sequence[_Setting]) -> bytes:
    """Return the text of a settings file with other values of some keys, as git edits it."""
    git = Git(environment(GIT_DIR=os.devnull), ())
    with scratch_folder("git") as folder:
        file = Path(folder, "config")
        file.write_bytes(text)
        for key in keys:
            git.now("config", "--file", str(file), "--unset-all", key)
            for value in (value for each, value in wanted if each == key):
                git.now("config", "--file", str(file), "--add", key, value)
        return file.read_bytes()


@lru_cache(maxsize=128)
def listed(text: bytes) -> tuple[_Setting, ...]:
    """Return the settings in a text, in their order; one without a value is true, and nothing is included. Blocks.

    Raises:
        GitError: the text is not valid.
    """
    if not text.strip():
        return ()
    asked = Git(environment(GIT_DIR=os.devnull), ())
    words = ("config", "--file", "-", "--no-includes", "--null", "--list")
    return _pairs(asked.now(*words, stdin=text, check=True).stdout)


def users_settings(git_dir: Path, common: Path) -> dict[str, str]:
    """Return the user's own settings that are kept, for a repository: those of the machine and the home. Blocks."""
    told = {name: value for name, value in os.environ.items() if name.startswith("GIT_CONFIG_") and name in _WHERE}
    env = {name: value for name, value in environment().items() if name not in _WHERE} | told
    with scratch_folder("git") as made:  # a repository with only what conditions of `includeIf` regard
        for name in ("objects", "refs"):
            Path(made, name).mkdir()
        with suppress(GitError):
            urls = [value for key, value in listed(read_settings(common / "config")) if _URL.fullmatch(key)]
            text = settings_text(('remote "any".url', url) for url in urls if "\n" not in url)
            Path(made, "config").write_bytes(text.encode("utf-8", "surrogateescape"))
        asked = Git(env | {"GIT_DIR": str(git_dir), "GIT_COMMON_DIR": made}, ())
        with suppress(GitError):
            return kept(_pairs(asked.now("config", "--includes", "--null", "--list").stdout), _USERS)
    return {}


_URL = re.compile(r"remote\..+\.url", re.DOTALL)
_WHERE = ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL")


def _pairs(output: bytes) -> tuple[_Setting, ...]:
    entries = (entry.partition("\n") for entry in output.decode("utf-8", "surrogateescape").split("\0") if entry)
    return tuple((key, value if sep else "true") for key, sep, value in entries)


def kept(settings: Iterable[_Setting], keys: Collection[str] = ()) -> dict[str, str]:
    """Return the settings with these keys, by default those of a repository that Ralph regards."""
    return {key: value for key, value in settings if key in (keys or _READ) and "\n" not in value}


def harmless_text(settings: Mapping[str, str]) -> str:
    """Return the text of a settings file with those of the settings that name no program, file or address."""
    return settings_text((key, value) for key, value in settings.items() if key in _KEPT)


def is_on(settings: Mapping[str, str], key: str, *, default: str = "false") -> bool:
    """Return whether a setting is on; one that is neither on nor off counts as on."""
    return settings.get(key, default).lower() not in {"false", "no", "off", "0", ""}


def is_shared(key: str) -> bool:
    """Return whether a setting may be in the view, which all worktrees share."""
    return key in _KEPT and key not in SPARSE
