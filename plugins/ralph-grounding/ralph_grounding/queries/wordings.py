"""The wordings of questions, by language, and the questions that are the same.

The first wording is the question, the others are its variations. `{0}` is the subject of the question, `{1}` the thing
that it is compared with, or its owner.
"""

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Literal, NamedTuple

from ralph_grounding.materials import QueryKind
from ralph_grounding.text.tokens import tokens
from ralph_grounding.text.words import FUNCTION_WORDS

__all__ = ["Form", "Language", "is_near", "kind_of_heading", "language_of", "query_id", "stems_of"]

_NEAR = 0.85
_FUNCTION_WORDS = frozenset(word for words in FUNCTION_WORDS.values() for word in words)


def query_id(text: str) -> str:
    """Derive the id of a question without one from its words, so that it is stable."""
    return f"q-{sha256(' '.join(text.casefold().split()).encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def stems_of(text: str, language: str = "") -> frozenset[str]:
    """Return the subject of a question: the stems of its content words, or of all words if there are none."""
    found = tokens(text[:2_000], language or None)
    telling = frozenset(token.stem for token in found if token.word not in _FUNCTION_WORDS)
    return telling or frozenset(token.stem for token in found)


def is_near(stems: frozenset[str], others: Iterable[frozenset[str]]) -> bool:
    """Return True if one of the others shares at least 85 % of all their stems."""
    return any(len(stems & other) >= _NEAR * len(stems | other) for other in others)


Form = Literal["definition", "about", "of", "how_to", "comparison", "navigational", "contact", "price", "cell"]


class Language(NamedTuple):
    """The wordings of a language, and the words that reveal the subject of a heading.

    Attributes:
        defines: a sentence that defines something; the group is the thing.
        prices, contacts: headings that only announce prices or addresses, in lower case.
        generic: headings without a subject, in lower case.
    """

    wordings: dict[Form, tuple[str, ...]]
    kinds: dict[QueryKind, re.Pattern[str]]
    defines: re.Pattern[str]
    prices: frozenset[str]
    contacts: frozenset[str]
    generic: frozenset[str]


_GENERIC_ENGLISH = (
    "about|about us|contents|table of contents|examples|example|faq|frequently asked questions|getting started|home|"
    "introduction|menu|more|next steps|notes|overview|references|related|see also|summary|welcome|conclusion|links|"
    "changelog|news|on this page|customer reviews|reviews|you may also like|related products|note|warning|tip"
)
_NO_THINGS = (
    "The|An?|All|Any|Another|One|Two|Three|Four|Five|Several|Many|Both|Each|Every|Most|No|None|Our|Some|What|Which|Your|My|This|That|These|Those|It|They|We|You|I|"
    "When|Where|While|If|As|Because|Since|Although|Though|Regardless|After|Before|In|On|At|For|From|With|Without|To|By|Of|"
    "Here|There|Also|Other|[A-Z][a-z]+ing"
)
_GENERIC_GERMAN = "einleitung|einführung|inhalt|inhaltsverzeichnis|überblick|übersicht|startseite|über uns"
_GENERIC_CHINESE = "简介|概述|首页|目录|更多|关于我们|介绍|前言|总结|常见问题"
_ENGLISH = Language(
    wordings={
        "definition": ("What is {0}?", "Explain {0}.", "What does {0} mean?", "Tell me about {0}."),
        "about": (
            "What should I know about {0}?",
            "Can you explain {0}?",
            "What are the facts about {0}?",
            "Tell me about {0}.",
        ),
        "of": (
            "What does {1} say about {0}?",
            "What should I know about {0} at {1}?",
            "What are the facts about {0} at {1}?",
            "Tell me about {0} at {1}.",
        ),
        "how_to": ("How do I {0}?", "How can I {0}?", "What are the steps to {0}?", "Show me how to {0}."),
        "comparison": (
            "What is the difference between {0} and {1}?",
            "How does {0} compare with {1}?",
            "{0} or {1}: which one is right for me?",
            "Compare {0} and {1}.",
        ),
        "navigational": (
            "Where can I find {0} of {1}?",
            "How do I get to {0} of {1}?",
            "Where does {1} have {0}?",
            "I am looking for {0} of {1}.",
        ),
        "contact": (
            "How do I contact {1}?",
            "How can I reach {1}?",
            "Where do I write to {1}?",
            "I want to contact {1}.",
        ),
        "price": (
            "How much does {1} cost?",
            "What are the prices of {1}?",
            "What does {1} charge?",
            "What does one pay at {1}?",
        ),
        "cell": (
            "What is the {0} of {1}?",
            "What {0} does {1} have?",
            "{1}: what is the {0}?",
            "Tell me the {0} of {1}.",
        ),
    },
    kinds={
        "comparison": re.compile(r"\b(?:vs\.?|versus|compar\w{1,10}|differences?|alternatives?)\b", re.IGNORECASE),
        "transactional": re.compile(
            r"\b(?:pric\w{1,5}|costs?|fees?|plans?|buy|order\w{0,3}|subscri\w{2,8}|billing|checkout|trial)\b",
            re.IGNORECASE,
        ),
        "navigational": re.compile(
            r"\b(?:contact|log ?in|sign ?in|download\w{0,3}|address|office|offices|location\w?)\b", re.IGNORECASE
        ),
    },
    defines=re.compile(
        rf"(?:The (?=[A-Z]))?((?:An? [a-z]|(?!(?:{_NO_THINGS})\b)[A-Z])[^.!?,;:()]{{1,60}}?)"
        r" (?:is|was) (?:an?|the(?! same\b)) "
    ),
    prices=frozenset({"prices", "price", "pricing", "costs", "fees", "plans", "our prices", "plans and pricing"}),
    contacts=frozenset({"contact", "contact us", "contacts", "get in touch", "reach us", "contact details"}),
    generic=frozenset(_GENERIC_ENGLISH.split("|")),
)
_GERMAN = Language(
    wordings={
        "definition": ("Was ist {0}?", "Erkläre {0}.", "Was bedeutet {0}?", "Was weißt du über {0}?"),
        "about": ("Was sollte man über {0} wissen?", "Erkläre {0}.", "Was gilt bei: {0}?", "Was weißt du über {0}?"),
        "of": ("Was sagt {1} über {0}?", "Was gilt bei {1}: {0}?", "{1}: {0}?", "Was weißt du über {0} bei {1}?"),
        "comparison": (
            "Was ist der Unterschied zwischen {0} und {1}?",
            "{0} oder {1}: Was passt besser?",
            "Vergleiche {0} und {1}.",
            "Worin unterscheiden sich {0} und {1}?",
        ),
        "navigational": ("Wo finde ich {0} von {1}?", "Wie komme ich zu {0} von {1}?", "Wo hat {1} {0}?", "{1}: {0}?"),
        "contact": ("Wie erreiche ich {1}?", "Wohin schreibe ich an {1}?", "Wo ist {1}?", "Ich suche {1}."),
        "cell": ("Was gilt bei {1} für {0}?", "{0} von {1}?", "{1}: {0}?", "Nenne {0} von {1}."),
        "price": ("Was kostet {1}?", "Welche Preise hat {1}?", "Was verlangt {1}?", "Was bezahlt man bei {1}?"),
    },
    kinds={
        "comparison": re.compile(r"\b(?:vs\.?|vergleich\w{0,5}|unterschied\w{0,3}|alternativen?)\b", re.IGNORECASE),
        "transactional": re.compile(
            r"\b(?:preise?|kosten|kostet|tarife?|kaufen|bestell\w{1,5}|gebühr\w{0,3}|abo\w{0,8})\b", re.IGNORECASE
        ),
        "navigational": re.compile(
            r"\b(?:kontakt|anmeld\w{1,4}|adresse|standorte?|anfahrt|download\w?)\b", re.IGNORECASE
        ),
    },
    defines=re.compile(
        r"(?:(?:Der|Die|Das|Ein|Eine) )?([A-ZÄÖÜ][^.!?,;:()]{1,60}?) (?:ist|sind|war) (?:ein\w{0,2}|der|die|das) "
    ),
    prices=frozenset({"preise", "kosten", "tarife", "gebühren", "preisliste", "unsere preise"}),
    contacts=frozenset({"kontakt", "kontaktieren sie uns", "so erreichen sie uns", "kontaktdaten"}),
    generic=frozenset(_GENERIC_GERMAN.split("|")),
)
_CHINESE = Language(
    wordings={
        "definition": ("{0}是什么？", "什么是{0}？", "请介绍一下{0}。", "{0}是什么意思？"),
        "about": ("关于{0}，应该知道什么？", "请介绍一下{0}。", "{0}是怎样的？", "请说明{0}。"),
        "of": ("关于{0}，{1}是怎么说的？", "{1}的{0}是怎样的？", "请介绍一下{1}的{0}。", "{1}：{0}？"),
        "comparison": ("{0}和{1}有什么区别？", "{0}与{1}相比如何？", "{0}和{1}应该选哪个？", "请比较{0}和{1}。"),
        "navigational": ("在哪里可以找到{1}的{0}？", "怎样找到{1}的{0}？", "{1}的{0}在哪里？", "{1}：{0}？"),
        "contact": ("怎样联系{1}？", "{1}的联系方式是什么？", "{1}的地址在哪里？", "我想联系{1}。"),
        "cell": ("{1}的{0}是什么？", "{1}的{0}？", "请说明{1}的{0}。", "{1}：{0}？"),
        "price": ("{1}的价格是多少？", "{1}怎么收费？", "{1}多少钱？", "请介绍一下{1}的价格。"),
    },
    kinds={
        "comparison": re.compile("对比|比较|区别|差异|對比|比較|區別"),
        "transactional": re.compile("价格|價格|费用|費用|收费|售价|套餐|购买|購買|订购|定价|付款"),
        "navigational": re.compile("联系|聯繫|聯絡|登录|登入|下载|下載|地址|门店"),
    },
    defines=re.compile("([^，。！？、：；\\s]{2,20}?)(?:是|为)(?:一)"),
    prices=frozenset({"价格", "價格", "费用", "費用", "收费", "定价"}),
    contacts=frozenset({"联系我们", "聯繫我們", "聯絡我們", "联系方式"}),
    generic=frozenset(_GENERIC_CHINESE.split("|")),
)
_LANGUAGES = {"en": _ENGLISH, "de": _GERMAN, "zh": _CHINESE}


def language_of(code: str) -> Language:
    """Return the wordings of a language; the English ones for an unsupported language."""
    return _LANGUAGES.get(code, _ENGLISH)


def kind_of_heading(heading: str, language: Language) -> QueryKind:
    """Return the intent behind a question about a heading."""
    for kind, words in language.kinds.items():
        if words.search(heading):
            return kind
    return "informational"
