"""Spanish words of completion: keywords, and what speaks against them."""

from itertools import product

from ralph.analysis.lexicon.base import Keyword, Words, alone

__all__ = ["COMPLETION", "KEYWORDS"]

_ENDINGS = ("o", "a", "os", "as")
_TESTS = ("las pruebas", "los tests", "las # pruebas", "los # tests", "las pruebas unitarias")
_PASS = ("pasan", "pasaron", "han pasado", "pasan correctamente", "están en verde", "pasan sin errores")


def _forms(*stems: str) -> tuple[str, ...]:
    """Participles in every gender and number."""
    return tuple(stem + ending for stem, ending in product(stems, _ENDINGS))


KEYWORDS = (
    Keyword(
        text="completado",
        language="es",
        forms=(*_forms("completad"), "está completo", "está completa", "están completos", "están completas"),
        group="done",
    ),
    Keyword(text="terminado", language="es", forms=_forms("terminad"), group="done"),
    Keyword(text="finalizado", language="es", forms=_forms("finalizad", "concluid"), group="done"),
    Keyword(
        text="todas las pruebas pasan",
        language="es",
        weight="very_high",
        forms=(
            *(f"{every} {tests} {verb}" for every, tests, verb in product(("todas", "todos"), _TESTS, _PASS)),
            *("pasan todas las pruebas", "pasan todos los tests"),
        ),
        points=0,
    ),
    Keyword(
        text="no quedan problemas",
        language="es",
        weight="very_high",
        forms=("no quedan errores", "no queda ningún problema", "no queda ningún error"),
        points=0,
    ),
    Keyword(
        text="no queda nada por hacer",
        language="es",
        forms=(
            *("no hay nada más que hacer", "no queda nada pendiente", "no quedan tareas", "no hay tareas pendientes"),
            *("no quedan tareas pendientes", "nada más que hacer"),
        ),
        group="no_more_work",
        points=15,
    ),
    Keyword(
        text="listo para revisión",
        language="es",
        forms=("lista para revisión", "listo para revisar", "lista para revisar", "todo está listo", "todo listo"),
        group="ready",
    ),
)

_SETTLED = ("cubiert", "resuelt", "arreglad", "corregid", "migrad", "cerrad", "configurad", "solucionad")
"""What is so behind "queda", which by itself says that something is left."""

COMPLETION: Words = {
    "plain": alone(
        *(f"{stays} {done}{ending}" for stays, done, ending in product(("queda", "quedan"), _SETTLED, _ENDINGS)),
        "todo el",
        "todo lo",
        "todo",
        "todos los",
        "todos",
        "si falta",
        "cuando falta",
        "hace falta",
        "hacía falta",
        "no falta",
    ),
    "success": alone("éxito", "exitosamente"),
    "negation": alone(
        *("no", "nunca", "sin", "ni", "tampoco", "ningún", "ninguna", "ninguno", "nada", "todavía no", "aún no"),
        *("no está", "no están", "no ha", "no han", "no he", "no se ha", "no se han", "en lugar de"),
    ),
    "absence": alone("sin", "ningún", "ninguna", "no hay", "cero"),
    "contrast": alone("pero", "sin embargo", "aunque", "excepto", "salvo", "no obstante"),
    "qualifier": alone(
        *("falta", "faltan", "pendiente", "pendientes", "queda", "quedan", "queda por", "quedan por", "todavía"),
        *("parcialmente", "parcial", "casi", "en progreso", "en curso", "incompleto", "incompleta", "a medias"),
        *("por hacer", "excepto", "de momento"),
    ),
    "future": alone(
        *("cuando", "si", "una vez", "hasta que", "antes de", "después de", "debe", "deben", "debería", "deberían"),
        *("voy a", "vamos a", "va a", "será", "serán", "estará", "estarán", "para que", "hay que", "necesito"),
        *("por completar", "necesita", "falta", "quiero", "intentaré", "continuaré", "seguiré"),
    ),
    "more": alone(
        *("siguiente paso", "próximo paso", "siguientes pasos", "próximos pasos", "siguiente tarea", "próxima tarea"),
        *("siguiente fase", "próxima fase", "a continuación", "tareas pendientes"),
    ),
    "progress": alone("progreso", "avance", "completado", "completada"),
    "nothing": alone("ninguno", "ninguna", "nada"),
    "work": alone(
        *(
            f"{have} {what}"
            for have, what in product(
                ("he", "hemos", "se ha", "se han"),
                (
                    *("creado", "añadido", "agregado", "implementado", "modificado", "actualizado", "cambiado"),
                    *("corregido", "arreglado", "eliminado", "reemplazado", "refactorizado", "escrito", "reescrito"),
                    *("configurado", "instalado", "movido", "integrado", "completado", "terminado"),
                ),
            )
        ),
        *("creé", "añadí", "agregué", "implementé", "modifiqué", "actualicé", "corregí", "arreglé", "eliminé"),
        *("reemplacé", "refactoricé", "escribí", "configuré", "instalé", "integré"),
    ),
}
