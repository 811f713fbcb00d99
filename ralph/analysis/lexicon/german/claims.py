"""German words of claims: who says that what is finished, what is left, and what comes next."""

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["CLAIMS"]

_CHANGED = (
    *("ergänzt", "hinzugefügt", "aktualisiert", "ersetzt", "gelöscht", "überarbeitet", "eingebaut", "umgestellt"),
    *("verschoben", "angelegt", "umbenannt", "entfernt", "veröffentlicht", "eingerichtet", "übersetzt", "korrigiert"),
)
_LEFT = ("fehlt noch", "fehlen noch", "steht noch aus", "stehen noch aus", "bleibt noch", "bleiben noch", "noch offen")

CLAIMS: Words = {
    "all": alone("alle", "sämtliche", "jede", "jeder", "beide", "die beiden"),
    "everything": alone(
        *("alles", "das ganze projekt", "die ganze aufgabe", "alles verlangte", "alles gewünschte"),
        *("alles aus deiner liste", "alles von deiner liste", "alles aus dem ticket"),
    ),
    "goal": alone(
        *("aufgabe", "aufgaben", "akzeptanzkriterien", "kriterien", "anforderungen", "stories", "punkte", "schritte"),
        *("funktionen", "phasen", "befunde", "fehler", "kommentare", "anmerkungen", "mängel", "vorgaben"),
    ),
    "whole": alone("aufgabe", "projekt", "migration", "umstellung", "überarbeitung", "übersetzung", "auftrag"),
    "piece": alone("story", "funktion", "anforderung"),
    "trouble": alone("fehler", "absturz", "speicherleck"),
    "stands": {"behoben": ("behoben", "beseitigt", "weg"), "in Betrieb": ("in betrieb", "durch")},
    "closed": {
        "umgesetzt": ("umgesetzt", "implementiert", "ausgeliefert", "eingebaut"),
        "erfüllt": ("erfüllt", "abgedeckt"),
        "gelöst": ("gelöst", "behoben"),
        "abgehakt": ("abgehakt",),
    },
    "achieve": alone("habe ich umgesetzt", "habe ich behoben", "habe ich implementiert"),
    "changed": alone(*_CHANGED, *(f"ich habe {what}" for what in _CHANGED)),
    "passive": alone("wurde", "wurden", "ist jetzt", "sind jetzt"),
    "outright": alone("erfolgreich"),
    "news": alone("jetzt", "nun", "nicht mehr", "funktioniert wieder", "läuft wieder"),
    "cause": alone("ursache", "grund war", "lag an", "lag daran"),
    "nothing left": alone("nichts mehr zu tun", "es ist nichts mehr offen", "keine offenen punkte", "alles erledigt"),
    "needless": alone("keine änderungen nötig", "keine änderung nötig"),
    "unfinished": alone(
        *("kontext ist fast voll", "kontext wird knapp", "kontext geht zur neige", "mir geht der kontext aus"),
        *("noch auf der liste", "noch auf dem plan", "noch auf dem zettel"),
        *("gibt es noch keinen", "gibt es noch kein", "gibt es noch keine", "noch keinen", "bleiben noch"),
        *("bleibt der rest", "die übrigen folgen", "übrigen folgen", "noch auf papier", "liegt noch vor"),
        *("liegen noch vor",),
        *("in der nächsten iteration", "im nächsten schritt", "beim nächsten mal", "habe ich noch nicht"),
        *("noch unberührt",),
        *_LEFT,
        *(
            "noch zu",
            "muss noch",
            "müssen noch",
            "muss ich noch",
            "müsste noch",
            "noch rot",
            "schlägt noch",
            "schlagen noch",
            "folgt noch",
        ),
        *("folgen noch",),
        *("folgen später", "folgt später", "der rest", "die restlichen", "sind übrig", "im nächsten durchlauf"),
        *("morgen",),
        *("in der nächsten runde", "halb fertig", "zur hälfte", "als nächstes", "bisher nur", "fehlt der", "fehlt die"),
        *("fehlt das", "noch kein", "noch keine", "steht aus", "stehen aus", "noch sieben", "noch drei", "noch zwei"),
        *("offen ist noch", "offen sind noch", "offene punkte", "noch nicht", "weiter geht es mit", "erst bei"),
        *("unverändert bei", "nur zum teil", "fehlen bei", "in arbeit", "schlägt fehl", "schlagen fehl"),
    ),
    "plain": alone(
        "soll ich als nächstes",
        "soll ich dann als nächstes",
        "offene punkte gibt es keine",
        "der rest des codes",
        "der rest bleibt",
        "der rest ist unverändert",
    ),
    "part": alone("diese runde", "dieser durchlauf", "diesem durchlauf", "dieser runde", "ein teil", "vorerst"),
    "pieced": alone("durchlauf", "runde", "phase", "im plan", "meilenstein"),
    "following": alone(
        *("danach folgen", "danach folgt", "dann kommen", "dann folgen", "geht es weiter mit"),
        *("als nächstes", "nächste story", "nächste aufgabe", "nächster durchlauf", "danach kommt"),
    ),
    "later": alone("nächste schritte", "nächster schritt"),
    "left": alone(
        "offen", "noch offen", "ausstehend", "in arbeit", "noch nicht angefasst", "nicht begonnen", "was nicht:"
    ),
    "act": alone(
        *("jetzt mache ich", "ich mache jetzt", "nun mache ich", "ich arbeite gerade", "ich analysiere gerade"),
        *("ich prüfe gerade", "ich schreibe gerade", "ich übersetze gerade"),
        *("ich werde", "ich prüfe jetzt", "jetzt prüfe ich", "als nächstes werde ich", "lass mich", "nun schreibe ich"),
    ),
    "optional": alone("optional", "bei bedarf", "später", "außerhalb", "könnte", "könnten", "wer will"),
    "beyond": alone(
        *("sandbox", "umgebung", "vorher schon", "schon vorher", "schon vorher da", "unabhängig davon", "vorher da"),
        *(
            "nichts damit zu tun",
            "nichts mit",
            "schon immer da",
            "schon lange da",
            "von früher",
            "steht nicht auf der liste",
        ),
    ),
    "verified": alone(
        *("alle grün", "läuft durch", "laufen durch", "läuft sauber durch", "ohne fehler", "ohne warnungen"),
        *("ist grün",),
        *("geprüft", "verglichen", "nachgestellt", "sie funktionieren", "bestanden"),
    ),
    "check": alone("tests", "build", "modultests", "prüfung"),
    "committed": alone("eingecheckt", "committet", "gepusht"),
    "described": alone("zeigt", "zeigen", "listet", "meldet", "wenn", "ob", "falls"),
    "recap": alone("zusammenfassung", "änderungen:", "geändert:", "dateien:", "was sich geändert hat"),
}
