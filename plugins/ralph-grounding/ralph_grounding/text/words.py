"""Word lists by language: function words, negations and irregular English forms.

Function words hold a sentence together and say little themselves. They identify languages, and count little in
comparisons of statements. Negations are not among them.
"""

import re

__all__ = [
    "ARTICLES",
    "BASE_FORMS",
    "DENYING_ENDINGS",
    "DENYING_MARKS",
    "DOUBTING",
    "FUNCTION_WORDS",
    "LINKS",
    "NEGATIONS",
    "PREPOSITIONS",
    "is_having",
    "is_negation",
]

_FUNCTION_LISTS = {
    "en": "a an the and or but if then than that this these those of in on at by for with from to into onto over "
    "under about as is are was were be been being am do does did doing has have had having will would can "
    "could may might shall should must it its it's he him his she her hers they them their theirs we us our "
    "ours you your yours i me my who whom whose which what when where why how there here so such also too "
    "very just only own same other some any each both all more most much many few out up down off again while "
    "during before after because through between until against himself herself itself themselves s t's ll re "
    "ve d",
    "de": "der die das den dem des ein eine einen einem einer eines und oder aber wenn dass daß dies diese dieser "
    "dieses von in im an am auf bei für mit aus zu zum zur über unter um als wie ist sind war waren sein wird "
    "werden wurde wurden hat haben hatte hatten kann können soll sollen muss müssen es er ihn ihm sie ihr "
    "ihre ihren seine seinen wir uns unser man sich auch noch nur schon so sehr da hier dort wo wer was nach "
    "vor durch gegen bis seit während ich du",
    "fr": "le la les l un une des du de d et ou mais si que qu ce cet cette ces à au aux en dans sur sous par pour "
    "avec chez vers est sont était étaient être été a ont avait avaient avoir sera seront peut peuvent doit "
    "doivent il elle ils elles on nous vous je tu se son sa ses leur leurs notre nos votre vos qui dont où y "
    "aussi plus très bien comme après avant pendant entre",
    "es": "el la los las un una unos unas de del y o pero si que este esta estos estas ese esa a al en por para con "
    "desde hasta sobre entre es son era eran ser sido está están fue fueron ha han había habían haber puede "
    "pueden debe deben lo le les se su sus nuestro nuestra yo tú él ella ellos ellas nosotros usted ustedes "
    "quien cual donde cuando como también más muy ya antes después durante",
    "it": "il lo la i gli le un uno una di del dello della dei degli delle e o ma se che questo questa questi "
    "queste a al alla ai alle in nel nella nei nelle su sul sulla per con da dal dalla è sono era erano "
    "essere stato stata ha hanno aveva può possono deve devono si suo sua suoi loro noi voi io tu lui lei chi "
    "cui dove quando come anche più molto già dopo prima",
    "pt": "o a os as um uma uns umas de do da dos das e ou mas se que este esta estes estas isso em no na nos nas "
    "por pelo pela para com até sobre entre é são era eram ser sido está estão foi foram tem têm tinha pode "
    "podem deve devem ele ela eles elas seu sua seus suas nós eu você quem qual onde quando como também mais "
    "muito já depois antes",
    "nl": "de het een en of maar als dat dit deze die van in op aan bij voor met uit naar over onder om is zijn was "
    "waren wordt worden werd werden heeft hebben had hadden kan kunnen moet moeten zal zullen hij hem zij ze "
    "haar hun wij ons u je ik er ook nog al zeer na door tegen tot tijdens wie wat waar",
    "sv": "en ett den det de och eller men om att som av i på vid för med från till över under är var vara har hade "
    "kan kunde ska skall måste han hon hans hennes dem deras vi oss du jag sin sitt sina också mycket efter "
    "före",
    "da": "en et den det de og eller men hvis at som af i på ved for med fra til over under er var være har havde "
    "kan kunne skal må han hun hans hendes dem deres vi os du jeg sin sit sine også meget efter før blev "
    "bliver",
    "no": "en et ei den det de og eller men hvis at som av i på ved for med fra til over under er var være har "
    "hadde kan kunne skal må han hun hans hennes dem deres vi oss du jeg sin sitt sine også mye etter før ble "
    "blir",
    "ru": "и или но а если что чтобы это этот эта эти тот та те в во на с со к ко у о об от до из за по под над при "
    "для без через между был была было были быть есть будет он она оно они его её их ему ей им мы вы я ты "
    "свой который которая которые как где когда также уже ещё очень после перед",
    "pl": "i oraz lub ale jeśli że to ten ta te w we na z ze do od o u za po pod nad przy dla przez między jest są "
    "był była było były być będzie on ona ono oni jego jej ich my wy ja ty się który która które jak gdzie "
    "kiedy także już",
}

FUNCTION_WORDS = {language: frozenset(words.split()) for language, words in _FUNCTION_LISTS.items()}


_HAVING = {
    "en": "has have had having include includes including included contain contains contained feature features offer "
    "offers comes come",
    "de": "hat haben hatte hatten bietet bieten enthält enthalten umfasst umfassen beinhaltet beinhalten",
    "es": "tiene tienen tenía incluye incluyen contiene contienen ofrece ofrecen",
    "zh": "具有 拥有 包括 包含 含有 提供",
}
_HAVING_WORDS = {language: frozenset(words.split()) for language, words in _HAVING.items()}


def is_having(word: str, following: str, language: str) -> bool:
    """Return True if a lower-case word only says that its subject has something, as "comes" does before "with"."""
    return word in _HAVING_WORDS.get(language, ()) and (word not in {"come", "comes"} or following == "with")


_NEGATION_LISTS = {
    "en": "not no never without cannot neither nor none nobody nothing nowhere lack lacks lacked lacking "
    "unable cant dont doesnt isnt wont",
    "de": "nicht kein keine keinen keinem keiner keines nie niemals ohne weder niemand nichts",
    "fr": "pas jamais sans aucun aucune rien ni",
    "es": "no nunca jamás sin ningún ninguna ninguno nada tampoco ni",
    "it": "non mai senza nessun nessuno nessuna niente nulla né",
    "pt": "não nunca jamais sem nenhum nenhuma nada nem",
    "nl": "niet geen nooit zonder niemand niets noch",
    "sv": "inte ej aldrig utan ingen inget inga",
    "da": "ikke aldrig uden ingen intet",
    "no": "ikke aldri uten ingen intet",
    "ru": "не нет никогда без никто ничего ни",
    "pl": "nie nigdy bez nikt nic ani żaden żadna żadne",
    "zh": "没有 沒有 不是 不能 不会 不會 不可 不包 不含 不提 不支 不需 不接 不在 无法 無法 并非 未能",
}

NEGATIONS = {language: frozenset(words.split()) for language, words in _NEGATION_LISTS.items()}

_DOUBTING = (
    "fail refus prevent stop ban forbid reject deni without unlik avoid hard bare rare seldom longer cancel impossibl "
    "end former only"
)
DOUBTING = frozenset(_DOUBTING.split())
"""Stems of English words that leave it open whether the following words hold."""

DENYING_ENDINGS = re.compile(
    r"ではない|ではありません|じゃない|ません|なかった|(?<=[ぁ-ん])ない(?![ぁ-ん])|아닙니다|아니다|아니에요|아닌|않|없"
)
"""In Japanese and Korean, endings that negate the words before them."""

DENYING_MARKS = frozenset("不没沒未無无非")
"""Chinese characters that negate the one after them."""


def is_negation(word: str, language: str) -> bool:
    """Return True if a lower-case word negates the words after it."""
    return word in NEGATIONS.get(language, frozenset()) or (language == "en" and word.endswith(("n't", "n’t")))


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

_LINKS = {
    "contrast": "but while whereas although though aber sondern während obwohl mais tandis pero sino mientras ma",
    "addition": "and und et y e",
    "agent": "by von vom par por da",
    "being": "is was were are been be being got gets wird wurde werden fue est sont ist",
    "subject": "he she they we i you er sie il elle él ella",
    "reference": "it them they he she this that these those him her es sie ihn er lo la les",
    "local negation": "without ohne sans sin senza sem",
}
LINKS = {kind: frozenset(words.split()) for kind, words in _LINKS.items()}
"""Words that hold clauses together, by what they do."""

_ARTICLES = "the a an der die das ein eine le la les un une el los las il i"
ARTICLES = frozenset(_ARTICLES.split())

_PREPOSITIONS = "in to from at of by for on near into with through von nach aus zu bei im am à de en por para da di"
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
