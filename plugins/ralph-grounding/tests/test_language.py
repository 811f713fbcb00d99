import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_grounding.text.language import detect_language

TEXTS_BY_LANGUAGE = [
    ("en", "You can send it back within a month, and we pay the postage."),
    ("de", "Sie können es innerhalb eines Monats zurückschicken, und wir zahlen das Porto."),
    ("fr", "Vous pouvez le renvoyer dans un délai d'un mois, et nous payons le port."),
    ("es", "Puede devolverlo en el plazo de un mes y nosotros pagamos el envío."),
    ("it", "Può restituirlo entro un mese e noi paghiamo la spedizione."),
    ("pt", "Você pode devolvê-lo dentro de um mês e nós pagamos o frete."),
    ("nl", "U kunt het binnen een maand terugsturen en wij betalen de verzendkosten."),
    ("sv", "Du kan skicka tillbaka den inom en månad, och vi betalar portot."),
    ("pl", "Możesz to odesłać w ciągu miesiąca, a my zapłacimy za przesyłkę."),
    ("ru", "Вы можете вернуть товар в течение месяца, и мы оплатим пересылку."),
    ("el", "Μπορείτε να το επιστρέψετε μέσα σε έναν μήνα."),
    ("tr", "Bir ay içinde geri gönderebilirsiniz, kargo ücretini biz öderiz."),
    ("ar", "يمكنك إعادته خلال شهر واحد وسندفع تكاليف الشحن."),
    ("zh", "您可以在一个月内退货,邮费由我们承担。"),
    ("ja", "一か月以内に返品できます。送料は当社が負担します。"),
    ("ko", "한 달 안에 반품할 수 있으며 배송비는 저희가 부담합니다."),
]


# covers: S3-179
def test_tells_languages_apart(subtests: pytest.Subtests) -> None:
    for language, text in TEXTS_BY_LANGUAGE:
        with subtests.test(language=language):
            assert detect_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Richard Roe",
        "42",
        "1234567890 " * 50,
        "好",
        "https://example.com/in/the/middle/of/the/night",
        "zzzzzz " * 30,
    ],
)
def test_says_nothing_where_it_is_not_sure(text: str) -> None:
    assert detect_language(text) == ""


def test_leaves_out_code_and_addresses() -> None:
    text = "Rufen Sie einfach diese Funktion auf, und dann ist es gut:\n```\n" + "the end of the file\n" * 40 + "```\n"

    assert detect_language(text) == "de"


def test_a_name_in_another_script_does_not_decide() -> None:
    assert detect_language("The word 東京 stands for the city of Tokyo, which most people here have been to.") == "en"
    assert detect_language("这家公司的名字是 OpenAPI Tools,它在网上很有名。") == "zh"


@settings(deadline=None)
@given(st.text())
def test_no_text_raises(text: str) -> None:
    language = detect_language(text)

    assert language == detect_language(text)
    assert language == "" or (len(language) == 2 and language.islower())


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10_000_000,
        "\ud800" * 10_000,
        "`" * 1_000_000,
        "<a" * 500_000,
        "@a." * 500_000,
        "://" * 500_000,
        "\0\u202e" * 500,
    ],
    ids=lambda text: repr(text[:6]),
)
def test_hostile_texts_are_bounded(text: str) -> None:
    assert detect_language(text) in {"", "en", "tl", "et"} or len(detect_language(text)) == 2


def test_model_is_loaded_when_it_is_needed() -> None:
    script = "import sys, ralph_grounding.text.language; print('py3langid' in sys.modules, 'numpy' in sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=30)

    assert loaded.stdout.split() == ["False", "False"]
