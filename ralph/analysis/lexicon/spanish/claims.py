"""Spanish words of claims: who says that what is finished, what is left, and what comes next."""

from itertools import product

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["CLAIMS"]

_NUMBERS = ("dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez")
_WHOLE = (
    *(
        "todo el",
        "todo lo",
        "todo está",
        "todo ha",
        "todo queda",
        "todo funciona",
        "todo en",
        "todo pasa",
        "todo listo",
    ),
    *("todo esto", "todo eso", "con todo", "todo ello", "todo compila"),
)
"""What looks like the English word for what is left to do."""
_ENDINGS = ("o", "a", "os", "as")


def _forms(*stems: str) -> tuple[str, ...]:
    """Participles in every gender and number."""
    return tuple(stem + ending for stem, ending in product(stems, _ENDINGS))


CLAIMS: Words = {
    "plain": alone(
        "siguiente paso para ti",
        "próximo paso para ti",
        "si falta",
        "cuando falta",
        "hace falta",
        "hacía falta",
        "no falta",
        "faltan por",
        "paso a paso",
    ),
    "all": alone(
        *("todos los", "todas las", "todos", "todas", "cada", "ambos", "ambas"),
        *(f"{the} {number}" for the, number in product(("los", "las"), _NUMBERS)),
    ),
    "everything": alone(
        *("todo el proyecto", "toda la tarea", "todo el trabajo", "todo lo pedido", "todo el plan"),
        *("todo lo que pediste", "todo lo que pedías", "todo lo que pedía la tarea", "todo lo solicitado"),
    ),
    "goal": alone(
        *("tarea", "tareas", "requisito", "requisitos", "criterios de aceptación", "criterios", "historia"),
        *("historias",),
        *("objetivos", "pasos", "fases", "puntos", "elementos", "funcionalidad", "funcionalidades", "cambios"),
        *("proyecto", "migración", "refactorización", "especificación", "entregables", "incidencia", "incidencias"),
        *("hallazgos", "defectos", "errores", "comentarios", "apartados"),
    ),
    "whole": alone("tarea", "proyecto", "migración", "refactorización", "encargo", "traducción", "trabajo en"),
    "piece": alone("funcionalidad", "historia", "implementación", "integración", "incidencia"),
    "trouble": alone("error", "fallo", "fuga", "problema", "bloqueo", "regresión", "bug"),
    "stands": {"resuelto": _forms("resuelt", "arreglad", "corregid", "solucionad"), "fuera": ("ha desaparecido",)},
    "closed": {
        "cumplido": (*_forms("cumplid", "satisfech"), "cumple", "cumplen", "se cumplen"),
        "implementado": _forms("implementad", "entregad", "migrad", "integrad"),
        "marcado": _forms("marcad"),
        "hecho": tuple(f"{is_} {done}" for is_ in ("está", "están") for done in _forms("hech", "list")),
        "cubierto": (*_forms("cubiert"), "cubre", "cubren", "se cubren"),
    },
    "ready": alone(*(f"{is_} {ready} para" for is_ in ("está", "están") for ready in _forms("list"))),
    "achieve": alone(
        *(
            f"{have} {what}"
            for have, what in product(
                ("he", "hemos", "se ha", "se han"),
                ("implementado", "corregido", "arreglado", "migrado", "resuelto", "refactorizado", "solucionado"),
            )
        ),
        *_forms("implementad", "resuelt", "arreglad", "corregid", "solucionad", "migrad", "refactorizad"),
        *("implementé", "corregí", "arreglé", "migré", "resolví", "refactoricé", "solucioné"),
    ),
    "agent": alone("hemos", "lo he", "la he", "ya he"),
    "outright": alone("con éxito", "correctamente", "exitosamente"),
    "nothing left": alone(
        *("no queda nada por hacer", "no queda nada pendiente", "no quedan tareas", "no quedan tareas pendientes"),
        *("no hay tareas pendientes", "no hay nada más que hacer", "no queda trabajo pendiente"),
        *("no hace falta nada más", "no falta nada", "no queda ninguna tarea", "no quedan casillas"),
    ),
    "needless": alone("no hacía falta ningún cambio", "no hay que cambiar nada", "no se necesitan cambios"),
    "changed": alone(
        *(
            f"{have} {what}"
            for have, what in product(
                ("he", "hemos", "se ha", "se han"),
                (
                    *("añadido", "agregado", "creado", "actualizado", "eliminado", "reemplazado", "cambiado", "movido"),
                    *("sustituido", "escrito", "reescrito", "configurado", "separado", "extraído"),
                ),
            )
        ),
        *("listo", "hecho", "añadí", "agregué", "creé", "actualicé", "eliminé", "reemplacé", "cambié", "moví"),
    ),
    "news": alone("ahora", "ya no"),
    "cause": alone("la causa", "causa:", "el motivo", "se debía a", "el problema era", "el fallo era", "porque"),
    "pieced": alone(
        "iteración", "ciclo", "fase", "fases", "el plan", "del plan", "siguiente", "próxima", "permiso", "aprobación"
    ),
    "last": alone("era la última tarea", "era el último paso", "era el último punto", "la última tarea pendiente"),
    "part": alone(
        *("esta iteración", "este ciclo", "esta vuelta", "una parte", "la mayoría", "por ahora", "de momento"),
        *("dos de los", "dos de las", "tres de los", "tres de las", "algunos de los", "algunas de las"),
        *("la primera parte", "el primer paso", "la primera tarea", "una primera versión", "la mitad", "por hoy"),
    ),
    "preparation": alone("análisis", "planificación", "investigación", "lectura", "exploración", "revisión"),
    "stage": alone("fase", "etapa", "paso", "parte", "iteración", "hito"),
    "proviso": alone("una vez", "si", "cuando", "a menos que", "siempre que", "en cuanto"),
    "reported": alone("dijiste", "según el registro", "dice que", "por ejemplo"),
    "unfinished": alone(
        *("me queda poco contexto", "se me acaba el contexto", "el contexto se agota", "el contexto está casi lleno"),
        *(f"quedan {which}" for which in ("otros", "otras", "cinco", "seis", "siete", "ocho", "nueve", "diez")),
        *("dejo para la", "los dejo para", "las dejo para", "lo dejo para", "la dejo para", "queda para"),
        *("quedan para",),
        *("quedan los", "quedan las", "de momento solo", "de momento sólo", "por ahora solo", "por ahora sólo"),
        *("todavía no hay", "aún no hay", "está a medias", "están a medias", "sin traducir", "sin migrar", "sin tocar"),
        *("no he llegado a", "no me ha dado tiempo", "solo está la primera", "sigue sin", "siguen sin"),
        *("en la próxima vuelta",),
        *("para la próxima", "en la próxima iteración", "en la siguiente iteración", "en el siguiente ciclo"),
        *("queda por", "quedan por", "falta por", "faltan por", "todavía no", "aún no"),
        *("aún no están", "sin terminar", "a medias", "no se puede cerrar", "sin empezar", "todavía falta"),
        *("aún falta",),
        *("queda el", "queda la", "quedan dos", "quedan tres", "quedan cuatro", "me falta", "siguen con"),
        *("sigue con", "sin empezar", "sigo con"),
        *("falta", "faltan", "no marco", "no la marco", "no lo marco", "sin marcar", "a medio hacer", "a medias"),
        *("no he probado", "queda pendiente", "quedan pendientes", "sigue pendiente", "siguen pendientes"),
    ),
    "described": alone("muestra", "muestran", "indica", "indican", "cuántos", "cuántas", "si el usuario"),
    "wanted": alone("objetivo", "requisito", "requisitos", "pide", "criterio", "se espera"),
    "act": alone(
        *("ahora continúo", "ahora sigo", "ahora paso", "continúo con", "continúo ahora", "sigo ahora con", "sigo con"),
        *("seguiré con", "continuaré con", "estoy analizando", "estoy revisando", "estoy trabajando", "estoy migrando"),
        *("voy a", "vamos a", "ahora voy", "ahora tengo", "ahora necesito", "déjame", "permíteme", "a continuación"),
        *("necesito", "ahora ejecuto", "ahora escribo", "ahora actualizo", "empiezo por", "paso a", "procedo a"),
    ),
    "closer": alone("resumen", "resumir", "en resumen", "informe", "terminar aquí", "avísame", "si necesitas"),
    "recap": alone(
        *("resumen", "en resumen", "cambios:", "cambios realizados", "archivos modificados", "archivos creados"),
        *("lo que hice", "qué cambió", "verificación"),
    ),
    "verified": alone(
        *("comprobado", "sin avisos", "sin advertencias", "pruebas correctas", "pasan las", "pasan los", "0 fallos"),
        *("compila sin errores", "sin errores", "sin fallos", "todo en verde", "pasan todas", "pasan todos"),
        *("compila correctamente", "en verde"),
    ),
    "passes": alone("pasa", "pasan", "pasaron", "han pasado", "correcto", "correcta"),
    "committed": alone("commit hecho", "confirmado en git", "commit:", "subido"),
    "following": alone(
        *("lo siguiente es", "lo siguiente son", "lo siguiente será", "lo siguiente serán", "la siguiente es"),
        *("ahora toca",),
        *("después vienen", "después viene", "después vendrán", "luego vienen", "a continuación vienen"),
        *("continuar con",),
        *("siguiente tarea", "próxima tarea", "siguiente fase", "próxima fase", "siguiente paso", "próximo paso"),
        *("tareas restantes", "tareas pendientes", "siguiente historia"),
    ),
    "later": alone("siguientes pasos", "próximos pasos"),
    "left": alone(
        "pendiente", "pendientes", "por hacer", "falta", "faltan", "trabajo pendiente", "en curso", "lo que no:"
    ),
    "optional": alone("opcional", "opcionales", "si quieres", "si lo deseas", "más adelante", "fuera de alcance"),
    "check": alone("pruebas", "prueba", "tests", "test", "compilación", "build", "lint", "suite"),
    "failing": alone("falla", "fallan", "fallaron", "no pasa", "no pasan", "en rojo"),
    "beyond": alone(
        *("entorno", "permisos", "ajeno", "ajena", "ajenos", "ajenas", "previo", "previa", "previos", "previas"),
        *(
            "ya existía",
            "ya existían",
            "ya estaba ahí",
            "ya estaba allí",
            "ya estaban ahí",
            "ya estaban allí",
            "sandbox",
        ),
        *("no tiene relación", "no tienen relación", "no tiene que ver", "no tienen que ver", "sin relación con"),
        *(
            "nada que ver",
            "queda fuera",
            "quedan fuera",
            "de antes",
            "ya venían de",
            "ya venía de",
            "no estaba en la lista",
            "no está en la lista",
        ),
    ),
}
