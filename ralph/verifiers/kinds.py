"""What a verifier that goes by a name is, and what it is made of. Nothing is loaded before one is made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ralph.executors.base import Executor
    from ralph.system.redact import Redactor
    from ralph.system.sandbox import Confinement
    from ralph.verifiers.base import Verifier

__all__ = ["VerifierKind", "VerifierMaterials"]


class VerifierMaterials(NamedTuple):
    """What every verifier may be made of.

    Attributes:
        executor: the run's.
        timeout: of one verifier, where its own keys do not say; in seconds.
        rounds: of a review, where its own keys do not say.
        own: the settings of the plug-in that brings the verifier; None where it has none.
    """

    executor: "Executor"
    redactor: "Redactor"
    confinement: "Confinement"
    timeout: float = 600.0
    rounds: int = 1
    own: "BaseModel | None" = None


@dataclass(frozen=True, slots=True)
class VerifierKind:
    """A kind of verifier.

    Attributes:
        about: what it does, in a few words.
        keys: the model of its keys and their values.
        build: makes one from the keys, an instance of that model, and the materials.
    """

    name: str
    about: str
    keys: "type[BaseModel]"
    build: "Callable[[Any, VerifierMaterials], Verifier]"
