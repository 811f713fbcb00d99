"""Spanish words by which an agent says that it did nothing."""

from itertools import product

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["IDLENESS"]

IDLENESS: Words = {
    "idle": {
        "nothing to do": (
            *("nada que hacer", "no hay nada más que hacer", "nada pendiente", "no queda nada"),
            *("sin cambios necesarios",),
            *("no se requieren cambios", "no hacen falta cambios", "no se necesitan cambios"),
        ),
        "already done": tuple(
            f"ya {what} {done}{ending}"
            for what, done, ending in product(
                ("está", "están", "estaba", "estaban", "se encuentra", "se encuentran"),
                ("complet", "completad", "terminad", "hech", "list", "implementad", "finalizad"),
                ("o", "a", "os", "as"),
            )
        ),
        "in an earlier run": ("ya estaba", "ya estaban", "ya está", "ya están", "en una iteración anterior"),
    },
    "change": alone(
        *("cambio", "cambios", "cambiado", "cambié", "modificado", "modificada", "modificados", "modifiqué"),
        *("modificación", "modificaciones", "tocado", "editado", "novedad", "novedades", "avance", "avances"),
        *("acción", "acciones"),
    ),
    "watching": alone(
        *("en segundo plano", "sigue en ejecución", "sigue ejecutándose", "siguen ejecutándose", "sigue corriendo"),
        *("todavía en ejecución", "aún en ejecución", "sigue en curso", "sigue en progreso", "sigue en marcha"),
    ),
}
