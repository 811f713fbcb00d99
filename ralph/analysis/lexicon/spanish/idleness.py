"""Spanish words by which an agent says that it found nothing to do."""

from ralph.analysis.lexicon.base import Words

__all__ = ["IDLENESS"]

IDLENESS: Words = {
    "idle": {
        "nothing to do": (
            *("nada que hacer", "no hay nada más que hacer", "nada pendiente", "no queda nada"),
            *("sin cambios necesarios",),
            *("no se requieren cambios", "no hacen falta cambios", "no se necesitan cambios"),
        ),
        "in an earlier run": ("ya estaba", "ya estaban", "ya está", "ya están", "en una iteración anterior"),
    },
}
