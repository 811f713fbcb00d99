"""German words of claims: who says that what is finished, what is left, and what comes next."""

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["CLAIMS"]

_CHANGED = (
    *("ergänzt", "hinzugefügt", "aktualisiert", "ersetzt", "gelöscht", "überarbeitet", "eingebaut", "umgestellt"),
    *("verschoben", "angelegt", "umbenannt", "entfernt", "veröffentlicht", "eingerichtet", "übersetzt", "korrigiert"),
)
_LEFT = ("fehlt noch", "fehlen noch", "steht noch aus", "stehen noch aus", "bleibt noch", "bleiben noch", "noch offen")

CLAIMS: Words = {
    "all": alone("alle", "sämtliche", "jede", "jeder"),
    "everything": alone("alles", "das ganze projekt", "die ganze aufgabe"),
    "goal": alone(
        *("aufgabe", "aufgaben", "akzeptanzkriterien", "kriterien", "anforderungen", "stories", "punkte", "schritte"),
        *("funktionen", "phasen"),
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
        *_LEFT,
        *("noch zu", "muss noch", "müssen noch", "noch rot", "schlägt noch", "schlagen noch", "folgt noch"),
        *("folgen noch",),
        *("folgen später", "folgt später", "der rest", "die restlichen", "sind übrig", "im nächsten durchlauf"),
        *("morgen",),
        *("in der nächsten runde", "halb fertig", "zur hälfte", "als nächstes", "bisher nur", "fehlt der", "fehlt die"),
        *("fehlt das", "noch kein", "noch keine", "steht aus", "stehen aus", "noch sieben", "noch drei", "noch zwei"),
        *("offen ist noch", "offen sind noch", "offene punkte", "noch nicht", "weiter geht es mit", "erst bei"),
        *("unverändert bei", "nur zum teil", "fehlen bei", "in arbeit", "schlägt fehl", "schlagen fehl"),
    ),
    "part": alone("diese runde", "dieser durchlauf", "diesem durchlauf", "dieser runde", "ein teil", "vorerst"),
    "pieced": alone("durchlauf", "runde", "phase", "im plan", "meilenstein"),
    "following": alone("als nächstes", "nächste story", "nächste aufgabe", "nächster durchlauf", "danach kommt"),
    "later": alone("nächste schritte", "nächster schritt"),
    "left": alone("offen", "noch offen", "ausstehend", "in arbeit", "noch nicht angefasst", "nicht begonnen"),
    "act": alone(
        "ich werde", "ich prüfe jetzt", "jetzt prüfe ich", "als nächstes werde ich", "lass mich", "nun schreibe ich"
    ),
    "optional": alone("optional", "bei bedarf", "später", "außerhalb", "könnte", "könnten", "wer will"),
    "beyond": alone("sandbox", "umgebung", "vorher schon", "unabhängig davon"),
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
