"""A verifier that runs a program and checks its exit status."""

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from ralph.analysis.metrics import error_signature
from ralph.errors import UsageError, VerifierError
from ralph.system.files import home_folders
from ralph.system.process import Finished, run
from ralph.system.sandbox import Confinement
from ralph.system.secrets import Redactor
from ralph.types.verification import CheckFiles, Verdict
from ralph.verifiers.base import SHOWN, SIGNATURE, Subject, Verifier, clipped, readable
from ralph.verifiers.check_files import check_files

_KEPT = 256 * 1024
_NAME = 200
_NOT_STARTED = {126, 127}
"""A shell's exit statuses if it cannot run a command or does not find it."""
_DENIED = re.compile(r"([^\s:]+): Permission denied", re.IGNORECASE)
_UNSEEN = "bwrap: execvp "
"""The sandbox's complaint about a program that does not exist, or lies in a hidden folder."""

UNSEEN_REMEDY = (
    "If it works outside, name the folder of its toolchain in `[sandbox] readable`, as in readable = "
    '["~/.my-tools"]; else install what it needs, or correct the command.'
)


class CommandVerifier(Verifier):
    """A verifier that passes if a command in the workspace exits with status 0.

    A command that takes too long is ended, which refutes the claim. All its processes end with it: a server that the
    tests leave behind would disturb the next ones. Its input is empty.

    Args:
        command: a program and its arguments, or a text for the shell.
        timeout: in seconds.
        redactor: masks secrets in the output; by default those with known shapes.
        confinement: the command's variables, and a sandbox. By default variables with secret names are removed.
    """

    def __init__(
        self,
        command: Sequence[str] | str,
        *,
        timeout: float = 600.0,
        redactor: Redactor | None = None,
        confinement: Confinement | None = None,
    ) -> None:
        self._shell = isinstance(command, str)
        if isinstance(command, str):
            self._argv = ["cmd", "/c", command] if sys.platform == "win32" else ["/bin/sh", "-c", command]
            text = command
        else:
            self._argv = list(command)
            text = " ".join(map(_quoted, command))
        if not text.strip():
            raise UsageError("A verifier's command is empty.", "Name a program, such as --verify 'pytest -q'.")
        self.timeout = timeout
        self._mask = redactor or Redactor()
        self._confinement = confinement or Confinement()
        self._text = text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"
        self.name = self._mask(self._text)

    @property
    def condition(self) -> str:
        return f"`{self._mask.for_agent()(self._text)}` must pass"

    def reads(self, workspace: Path) -> CheckFiles:
        return check_files(self._argv[-1] if self._shell else self._argv, workspace)

    async def verify(self, subject: Subject) -> Verdict:
        """Run the command in the subject's workspace.

        Raises:
            VerifierError: the program does not exist or cannot be run.
        """
        try:
            await self._confinement.require(subject.workspace)
            done = await run(
                self._confinement.command(self._argv, cwd=subject.workspace),
                cwd=subject.workspace,
                env=self._confinement.environment(),
                timeout=self.timeout,
                max_output=_KEPT,
                end_leftovers=True,
            )
        except UsageError as error:
            raise VerifierError(f"The verifier {self.name!r} cannot start: {error.problem}", error.remedy) from error
        passed = done.code == 0 and not done.timed_out
        output, errors = readable(done.stdout, self._mask), readable(done.stderr, self._mask)
        mask = self._mask.for_agent()
        subject.tell(_shown(readable(done.stdout, mask), readable(done.stderr, mask), self._ending(done)))
        boxed = self._confinement.sandbox.used
        shim = any(f"{home}/" in errors.replace(str(subject.workspace), "") for home in home_folders())
        if not_started(done) and (self._shell or errors.startswith(_UNSEEN) or (boxed and shim)):
            last = errors.rpartition("\n")[2]
            raise VerifierError(
                f"The verifier {self.name!r} cannot start{' in the sandbox' * boxed}: "
                f"{last.strip().rstrip('.')[:_LINE] or 'its program is not there'}.",
                _remedy(errors, boxed=boxed),
            )
        return Verdict(
            verifier=self.name,
            passed=passed,
            output=_shown(output, errors, self._ending(done)),
            signature="" if passed else self._signature(done, f"{output}\n{errors}"),
            duration=done.duration,
        )

    def _ending(self, done: Finished) -> str:
        if done.timed_out:
            return f"[It was ended after {self.timeout:g} s, before it had finished.]"
        if done.code < 0:
            return f"[It was ended by signal {-done.code}.]"
        return f"[It ended with status {done.code}.]" if done.code else ""

    def _signature(self, done: Finished, text: str) -> str:
        if done.timed_out:
            return "timed out"
        return failure_signature(text) or f"ended with status {done.code}"


def _remedy(errors: str, *, boxed: bool) -> str:
    """Return what makes a command start that its shell or the sandbox could not, by what that says."""
    if denied := _DENIED.search(errors):
        return f"If it is a program, make it executable: `chmod +x {shlex.quote(denied[1])}`."
    return UNSEEN_REMEDY if boxed else "Install what it needs, or correct the command."


def not_started(done: Finished) -> bool:
    """Return True if a program, or the shell or shim that should start it, reports that it is not there."""
    missing = done.code in _NOT_STARTED or done.stderr.startswith(_UNSEEN)
    return missing and not done.timed_out


def parse_command(text: str) -> tuple[str, ...]:
    """Split a text into a program and its arguments, with a shell's quotes but without a shell.

    Raises:
        UsageError: the text is empty, begins with an option, has an open quote, or requires a shell.
    """
    given = f"The verify command {text!r}" if len(text) <= _NAME else f"The verify command {text[:_NAME]!r}…"
    if operator := _operator(text):
        raise UsageError(
            f"{given} uses the shell's {operator!r}, but --verify runs a program without a shell.",
            "Give the whole command to --verify-shell, or put quotes around that character if it is meant literally.",
        )
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"{given} cannot be read: {str(error).lower()}.", "Close the quotation.") from error
    if not words or not words[0]:
        raise UsageError(f"{given} names no program.", "Write the program and its arguments: --verify 'pytest -q'.")
    if words[0].startswith("-"):
        raise UsageError(
            f"{given} begins with an option, so it names no program.",
            "Write the program and its arguments as one text: verify=[\"pytest -q\"], or --verify 'pytest -q'.",
        )
    if _ASSIGNMENT.match(words[0]):
        raise UsageError(
            f"{given} begins with {words[0]!r}, which only a shell takes for a variable.",
            "Give the whole command to --verify-shell.",
        )
    return words


def _quoted(word: str) -> str:
    """Quote a word as a user would: in double quotes if it contains single ones and that is equivalent."""
    return f'"{word}"' if "'" in word and not _SPECIAL.search(word) else shlex.quote(word)


def failure_signature(text: str) -> str:
    """Return the signature of a failure: its last three lines with an error, or else its last lines.

    Paths, numbers and times are removed. At most 200 characters, and empty for a text without words.
    """
    lines = [line[:_LINE] for line in text[-_LOOKED_AT:].splitlines() if any(map(str.isalpha, line[:_LINE]))]
    telling = [line for line in lines if _TELLING.search(line)] or lines
    parts = (error_signature(_DURATION.sub(" ", line), spoken=False) for line in telling[-3:])
    return " | ".join(part for part in parts if part)[:SIGNATURE].strip()


_LINE = 400
_LOOKED_AT = 32 * 1024
_TELLING = re.compile(
    r"error|fail|exception|panic|assert|fatal|expected|not found|cannot|undefined|unresolved|denied|no such",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"\b\d{1,9}(?:\.\d{1,9})?\s?(?:ns|µs|us|ms|s|sec|secs|seconds?|m|mins?|minutes?|h)\b", re.IGNORECASE
)
_SPECIAL = re.compile(r'["$`!\\\n]')
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PARTS = re.compile(
    r"""\\. | '[^']*(?:'|\Z) | "(?P<quoted>(?:\\.|[^"\\])*)"? | (?P<bare>&&|\|\||\$\(|>>|<<|[|&;><`\n])""",
    re.DOTALL | re.VERBOSE,
)
_EXPANSION = re.compile(r"\$\(|`")


def _operator(text: str) -> str:
    """Return the first shell operator in a text outside quotes, or an expansion in double quotes."""
    for part in _PARTS.finditer(text):
        expansion = _EXPANSION.search(re.sub(r"\\.", " ", part["quoted"] or ""))
        if part["bare"] or expansion:
            return part["bare"] or (expansion[0] if expansion else "")
    return ""


def _shown(output: str, errors: str, ending: str) -> str:
    """Join both streams in `SHOWN` characters. If both are long, each gets half; else the rest of the other one."""
    room = SHOWN - len(ending) - 2
    for_output = max(room // 2, room - len(errors))
    for_errors = max(room - room // 2, room - len(output))
    parts = (clipped(output, for_output), clipped(errors, for_errors), ending)
    return "\n".join(part for part in parts if part)
