"""German words of completion and of talk with a person."""

from itertools import product

from ralph.analysis.lexicon.base import Keyword, Words, alone

__all__ = ["COMPLETION", "KEYWORDS"]

_TESTS = ("tests", "# tests", "modultests")
_PASS = ("grün", "sind grün", "laufen durch", "laufen", "bestanden", "sind bestanden", "erfolgreich")

KEYWORDS = (
    Keyword(text="fertig", language="de", forms=("fertiggestellt", "komplett fertig"), group="done"),
    Keyword(text="abgeschlossen", language="de", group="done"),
    Keyword(text="erledigt", language="de", group="done"),
    Keyword(
        text="alle Tests grün",
        language="de",
        weight="very_high",
        forms=tuple(f"alle {tests} {verb}" for tests, verb in product(_TESTS, _PASS)),
        points=0,
    ),
    Keyword(
        text="nichts mehr zu tun",
        language="de",
        forms=("es bleibt nichts zu tun", "nichts mehr offen", "keine offenen Aufgaben"),
        group="no_more_work",
        points=15,
    ),
)

COMPLETION: Words = {
    "success": alone("erfolg", "erfolgreich"),
    "negation": alone(
        *("nicht", "noch nicht", "kein", "keine", "keinen", "keiner", "nie", "ohne", "weder", "nichts"),
        *("statt", "anstatt"),
    ),
    "absence": alone("kein", "keine", "keinen", "ohne"),
    "contrast": alone("aber", "allerdings", "jedoch", "obwohl", "leider"),
    "qualifier": alone(
        *("teilweise", "noch nicht", "noch offen", "ausstehend", "bisher", "beinahe", "zur hälfte", "in arbeit"),
    ),
    "future": alone(
        *("wird", "werden", "soll", "sollen", "sollte", "muss", "müssen", "sobald", "wenn", "falls", "bis"),
        *("ich werde", "wir werden"),
    ),
    "more": alone("als nächstes", "nächster schritt", "nächste schritte", "nächste story", "weiter geht es"),
    "nothing": alone("nichts", "keine"),
    "progress": alone("fortschritt", "stand der dinge"),
    "work": alone(
        *("ergänzt", "hinzugefügt", "aktualisiert", "ersetzt", "gelöscht", "geändert", "behoben", "umgesetzt"),
        *("implementiert", "überarbeitet", "eingebaut", "umgestellt", "verschoben", "angelegt", "geschrieben"),
    ),
    "ongoing": alone("läuft noch", "im hintergrund", "ich prüfe", "ich sehe mir", "ich schaue", "ich vermute"),
    "blocked": alone(
        *(f"{i} {further}" for i, further in product(("ich komme",), ("nicht weiter", "hier nicht weiter"))),
        *("ich bin blockiert", "ich kann nicht weitermachen", "ich kann nicht fortfahren", "hier geht es nicht weiter"),
    ),
    "halted": alone(
        "blockiert", "angehalten", "gestoppt", "warte weiterhin auf freigabe", "warte weiterhin auf die freigabe"
    ),
    "obstacle": alone("bitte gib mir", "bitte freigeben", "bitte erlauben", "bitte genehmigen", "warte auf deine"),
    "leave": alone("berechtigung", "berechtigungen", "freigabe", "zugriff", "schreibrechte", "zugangsdaten"),
    "lack": alone("brauche", "benötige", "benötigt", "fehlt", "fehlen", "verweigert", "abgelehnt", "warte auf"),
    "unable": alone("kann ich nicht", "ich kann nicht", "lässt sich nicht", "ist nicht möglich"),
    "demand": alone("bitte", "jemand muss", "du musst", "sie müssen"),
    "barred": alone(
        *("abgelaufen", "gesperrt", "nicht erreichbar", "nicht vorhanden", "nicht verfügbar", "nicht installiert"),
        *("nicht angeschlossen", "verweigert", "abgelehnt", "mir fehlt", "mir fehlen", "es fehlt die"),
        *("es fehlt der", "es fehlt das", "kein zugriff"),
        *("keinen zugriff", "kein zugang", "keinen zugang", "keine berechtigung", "keine rechte", "verlangt"),
        *("weder in", "antwortet seit"),
        *("geht es ohne", "komme nicht weiter", "eingefroren", "aufgebraucht", "erschöpft", "antwortet nicht"),
        *("angehalten", "nicht hinterlegt", "blockiert", "steht still", "zurückgezogen", "entzogen"),
    ),
    "hand": alone(
        *("neu starten", "erneut starten", "wieder starten", "jemand", "jemand mit", "jemand muss", "ein admin"),
        *("ein administrator", "der administrator", "nur der"),
        *("nur ein", "nur eine", "was ich brauche", "ich brauche", "von euch", "von ihnen", "von dir", "bitte gib mir"),
        *("bitte freigeben", "bitte erlauben", "bitte genehmigen", "warte auf deine", "könnte jemand", "kann jemand"),
    ),
    "parting": alone(
        "ich höre hier auf",
        "ich halte hier an",
        "ich stoppe hier",
        "hier halte ich an",
        "hier höre ich auf",
        *("hier muss ich aufhören", "muss ich hier aufhören", "hier muss ich anhalten", "muss ich hier anhalten"),
        *("weiter komme ich hier nicht",),
    ),
    "onward": alone(
        *("danach kann ich", "dann kann ich", "danach geht", "sobald", "bis dahin"),
        *("weitermachen", "erst dann", "dann mache ich", "danach mache ich"),
    ),
    "person": alone("soll ich", "sollen wir", "darf ich", "möchtest du", "willst du", "möchten sie"),
    "offer": alone(
        *("soll ich noch", "soll ich als nächstes", "soll ich auch", "soll ich dann", "möchtest du, dass ich"),
        *("sonst noch",),
        *("kann ich noch", "möchten sie, dass ich", "noch etwas"),
    ),
    "resume": alone("weitermachen", "fortfahren", "anfangen", "beginnen", "loslegen"),
    "plea": alone("bitte entscheide", "bitte entscheiden", "sag mir", "bitte bestätige", "bitte um antwort"),
    "pleading": alone("bitte entscheide", "bitte entscheiden", "sag mir bitte", "bitte bestätige"),
}
