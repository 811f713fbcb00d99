"""Reads shell text as far as a guard rail needs: which commands it names, with which words, writing where.

`commands("cd /srv && env A=1 git -C x push >log")` gives `cd /srv`, `env A=1 git -C x push` and, since `env` runs
another program, `git -C x push`. Substitutions, subshells, here-documents, `sh -c`, `eval`, `find -exec` and
variables that the text itself sets are followed. It is no shell: what a program does with its arguments, and what a
substitution would print, stays unknown. Every character is read a bounded number of times.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath

_LONGEST = 256 * 1024
_DEEPEST = 12
_MOST_COMMANDS = 2_000

_TOKEN = re.compile(
    r"""(?P<continued>\\\n)
    |(?P<blank>\$IFS\b|\$\{IFS[^}]{0,20}\})
    |(?P<plain>[^\s'"\\$`;&|()<>\#]+)
    |(?P<single>'[^']*'?)
    |(?P<ansi>\$'(?:[^'\\]|\\.)*'?)
    |(?P<double>\$?")
    |(?P<nested>\$\(|[<>]\(|`)
    |(?P<variable>\$\{?\w+\}?)
    |(?P<escaped>\\.?)
    |(?P<redirect><<<|<<-?|&>>?|>>|>\||>&|<>|<&|[<>])
    |(?P<space>[ \t\r\f\v]+)
    |(?P<end>\n|;;?&?|&&|\|\|?|&|\(|\))
    |(?P<comment>\#)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"""(?P<text>[^"\\$`]+)|(?P<escaped>\\.?)|(?P<nested>\$\(|`)|(?P<end>")|(?P<other>.)""", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{1,4})|(.))", re.DOTALL)
_ASSIGNMENT = re.compile(r"(\w+)\+?=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")

_KEYWORDS = frozenset({"!", "{", "}", "do", "done", "elif", "else", "fi", "if", "then", "time", "until", "while"})
_SHELLS = frozenset({"ash", "bash", "dash", "fish", "ksh", "sh", "zsh"})
_WRAPPERS = frozenset(
    {"builtin", "busybox", "chroot", "command", "coproc", "doas", "env", "exec", "find", "flock", "ionice", "nice"}
    | {"nohup", "parallel", "script", "setsid", "stdbuf", "strace", "sudo", "timeout", "unshare", "watch", "xargs"}
)
_STARTS = 48
"""So many words after a wrapper are taken for the start of the command that it runs."""
_FOLLOWED_WORDS = 256
_LONGEST_VALUE = 256
_LONGEST_VALUED = 4096


class UnreadableScriptError(ValueError):
    """The text is too long or too deeply nested to be read."""


@dataclass(slots=True)
class Command:
    """One simple command, quotes removed.

    Attributes:
        words: the program and its arguments; assignments and keywords before the program are left out.
        writes, reads: the files that output goes to and input comes from.
        inputs: texts given as input: here-documents and here-strings.
        guessed: the words stand among the arguments of a program that runs others, such as `env` or `find`.
    """

    words: list[str] = field(default_factory=list[str])
    writes: list[str] = field(default_factory=list[str])
    reads: list[str] = field(default_factory=list[str])
    inputs: list[str] = field(default_factory=list[str])
    guessed: bool = False

    @property
    def program(self) -> str:
        """The program's name without its folder; empty if it has none."""
        return PurePosixPath(self.words[0]).name if self.words else ""


def commands(script: str) -> list[Command]:
    """Return every simple command that the script names, in order; inner ones follow the one around them.

    Raises:
        UnreadableScriptError: it is too long, nested too deeply, or holds too many commands.
    """
    return list(_Follower().follow(script, 0))


class _Follower:
    """Follows scripts into the scripts within them, within one budget of characters for all of them."""

    def __init__(self) -> None:
        self._variables: dict[str, str] = {}
        self._left = 2 * _LONGEST

    def follow(self, script: str, depth: int) -> Iterator[Command]:
        self._left -= len(script)
        if depth > _DEEPEST or len(script) > _LONGEST or self._left < 0:
            raise UnreadableScriptError("too long or nested too deeply")
        found: list[Command] = []
        _Reader(script, found, depth).script()
        if len(found) > _MOST_COMMANDS:
            raise UnreadableScriptError("too many commands")
        fed = any(  # a shell without a script of its own: what is piped into it is one
            command.program in _SHELLS and all(word.startswith(("-", "$()")) for word in command.words[1:])
            for command in found
        )
        for command in found:
            self._substitute(command)
            if command.words:
                yield from self._with_inner(command, depth)
                if fed:
                    yield from self._piped(command, depth)
            elif command.writes or command.reads:
                yield command

    def _piped(self, command: Command, depth: int) -> Iterator[Command]:
        """Yield the commands that a command pipes to a shell in the same script, as far as the text shows."""
        texts = [" ".join(command.words[1:])] if command.program in {"echo", "printf"} else command.inputs
        for text in texts if command.program not in _SHELLS else ():
            yield from self.follow(text, depth + 1)

    def _with_inner(self, command: Command, depth: int) -> Iterator[Command]:
        yield command
        words = command.words
        if command.program in _SHELLS:
            for script in (*_script(words), *command.inputs):
                yield from self.follow(script, depth + 1)
        elif command.program == "eval":
            yield from self.follow(" ".join(words[1:]), depth + 1)
        elif command.program in _WRAPPERS:
            for start in range(1, min(len(words), _STARTS)):
                inner = Command(words[start : start + _FOLLOWED_WORDS], inputs=command.inputs, guessed=True)
                if inner.program in _SHELLS or inner.program == "eval":
                    yield from self._with_inner(inner, depth + 1)
                elif not words[start].startswith("-"):
                    yield inner

    def _substitute(self, command: Command) -> None:
        """Remove keywords and assignments from the front, and insert the values of known variables."""
        words = _unbraced(command.words)
        start = 0
        while start < len(words) and (words[start] in _KEYWORDS or _ASSIGNMENT.fullmatch(words[start])):
            start += 1
        if start == len(words):
            for word in words:
                if match := _ASSIGNMENT.fullmatch(word):
                    self._variables[match[1]] = self._valued(match[2])[:_LONGEST_VALUE]
        command.words = []
        for word in words[start:]:
            valued = self._valued(word)
            command.words.extend(valued.split() if _VARIABLE.fullmatch(word) else [valued])
        command.writes = [self._valued(path) for path in command.writes]
        command.reads = [self._valued(path) for path in command.reads]

    def _valued(self, word: str) -> str:
        if "$" not in word or len(word) > _LONGEST_VALUED:
            return word
        return _VARIABLE.sub(lambda match: self._variables.get(match[1] or match[2], match[0]), word)


def _unbraced(words: list[str]) -> list[str]:
    """Split `{git,push}` at the front into two words."""
    first = words[0] if words else ""
    if first.startswith("{") and first.endswith("}") and "," in first:
        return [*first[1:-1].split(","), *words[1:]]
    return words


def _script(words: list[str]) -> list[str]:
    """Return the script in a call of a shell: the word after the first option with a "c" in it."""
    for option, word in pairwise(words):
        if option.startswith("-") and not option.startswith("--") and "c" in option:
            return [word]
    return []


class _Reader:
    """Splits one script into simple commands; substitutions are read in place, so nothing is read twice."""

    def __init__(self, text: str, found: list[Command], depth: int) -> None:
        self._text, self._found, self._depth = text, found, depth
        self._at = 0
        self._command = Command()
        self._word: list[str] | None = None
        self._redirect = ""
        self._quoted = False
        self._documents: list[tuple[Command, str, bool]] = []

    def script(self, closing: str = "") -> None:
        """Read up to `closing` (")" or a backtick) or to the end of the text."""
        open_groups = 0
        while match := _TOKEN.match(self._text, self._at):
            self._at = match.end()
            kind, piece = match.lastgroup or "", match[0]
            if closing == "`" and piece == "`":
                break
            if piece == ")" and closing == ")" and not open_groups:
                break
            open_groups += (piece == "(") - (piece == ")")
            self._take(kind, piece)
        self._end_command()

    def _take(self, kind: str, piece: str) -> None:
        match kind:
            case "continued":
                pass
            case "space" | "blank":
                self._end_word()
            case "end":
                self._end_command()
                if piece == "\n":
                    self._read_documents()
            case "redirect":
                if "".join(self._word or ()).isdecimal():
                    self._word = None
                self._end_word()
                self._redirect = piece
            case "comment" if self._word is None:
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            case "nested":
                self._nested(piece)
            case "double":
                self._quoted = True
                self._add("")
                self.string()
            case "single" | "ansi":
                self._quoted = True
                text = piece.removeprefix("$")[1:].removesuffix("'")
                self._add(_ESCAPE.sub(_character, text) if piece.startswith("$") else text)
            case "escaped":
                self._quoted = True
                self._add(piece[1:])
            case _:
                self._add(piece)

    def _add(self, text: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)

    def string(self) -> None:
        """Read the rest of a text in double quotes, or of a here-document."""
        while match := _QUOTED.match(self._text, self._at):
            self._at = match.end()
            match match.lastgroup:
                case "end":
                    return
                case "nested":
                    self._nested(match[0])
                case "escaped":
                    self._add("" if match[0] == "\\\n" else match[0].removeprefix("\\"))
                case _:
                    self._add(match[0])

    def _nested(self, opening: str) -> None:
        """Read a substitution as a script of its own; the outer word keeps a sign that something was there."""
        if self._depth >= _DEEPEST:
            raise UnreadableScriptError("nested too deeply")
        outer = self._command, self._word, self._redirect
        self._command, self._word, self._redirect = Command(), None, ""
        self._depth += 1
        self.script("`" if opening == "`" else ")")
        self._depth -= 1
        self._command, self._word, self._redirect = outer
        self._add("$()")

    def _end_word(self) -> None:
        if self._word is None:
            return
        word, redirect, quoted = "".join(self._word), self._redirect, self._quoted
        self._word, self._redirect, self._quoted = None, "", False
        if redirect.startswith("<<") and redirect != "<<<":
            self._documents.append((self._command, word, quoted))
        elif redirect == "<<<":
            self._command.inputs.append(word)
        elif redirect in {">&", "<&"} and (word.isdecimal() or word == "-"):
            return
        elif redirect in {"<", "<&"}:
            self._command.reads.append(word)
        elif redirect:
            self._command.writes.append(word)
        else:
            self._command.words.append(word)

    def _end_command(self) -> None:
        self._end_word()
        if self._command.words or self._command.writes or self._command.reads:
            self._found.append(self._command)
        self._command, self._redirect = Command(), ""

    def _read_documents(self) -> None:
        for command, delimiter, quoted in self._documents:
            lines: list[str] = []
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line, self._at = self._text[self._at : end], end + 1
                if line.strip("\t") == delimiter:
                    break
                lines.append(line)
            body = "\n".join(lines)
            command.inputs.append(body)
            if not quoted and ("$(" in body or "`" in body):
                _Reader(body.replace('"', ""), self._found, self._depth + 1).string()
        self._documents = []


def _character(match: re.Match[str]) -> str:
    if match[4]:
        return {"n": "\n", "t": "\t", "r": "\r"}.get(match[4], match[4])
    digits, base = (match[2], 8) if match[2] else (match[1] or match[3], 16)
    return chr(int(digits, base))
