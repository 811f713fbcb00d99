"""Words that hold a sentence together and say little themselves, by language.

They identify languages, and count little in comparisons of statements. Negations are not among them.
"""

__all__ = ["FUNCTION_WORDS"]

_LISTS = {
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

FUNCTION_WORDS = {language: frozenset(words.split()) for language, words in _LISTS.items()}
