"""German: completion, what is left, and what keeps the agent from continuing.

It has no words of certainty or errors.
"""

from ralph.analysis.lexicon import Lexicon, keywords, words

_TESTS = "tests | # tests | modultests"
_PASSING = "grün | sind grün | laufen durch | laufen | bestanden | sind bestanden | erfolgreich"

_KEYWORDS = f"""
done/fertig: fertiggestellt | komplett fertig
done/abgeschlossen:
done/erledigt:
enough/alle Tests grün: alle ({_TESTS}) ({_PASSING})
no_more_work/nichts mehr zu tun: es bleibt nichts zu tun | nichts mehr offen | keine offenen Aufgaben
"""


_COMPLETION = """
success: erfolg | erfolgreich
negation: nicht | noch nicht | kein | keine | keinen | keiner | nie | ohne | weder | nichts | statt | anstatt
absence: kein | keine | keinen | ohne
contrast: aber | allerdings | jedoch | obwohl | leider | bis auf | außer | ausser | mit ausnahme | abgesehen von
    nur (die|der|das|noch) | lediglich
qualifier: teilweise | noch nicht | noch offen | ausstehend | bisher | beinahe | zur hälfte | in arbeit
future: wird | werden | soll | sollen | sollte | muss | müssen | sobald | wenn | falls | bis | ich werde | wir werden
more: als nächstes | nächster schritt | nächste schritte | nächste story | weiter geht es
nothing: nichts | keine
progress: fortschritt | stand der dinge
work: ergänzt | hinzugefügt | aktualisiert | ersetzt | gelöscht | geändert | behoben | umgesetzt | implementiert
    überarbeitet | eingebaut | umgestellt | verschoben | angelegt | geschrieben
standby: (warte|ich warte) auf (deine|ihre) (anweisung|anweisungen|ansage|nachricht) | bereit, wenn | sobald du willst
    bereit für (die nächste|den nächsten|das nächste|phase #|schritt #)
idle/no-op: (lauf|sitzung|durchlauf) ohne (arbeit|änderungen) | es gab nichts zu tun
idle/asks to be stopped: (stoppe|beende) die schleife | die schleife (kann|soll|muss) (gestoppt|beendet) werden
ongoing: läuft noch | im hintergrund | ich (prüfe|sehe mir|schaue|vermute)
blocked: ich komme (nicht weiter|hier nicht weiter) | ich bin blockiert
    nicht (weitermachen|fortfahren|weiterarbeiten|weiterkommen)
    hier geht es nicht weiter
halted: blockiert | angehalten | gestoppt | warte weiterhin auf (freigabe|die freigabe)
obstacle: bitte (gib mir|freigeben|erlauben|genehmigen) | warte auf deine
leave: berechtigung | berechtigungen | freigabe | zugriff | schreibrechte | zugangsdaten
lack: brauche | benötige | benötigt | fehlt | fehlen | verweigert | abgelehnt | warte auf
unable: (kann ich|ich kann|lässt sich) nicht | ist nicht möglich
demand: bitte | jemand muss | du musst | sie müssen
barred: abgelaufen | gesperrt | nicht (erreichbar|vorhanden|verfügbar|installiert|angeschlossen) | verweigert
    abgelehnt | mir fehlt | mir fehlen | es fehlt (die|der|das) | kein zugriff | keinen zugriff | kein zugang
    keinen zugang | keine berechtigung | keine rechte | verlangt | weder in | antwortet seit | geht es ohne
    komme nicht weiter | eingefroren | aufgebraucht | erschöpft | antwortet nicht | angehalten | nicht hinterlegt
    blockiert | steht still | zurückgezogen | entzogen
hand: (neu|erneut|wieder) starten | jemand | jemand mit | jemand muss | ein admin | (ein|der) administrator
    nur (der|ein|eine) | was ich brauche | ich brauche | von (euch|ihnen|dir) | bitte (gib mir|freigeben|erlauben
    genehmigen) | warte auf deine | könnte jemand | kann jemand
parting: ich (höre hier auf|halte hier an|stoppe hier) | hier (halte ich an|höre ich auf|muss ich aufhören)
    muss ich hier aufhören | hier muss ich anhalten | muss ich hier anhalten | weiter komme ich hier nicht
onward: danach kann ich | dann kann ich | danach geht | sobald | bis dahin | weitermachen | erst dann
    (dann|danach) mache ich
person: soll ich | sollen wir | darf ich | möchtest du | willst du | möchten sie
offer: soll ich (noch|als nächstes|auch|dann) | möchtest du, dass ich | sonst noch | kann ich noch
    möchten sie, dass ich | noch etwas
resume: weitermachen | fortfahren | anfangen | beginnen | loslegen
plea: bitte entscheide | bitte entscheiden | sag mir | bitte bestätige | bitte um antwort
pleading: bitte entscheide | bitte entscheiden | sag mir bitte | bitte bestätige
"""

_CHANGED = """
    ergänzt | hinzugefügt | aktualisiert | ersetzt | gelöscht | überarbeitet | eingebaut | umgestellt | verschoben
    angelegt | umbenannt | entfernt | veröffentlicht | eingerichtet | übersetzt | korrigiert
"""
_LEFT = "fehlt noch | fehlen noch | steht noch aus | stehen noch aus | bleibt noch | bleiben noch | noch offen"

_CLAIMS = f"""
all: alle | sämtliche | jede | jeder | beide | die beiden
everything: alles | das ganze projekt | die ganze aufgabe | alles (verlangte|gewünschte|aus deiner liste
    von deiner liste|aus dem ticket)
goal: aufgabe | aufgaben | akzeptanzkriterien | kriterien | anforderungen | stories | punkte | schritte | funktionen
    phasen | befunde | fehler | kommentare | anmerkungen | mängel | vorgaben
whole: aufgabe | projekt | migration | umstellung | überarbeitung | übersetzung | auftrag
piece: story | funktion | anforderung
trouble: fehler | absturz | speicherleck
stands/behoben: behoben | beseitigt | weg
stands/in Betrieb: in betrieb | durch
closed/umgesetzt: umgesetzt | implementiert | ausgeliefert | eingebaut
closed/erfüllt: erfüllt | abgedeckt
closed/gelöst: gelöst | behoben
closed/abgehakt: abgehakt
achieve: habe ich (umgesetzt|behoben|implementiert)
changed: {_CHANGED} | ich habe ({_CHANGED})
passive: wurde | wurden | ist jetzt | sind jetzt
outright: erfolgreich
news: jetzt | nun | nicht mehr | funktioniert wieder | läuft wieder
cause: ursache | grund war | lag an | lag daran
nothing left: nichts mehr zu tun | es ist nichts mehr offen | keine offenen punkte | alles erledigt
needless: keine änderungen nötig | keine änderung nötig
unfinished: kontext (ist fast voll|wird knapp|geht zur neige) | mir geht der kontext aus
    noch auf (der liste|dem plan|dem zettel) | gibt es noch (keinen|kein|keine) | noch keinen | bleiben noch
    bleibt der rest | die übrigen folgen | übrigen folgen | noch auf papier | liegt noch vor | liegen noch vor
    in der nächsten iteration | im nächsten schritt | beim nächsten mal | habe ich noch nicht | noch unberührt | {_LEFT}
    noch zu | (muss|müssen|muss ich|müsste) noch | noch rot | (schlägt|schlagen|folgt|folgen) noch | folgen später
    folgt später | der rest | die restlichen | sind übrig | im nächsten durchlauf | morgen | in der nächsten runde
    halb fertig | zur hälfte | als nächstes | bisher nur | fehlt (der|die|das) | noch kein | noch keine | steht aus
    stehen aus | noch (sieben|drei|zwei) | offen ist noch | offen sind noch | offene punkte | noch nicht
    weiter geht es mit | erst bei | unverändert bei | nur zum teil | fehlen bei | in arbeit | schlägt fehl
    schlagen fehl | offen (bleibt|bleiben) | (bleibt|bleiben) offen
plain: (soll ich|soll ich dann) als nächstes | offene punkte gibt es keine | der rest (des codes|bleibt|ist unverändert)
part: diese runde | (dieser|diesem) durchlauf | dieser runde | ein teil | vorerst
fraction/50: hälfte | halb
fraction/33: ein drittel
fraction/67: zwei drittel | zwei dritteln
fraction/25: ein viertel
fraction/75: drei viertel | drei vierteln
pieced: durchlauf | runde | phase | im plan | meilenstein
following: danach folgen | danach folgt | dann kommen | dann folgen | geht es weiter mit | als nächstes | nächste story
    nächste aufgabe | nächster durchlauf | danach kommt
later: nächste schritte | nächster schritt
left: offen | noch offen | ausstehend | in arbeit | noch nicht angefasst | nicht begonnen | was nicht:
act: jetzt mache ich | ich mache jetzt | nun mache ich | ich (arbeite gerade|analysiere gerade|prüfe gerade
    schreibe gerade|übersetze gerade|werde|prüfe jetzt) | jetzt prüfe ich | als nächstes werde ich | lass mich
    nun schreibe ich
optional: optional | bei bedarf | später | außerhalb | könnte | könnten | wer will
beyond: sandbox | umgebung | vorher schon | schon vorher | schon vorher da | unabhängig davon | vorher da
    nichts damit zu tun | nichts mit | schon immer da | schon lange da | von früher | steht nicht auf der liste
verified: alle grün | (läuft|laufen|läuft sauber) durch | ohne fehler | ohne warnungen | ist grün | geprüft | verglichen
    nachgestellt | sie funktionieren | bestanden
check: tests | build | modultests | prüfung
committed: eingecheckt | committet | gepusht
described: zeigt | zeigen | listet | meldet | wenn | ob | falls
recap: zusammenfassung | änderungen: | geändert: | dateien: | was sich geändert hat
"""


LEXICON = Lexicon(keywords=keywords("de", _KEYWORDS), words=words(_COMPLETION), claims=words(_CLAIMS))
