"""English words with irregular forms."""

__all__ = ["BASE_FORMS"]

_FORMS = (
    "be was were been am is are, have had has, do did done does, go went gone goes, say said says, get got "
    "gotten, make made, take took taken, come came, see saw seen, know knew known, think thought, give gave "
    "given, find found, tell told, become became, leave left, feel felt, bring brought, begin began begun, "
    "keep kept, hold held, write wrote written, stand stood, hear heard, mean meant, meet met, run ran, pay "
    "paid, sit sat, speak spoke spoken, lead led, grow grew grown, lose lost, fall fell fallen, send sent, "
    "build built, understand understood, draw drew drawn, break broke broken, spend spent, rise rose risen, "
    "drive drove driven, buy bought, wear wore worn, choose chose chosen, eat ate eaten, drink drank drunk, "
    "win won, sell sold, catch caught, teach taught, fight fought, throw threw thrown, steal stole stolen, "
    "swim swam swum, sing sang sung, fly flew flown, forget forgot forgotten, hide hid hidden, ride rode "
    "ridden, shoot shot, sleep slept, strike struck stricken, sink sank sunk, swear swore sworn, tear tore "
    "torn, wake woke woken, bite bit bitten, blow blew blown, bind bound, breed bred, deal dealt, dig dug, "
    "feed fed, flee fled, forbid forbade forbidden, forgive forgave forgiven, freeze froze frozen, hang hung, "
    "lay laid, lend lent, light lit, ring rang rung, seek sought, shake shook shaken, shine shone, show "
    "showed shown, shrink shrank shrunk, slide slid, spin spun, spring sprang sprung, stick stuck, sweep "
    "swept, swing swung, withdraw withdrew withdrawn, overcome overcame, undergo underwent undergone, "
    "undertake undertook undertaken, man men, woman women, child children, foot feet, tooth teeth, mouse "
    "mice, wife wives, life lives, knife knives, thief thieves, half halves, leaf leaves, die dies died dying"
)

BASE_FORMS = {form: base for base, *forms in map(str.split, _FORMS.split(", ")) for form in forms}
"""The base of each irregular form: of "went" it is "go"."""
