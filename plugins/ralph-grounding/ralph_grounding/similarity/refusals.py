"""Answers that decline to answer."""

import re

__all__ = ["refuses"]

# A refusal stands at the beginning of an answer; later on it may well be a quotation.
_BEGINNING = 240

_REFUSAL = re.compile(
    r"\b(?:i[’']?m|i am|we[’']?re|we are) (?:very |really |so |terribly )?"
    r"(?:sorry|afraid|unable|not (?:sure|able|certain|aware))\b"
    r"|\bi (?:apologi[sz]e|have no (?:idea|information|knowledge))\b"
    r"|\b(?:i|we) (?:do not|don[’']?t) (?:know|have (?:any |enough |access|information|data))"
    r"|\b(?:i|we) (?:could not|couldn[’']?t|cannot|can[’']?t|was not able to|am not able to) "
    r"(?:find|provide|answer|help|determine|locate|tell|confirm|verify|access)\b"
    r"|\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b"
    r"|^\W*(?:not answered|no answer|no idea|n/a|unknown)\W*$"
    r"|\b(?:ich weiß (?:es )?nicht|(?:das )?weiß ich nicht|tut mir leid|leider (?:kann|konnte|habe) ich)\b"
    r"|\bje (?:suis désolée?|ne (?:sais|peux|trouve|dispose) pas)\b|\bje n[’'](?:ai|arrive) pas\b"
    r"|\b(?:lo siento|no (?:lo sé|puedo (?:responder|encontrar|ayudar)|tengo información))\b"
    r"|\b(?:mi dispiace|non (?:lo so|posso (?:rispondere|aiutar)))"
    r"|\b(?:desculpe|lamento|não (?:sei|consigo|posso responder))\b"
    r"|抱歉|对不起|對不起|我不知道|无法回答|無法回答|申し訳|わかりません|分かりません|すみません|죄송|모르겠습니다",
    re.IGNORECASE,
)


def refuses(text: str) -> bool:
    """Return True if the text begins by declining to answer, in one of the larger languages of Europe or East Asia."""
    return _REFUSAL.search(text[:_BEGINNING].strip()) is not None
