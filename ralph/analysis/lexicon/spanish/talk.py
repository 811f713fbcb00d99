"""Spanish words of talk with a person: questions, pleas, offers, what keeps the agent from going on, and work."""

from itertools import product

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["TALK"]

_UNABLE = ("no puedo", "no podemos", "sigo sin poder", "no es posible", "imposible", "no he podido")
_GO_ON = ("continuar", "avanzar", "proceder", "seguir", "progresar", "completar la tarea", "completar esta tarea")
_AM = ("estoy", "sigo", "continúo", "estamos", "seguimos", "estoy completamente", "sigo completamente", "permanezco")
_GIVEN = ("aprobación", "la aprobación", "autorización", "la autorización", "permiso", "permisos", "credenciales")
_STILL = ("sigo", "sigo todavía", "seguimos", "continúo", "todavía", "aún")
_STILL_WAITING = tuple(
    f"{still} {waiting} {leave}" for still, waiting, leave in product(_STILL, ("a la espera de", "esperando"), _GIVEN)
)
_PLEADING = (
    *("dime qué", "dime cuál", "dime cómo", "dime si", "por favor confirma", "por favor indica", "indícame"),
    *("confírmame", "por favor elige"),
)

TALK: Words = {
    "blocked": alone(
        *(f"{unable} {go_on}" for unable, go_on in product(_UNABLE, _GO_ON)),
        *(f"{am} {held}" for am, held in product(_AM, ("bloqueado", "bloqueada", "bloqueados"))),
    ),
    "halted": alone(
        *("bloqueado", "bloqueada", "detenido", "detenida"),
        *_STILL_WAITING,
    ),
    "obstacle": alone(
        *_STILL_WAITING,
        *("tú mismo", "solo lectura"),
        *("ejecuta manualmente", "ejecutar manualmente", "ejecútalo manualmente", "ejecuta tú", "ejecutes"),
        *("por favor ejecuta", "por favor aprueba", "por favor autoriza", "por favor concede", "aprueba los cambios"),
        *("que apruebes", "que autorices", "necesito que apruebes", "necesito que ejecutes", "puedes aprobar"),
        *("podrías aprobar", "apruebas", "apruebo los", "aprueba cuando", "para desbloquear", "desbloquearme"),
        *("esperando tu", "esperando su", "a la espera de tu", "intervención manual", "intervención humana"),
        *("bloqueado por", "bloqueada por"),
    ),
    "leave": alone(
        *("acceso al", "acceso a", "permiso", "permisos", "aprobación", "autorización", "acceso de escritura"),
        *("credenciales",),
    ),
    "lack": alone(
        *("necesito", "necesita", "necesitan", "necesitas dar", "requiere", "requieren", "requerido", "requeridos"),
        *("requerida", "falta", "falta de", "faltan", "esperando", "a la espera de", "denegado", "denegados"),
        *("me des", "habilitar", "habilita", "habilites", "denegada", "concede", "otorga", "dame", "dar", "solicito"),
        *("pendiente", "pendiente de"),
    ),
    "unable": alone("no puedo", "no podemos", "no es posible", "no se puede", "imposible", "no pude"),
    "negation": alone("no puedo", "no podemos", "no es posible", "no se puede", "no pude"),
    "demand": alone(
        *("por favor", "necesito que", "tienes que", "tendrás que", "debes", "alguien", "una persona", "a mano"),
    ),
    "barred": alone(
        *("caducado", "caducada", "caducó", "expirado", "expirada", "expiró", "vencido", "vencida", "bloqueado"),
        *("bloqueada", "no tengo acceso", "sin acceso", "sin permiso", "no existe", "no existen"),
        *("no está en el entorno", "no está en el repositorio"),
        *("no están en el repositorio", "denegado", "denegada", "denegadas", "rechazado", "rechazada", "rechazadas"),
        *("rechaza",),
        *("no responde", "inaccesible", "no disponible", "no está disponible", "pide un", "pide una", "suspendido"),
        *("suspendida", "me quedo aquí", "me falta", "me faltan", "congelada", "congelado", "agotado", "agotada"),
        *("lleno",),
    ),
    "hand": alone(
        *("hace falta que", "necesito de ti", "necesito de vosotros", "qué necesito", "lo que necesito", "concede"),
        *("vuelve a lanzar", "vuelve a ejecutar", "relanza", "solo el", "solo la", "solo puede", "sólo el"),
        *("el titular", "el administrador"),
        *("un administrador", "alguien de", "alguien con", "por vuestra parte", "por tu parte", "que alguien"),
        *("necesito que apruebes", "necesito que ejecutes", "para desbloquear", "intervención humana"),
    ),
    "bidding": alone("pon", "añade", "habilita", "renueva", "desbloquea", "permite", "autoriza", "conecta", "amplía"),
    "parting": alone(
        "me detengo aquí",
        "paro aquí",
        "me paro aquí",
        "lo dejo aquí",
        "me quedo aquí",
        "tengo que parar",
        "tengo que detenerme",
        "he tenido que parar",
        "tuve que parar",
    ),
    "onward": alone(
        *("después lanzo", "después sigo", "en cuanto", "puedo seguir", "podré seguir"),
        *("hasta que haya", "hasta que alguien", "puedo continuar", "hasta entonces"),
    ),
    "condition": alone("si", "cuando", "una vez", "en caso de"),
    "person": alone(
        *("puedes", "podrías", "quieres", "deseas", "prefieres", "apruebas", "te gustaría", "te parece", "debo"),
        *("debería", "procedo", "continúo", "sigo", "puedo", "usted", "tú", "quiere que", "desea que", "cuál"),
        *("cuáles", "apruebo los"),
        *("puedes aprobar", "podrías aprobar"),
    ),
    "resume": alone("continuar", "continúo", "continúe", "seguir", "sigo", "proceder", "procedo", "empezar", "empiece"),
    "plea": alone(*_PLEADING, "dime", "avísame", "hazme saber", "responde", "quedo a la espera"),
    "pleading": alone(*_PLEADING),
    "offer": alone(
        *("algo más", "quieres que", "te gustaría que", "alguna otra cosa", "en qué más"),
    ),
    "ongoing": alone(
        *("en ejecución", "en segundo plano", "ejecutándose", "en progreso", "en curso", "trabajando en", "te avisaré"),
        *("estoy implementando", "estoy trabajando", "monitoreando", "ahora voy a", "voy a", "ahora", "las pruebas"),
    ),
    "limit": {
        "usage limit": ("has alcanzado tu límite", "límite de uso alcanzado", "ha alcanzado su límite"),
        "credit": ("saldo insuficiente", "créditos insuficientes"),
    },
}
