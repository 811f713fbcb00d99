"""Spanish."""

from ralph.analysis.lexicon import Lexicon, keywords, words

_ENDINGS = "o | a | os | as"
_TESTS = "las pruebas | los tests | las # pruebas | los # tests | las pruebas unitarias"
_PASSING = "pasan | pasaron | han pasado | pasan correctamente | están en verde | pasan sin errores"

_KEYWORDS = f"""
done/completado: completad(o|a|os|as) | está completo | está completa | están completos | están completas
done/terminado: terminad(o|a|os|as)
done/finalizado: finalizad(o|a|os|as) | concluid(o|a|os|as)
enough/todas las pruebas pasan: (todas|todos) ({_TESTS}) ({_PASSING}) | pasan todas las pruebas | pasan todos los tests
enough/no quedan problemas: no (quedan errores|queda ningún problema|queda ningún error)
no_more_work/no queda nada por hacer: no (hay nada más que hacer|queda nada pendiente|quedan tareas
    hay tareas pendientes|quedan tareas pendientes) | nada más que hacer
ready/listo para revisión: lista para revisión | (listo|lista) para revisar | todo está listo | todo listo
"""

_SETTLED = "cubiert | resuelt | arreglad | corregid | migrad | cerrad | configurad | solucionad"
"""The words behind "queda", which by itself says that something is left."""

_COMPLETION = f"""
plain: (queda|quedan) ({_SETTLED})({_ENDINGS}) | todo el | todo lo | todo | todos los | todos
    (si|cuando|hace|hacía|no) falta
success: éxito | exitosamente
negation: no | nunca | sin | ni | tampoco | ningún | ninguna | ninguno | nada | todavía no | aún no
    no (está|están|ha|han|he|se ha|se han) | en lugar de
absence: sin | ningún | ninguna | no hay | cero
contrast: pero | sin embargo | aunque | excepto | salvo | no obstante
qualifier: falta | faltan | pendiente | pendientes | queda | quedan | queda por | quedan por | todavía | parcialmente
    parcial | casi | en progreso | en curso | incompleto | incompleta | a medias | por hacer | excepto | de momento
future: cuando | si | una vez | hasta que | antes de | después de | debe | deben | debería | deberían | (voy|vamos|va) a
    será | serán | estará | estarán | para que | hay que | necesito | por completar | necesita | falta | quiero
    intentaré | continuaré | seguiré
more: siguiente paso | próximo paso | siguientes pasos | próximos pasos | siguiente tarea | próxima tarea
    siguiente fase | próxima fase | a continuación | tareas pendientes
progress: progreso | avance | completado | completada
nothing: ninguno | ninguna | nada
work: (he|hemos|se ha|se han) (creado|añadido|agregado|implementado|modificado|actualizado|cambiado|corregido|arreglado
    eliminado|reemplazado|refactorizado|escrito|reescrito|configurado|instalado|movido|integrado|completado|terminado)
    creé | añadí | agregué | implementé | modifiqué | actualicé | corregí | arreglé | eliminé | reemplacé | refactoricé
    escribí | configuré | instalé | integré
"""


_IDLENESS = """
idle/nothing to do: (nada|no hay nada más) que hacer | nada pendiente | no queda nada | sin cambios necesarios
    (no se requieren|no hacen falta|no se necesitan) cambios
idle/already done: ya (está|están|estaba|estaban|se encuentra|se encuentran) (complet|completad|terminad|hech|list
    implementad|finalizad)(o|a|os|as)
idle/no-op: (sesión|iteración) sin trabajo | no había trabajo
idle/asks to be stopped: (detén|detenga) el bucle | el bucle (puede|debe) (detenerse|terminar)
standby: (a la espera de|esperando) (tus|sus) (instrucciones|órdenes|indicaciones) | quedo a la espera
    (listo|lista) para (la siguiente|la próxima) (fase|tarea) | cuando (quieras|me digas)
idle/in an earlier run: ya (estaba|estaban|está|están) | en una iteración anterior
change: cambio | cambios | cambiado | cambié | modificado | modificada | modificados | modifiqué | modificación
    modificaciones | tocado | editado | novedad | novedades | avance | avances | acción | acciones
watching: en segundo plano | sigue en ejecución | (sigue|siguen) ejecutándose | sigue corriendo
    (todavía|aún) en ejecución | sigue en (curso|progreso|marcha)
"""

_UNABLE = "no puedo | no podemos | sigo sin poder | no es posible | imposible | no he podido"
_GO_ON = "continuar | avanzar | proceder | seguir | progresar | completar (la tarea|esta tarea)"
_AM = "estoy | sigo | continúo | estamos | seguimos | (estoy|sigo) completamente | permanezco"
_GIVEN = "aprobación | la aprobación | autorización | la autorización | permiso | permisos | credenciales"
_STILL = "sigo | sigo todavía | seguimos | continúo | todavía | aún"
_STILL_WAITING = f"({_STILL}) (a la espera de|esperando) ({_GIVEN})"
_PLEADING = "dime (qué|cuál|cómo|si) | por favor (confirma|indica) | indícame | confírmame | por favor elige"

_TALK = f"""
blocked: ({_UNABLE}) ({_GO_ON}) | ({_AM}) (bloqueado|bloqueada|bloqueados)
halted: bloqueado | bloqueada | detenido | detenida | {_STILL_WAITING}
obstacle: {_STILL_WAITING} | tú mismo | solo lectura | (ejecuta|ejecutar|ejecútalo) manualmente | ejecuta tú | ejecutes
    por favor (ejecuta|aprueba|autoriza|concede) | aprueba los cambios | que apruebes | que autorices
    necesito que (apruebes|ejecutes) | puedes aprobar | podrías aprobar | apruebas | apruebo los | aprueba cuando
    para desbloquear | desbloquearme | esperando (tu|su) | a la espera de tu | intervención (manual|humana)
    bloqueado por | bloqueada por
leave: acceso al | acceso a | permiso | permisos | aprobación | autorización | acceso de escritura | credenciales
lack: necesito | necesita | necesitan | necesitas dar | requiere | requieren | requerido | requeridos | requerida
    falta | falta de | faltan | esperando | a la espera de | denegado | denegados | me des | habilitar | habilita
    habilites | denegada | concede | otorga | dame | dar | solicito | pendiente | pendiente de
unable: no (puedo|podemos|es posible|se puede) | imposible | no pude
negation: no (puedo|podemos|es posible|se puede|pude)
demand: por favor | (necesito|tienes|tendrás) que | debes | alguien | una persona | a mano
barred: caducado | caducada | caducó | expirado | expirada | expiró | vencido | vencida | bloqueado | bloqueada
    no tengo acceso | sin acceso | sin permiso | no (existe|existen|está en el entorno|está en el repositorio
    están en el repositorio) | denegado | denegada | denegadas | rechazado | rechazada | rechazadas | rechaza
    no responde | inaccesible | (no|no está) disponible | pide un | pide una | suspendido | suspendida
    me (quedo aquí|falta|faltan) | congelada | congelado | agotado | agotada | lleno
hand: hace falta que | necesito de (ti|vosotros) | qué necesito | lo que necesito | concede | vuelve a lanzar
    vuelve a ejecutar | relanza | solo (el|la|puede) | sólo el | el titular | (el|un) administrador | alguien de
    alguien con | por vuestra parte | por tu parte | que alguien | necesito que (apruebes|ejecutes) | para desbloquear
    intervención humana
bidding: pon | añade | habilita | renueva | desbloquea | permite | autoriza | conecta | amplía
parting: (me detengo|paro|me paro|lo dejo|me quedo) aquí | tengo que (parar|detenerme) | (he tenido|tuve) que parar
onward: después lanzo | después sigo | en cuanto | puedo seguir | podré seguir | hasta que (haya|alguien)
    puedo continuar | hasta entonces
condition: si | cuando | una vez | en caso de
person: puedes | podrías | quieres | deseas | prefieres | apruebas | te gustaría | te parece | debo | debería | procedo
    continúo | sigo | puedo | usted | tú | quiere que | desea que | cuál | cuáles | apruebo los | puedes aprobar
    podrías aprobar
resume: continuar | continúo | continúe | seguir | sigo | proceder | procedo | empezar | empiece
plea: {_PLEADING} | dime | avísame | hazme saber | responde | quedo a la espera
pleading: {_PLEADING}
offer: algo más | quieres que | te gustaría que | alguna otra cosa | en qué más
ongoing: en ejecución | en segundo plano | ejecutándose | en progreso | en curso | trabajando en | te avisaré
    estoy implementando | estoy trabajando | monitoreando | ahora voy a | voy a | ahora | las pruebas
limit/usage limit: has alcanzado tu límite | límite de uso alcanzado | ha alcanzado su límite
limit/credit: saldo insuficiente | créditos insuficientes
"""

_NUMBERS = "dos | tres | cuatro | cinco | seis | siete | ocho | nueve | diez"
_CLAIMS = f"""
plain: (siguiente|próximo) paso para ti | (si|cuando|hace|hacía|no) falta | faltan por | paso a paso
all: todos los | todas las | todos | todas | cada | ambos | ambas | (los|las) ({_NUMBERS})
everything: todo el proyecto | toda la tarea | todo (el trabajo|lo pedido|el plan|lo que pediste|lo que pedías
    lo que pedía la tarea|lo solicitado)
goal: tarea | tareas | requisito | requisitos | criterios de aceptación | criterios | historia | historias | objetivos
    pasos | fases | puntos | elementos | funcionalidad | funcionalidades | cambios | proyecto | migración
    refactorización | especificación | entregables | incidencia | incidencias | hallazgos | defectos | errores
    comentarios | apartados
whole: tarea | proyecto | migración | refactorización | encargo | traducción | trabajo en
piece: funcionalidad | historia | implementación | integración | incidencia
trouble: error | fallo | fuga | problema | bloqueo | regresión | bug
stands/resuelto: resuelt(o|a|os|as) | arreglad(o|a|os|as) | corregid(o|a|os|as) | solucionad(o|a|os|as)
stands/fuera: ha desaparecido
closed/cumplido: cumplid(o|a|os|as) | satisfech(o|a|os|as) | cumple | cumplen | se cumplen
closed/implementado: implementad(o|a|os|as) | entregad(o|a|os|as) | migrad(o|a|os|as) | integrad(o|a|os|as)
closed/marcado: marcad(o|a|os|as)
closed/hecho: (está|están) (hecho|hecha|hechos|hechas|listo|lista|listos|listas)
closed/cubierto: cubiert(o|a|os|as) | cubre | cubren | se cubren
ready: (está|están) (listo|lista|listos|listas) para
achieve: (he|hemos|se ha|se han) (implementado|corregido|arreglado|migrado|resuelto|refactorizado|solucionado)
    implementad(o|a|os|as) | resuelt(o|a|os|as) | arreglad(o|a|os|as) | corregid(o|a|os|as) | solucionad(o|a|os|as)
    migrad(o|a|os|as) | refactorizad(o|a|os|as) | implementé | corregí | arreglé | migré | resolví | refactoricé
    solucioné
agent: hemos | (lo|la|ya) he
outright: con éxito | correctamente | exitosamente
nothing left: no (queda nada por hacer|queda nada pendiente|quedan tareas|quedan tareas pendientes|hay tareas pendientes
    hay nada más que hacer|queda trabajo pendiente|hace falta nada más|falta nada|queda ninguna tarea|quedan casillas)
needless: no (hacía falta ningún cambio|hay que cambiar nada|se necesitan cambios)
changed: (he|hemos|se ha|se han) (añadido|agregado|creado|actualizado|eliminado|reemplazado|cambiado|movido|sustituido
    escrito|reescrito|configurado|separado|extraído) | listo | hecho | añadí | agregué | creé | actualicé | eliminé
    reemplacé | cambié | moví
news: ahora | ya no
cause: la causa | causa: | el motivo | se debía a | el problema era | el fallo era | porque
pieced: iteración | ciclo | fase | fases | el plan | del plan | siguiente | próxima | permiso | aprobación
last: era (la última tarea|el último paso|el último punto) | la última tarea pendiente
part: esta iteración | este ciclo | esta vuelta | una parte | la mayoría | por ahora | de momento | dos de los
    dos de las | tres de los | tres de las | algunos de los | algunas de las | la primera parte | el primer paso
    la primera tarea | una primera versión | la mitad | por hoy
preparation: análisis | planificación | investigación | lectura | exploración | revisión
fraction/50: la mitad | mitad
fraction/33: un tercio
fraction/67: dos tercios
fraction/25: un cuarto
fraction/75: tres cuartos | tres cuartas partes
stage: fase | etapa | paso | parte | iteración | hito
proviso: una vez | si | cuando | a menos que | siempre que | en cuanto
reported: dijiste | según el registro | dice que | por ejemplo
unfinished: me queda poco contexto | se me acaba el contexto | el contexto (se agota|está casi lleno)
    quedan (otros|otras|cinco|seis|siete|ocho|nueve|diez) | dejo para la | (los|las|lo|la) dejo para | queda para
    quedan (para|los|las) | de momento (solo|sólo) | por ahora (solo|sólo) | todavía no hay | aún no hay | está a medias
    están a medias | sin (traducir|migrar|tocar) | no he llegado a | no me ha dado tiempo | solo está la primera
    sigue sin | siguen sin | en la próxima vuelta | para la próxima | (en la próxima|en la siguiente) iteración
    en el siguiente ciclo | (queda|quedan|falta|faltan) por | todavía no | aún no | aún no están | sin terminar
    a medias | no se puede cerrar | sin empezar | todavía falta | aún falta | queda el | queda la
    quedan (dos|tres|cuatro) | me falta | siguen con | sigue con | sin empezar | sigo con | falta | faltan
    (no|no la|no lo) marco | sin marcar | a medio hacer | a medias | no he probado | queda pendiente | quedan pendientes
    sigue pendiente | siguen pendientes
described: muestra | muestran | indica | indican | cuántos | cuántas | si el usuario
wanted: objetivo | requisito | requisitos | pide | criterio | se espera
act: ahora (continúo|sigo|paso) | continúo con | continúo ahora | (sigo ahora|sigo|seguiré|continuaré) con
    estoy (analizando|revisando|trabajando|migrando) | voy a | vamos a | ahora (voy|tengo|necesito) | déjame | permíteme
    a continuación | necesito | ahora (ejecuto|escribo|actualizo) | empiezo por | paso a | procedo a
closer: resumen | resumir | en resumen | informe | terminar aquí | avísame | si necesitas
recap: resumen | en resumen | cambios: | cambios realizados | archivos modificados | archivos creados | lo que hice
    qué cambió | verificación
verified: comprobado | sin avisos | sin advertencias | pruebas correctas | pasan las | pasan los | 0 fallos
    compila sin errores | sin errores | sin fallos | todo en verde | pasan todas | pasan todos | compila correctamente
    en verde
passes: pasa | pasan | pasaron | han pasado | correcto | correcta
committed: commit hecho | confirmado en git | commit: | subido
following: lo siguiente (es|son|será|serán) | la siguiente es | ahora toca | después (vienen|viene|vendrán)
    luego vienen | a continuación vienen | continuar con | siguiente tarea | próxima tarea | siguiente fase
    próxima fase | siguiente paso | próximo paso | tareas restantes | tareas pendientes | siguiente historia
later: siguientes pasos | próximos pasos
left: pendiente | pendientes | por hacer | falta | faltan | trabajo pendiente | en curso | lo que no:
optional: opcional | opcionales | si quieres | si lo deseas | más adelante | fuera de alcance
check: pruebas | prueba | tests | test | compilación | build | lint | suite
failing: falla | fallan | fallaron | no pasa | no pasan | en rojo
beyond: entorno | permisos | ajeno | ajena | ajenos | ajenas | previo | previa | previos | previas
    ya (existía|existían|estaba ahí|estaba allí|estaban ahí|estaban allí) | sandbox | no (tiene relación|tienen relación
    tiene que ver|tienen que ver) | sin relación con | nada que ver | queda fuera | quedan fuera | de antes
    ya venían de | ya venía de | (no estaba|no está) en la lista
"""


LEXICON = Lexicon(
    keywords=keywords("es", _KEYWORDS),
    words=words(_COMPLETION, _IDLENESS, _TALK),
    claims=words(_CLAIMS),
)
