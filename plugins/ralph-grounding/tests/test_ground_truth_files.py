"""Ground truth from files and folders."""

import json
import os
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from ralph.errors import UsageError
from ralph_grounding.errors import NoGroundTruthError
from ralph_grounding.ground_truth import GroundTruth, ReadingLimits
from ralph_grounding.ground_truth.files import read_text
from ralph_grounding.ground_truth.reading import read_ground_truth

MARKDOWN = """---
title: Prices of Tallow
---
# Prices

Tallow has two plans, and each is billed *monthly*.

## Studio

The [Studio](https://tallow.test/studio) plan costs 12 euros a month.

- It has 5 seats.
- Backups are kept for 30 days.

| Plan | Seats |
|------|-------|
| Studio | 5 |

```python
price = 12
```
"""

HTML = """<!doctype html><html lang="en"><head><title>About us | Tallow</title>
<meta property="og:site_name" content="Tallow"><link rel="canonical" href="https://www.tallow.test/about">
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Organization", "name": "Tallow GmbH",
"alternateName": "Tallow Works", "foundingDate": "2011", "address": {"addressLocality": "Ghent"}}</script>
<style>p { color: red }</style><script>alert("not shown")</script></head>
<body><header><a href="/">Home</a></header><nav><ul><li>Menu</li></ul></nav>
<main><h1>About Tallow</h1><p>Tallow makes candles from beeswax in Ghent, and has done so since 2011.</p>
<p hidden>Hidden words.</p><h2>People</h2><ul><li>Tallow employs 40 people.</li></ul></main>
<footer>Copyright</footer></body></html>"""


def pdf(*lines: str) -> bytes:
    """A PDF of one page, written by hand."""
    shown = "".join(f"({line}) Tj 0 -16 Td " for line in lines)
    stream = f"BT /F1 12 Tf 72 720 Td {shown}ET".encode("latin-1")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out = BytesIO()
    out.write(b"%PDF-1.4\n")
    places: list[int] = []
    for number, held in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, held))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return out.getvalue()


async def read(*places: Path, **options: Any) -> GroundTruth:
    return await read_ground_truth([str(place) for place in places], **options)


async def test_markdown_becomes_passages_under_their_headings(tmp_path: Path) -> None:
    (tmp_path / "prices.md").write_text(MARKDOWN)
    ground = await read(tmp_path / "prices.md")
    (page,) = ground.pages
    assert (page.url, page.title, page.language) == ("prices.md", "Prices of Tallow", "en")
    assert [chunk.heading for chunk in page.chunks] == ["Prices", "Prices › Studio"]
    assert page.chunks[0].text == "Tallow has two plans, and each is billed monthly."
    assert "The Studio plan costs 12 euros a month.\n\n- It has 5 seats.\n- Backups" in page.chunks[1].text
    assert "Studio | 5" in page.chunks[1].text
    assert page.chunks[1].depth == 2


# covers: S3-55
async def test_html_gives_its_main_content_and_what_it_says_of_itself(tmp_path: Path) -> None:
    (tmp_path / "about.html").write_text(HTML)
    ground = await read(tmp_path)
    (page,) = ground.pages
    assert page.text == (
        "About Tallow\n\nTallow makes candles from beeswax in Ghent, and has done so since 2011.\n\nPeople\n\n"
        "- Tallow employs 40 people."
    )
    assert page.metadata["canonical"] == "https://www.tallow.test/about"
    assert ground.domain == "tallow.test"
    assert {"Tallow", "Tallow GmbH", "Tallow Works"} <= set(ground.brand_names)
    statements = {claim.statement: claim for claim in page.claims}
    assert statements["Tallow GmbH was founded in 2011."].confidence == 0.9
    assert statements["Tallow GmbH is located in Ghent."].source == "structured"
    prose = statements["Tallow employs 40 people."]
    assert (prose.confidence, prose.source) == (0.5, "rules")
    assert prose.chunk_id == page.chunks[1].id


# covers: S3-55
async def test_organisations_products_and_brands_have_their_other_names(tmp_path: Path) -> None:
    things = [
        {"@type": ["Corporation"], "name": "Oak & Iron Ltd.", "legalName": "Oak and Iron Limited"},
        {
            "@graph": [
                {"@type": "https://schema.org/Product", "name": "Anvil", "brand": {"@type": "Brand", "name": "Iron"}}
            ]
        },
        {"@type": "Person", "name": "A. Smith"},
    ]
    (tmp_path / "a.html").write_text(f'<script type="application/ld+json">{json.dumps(things)}</script><p>Hello.</p>')
    ground = await read(tmp_path)
    entities = {entity.name: entity for entity in ground.pages[0].entities}
    assert {name: entity.kind for name, entity in entities.items()} == {
        "Oak & Iron Ltd.": "organisation",
        "Anvil": "product",
        "Iron": "brand",
        "A. Smith": "person",
    }
    assert entities["Oak & Iron Ltd."].aliases == ("Oak and Iron Limited", "Oak & Iron")
    assert set(ground.brand_names) == {"Oak & Iron Ltd.", "Oak and Iron Limited", "Oak & Iron", "Anvil", "Iron"}
    assert "Anvil is made by Iron." in {claim.statement for claim in ground.pages[0].claims}


async def test_text_has_paragraphs_and_underlined_headings(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(
        "Notes\n=====\n\nThe kiln holds 80 bowls.\n\nGlazes\n------\nBlue needs cobalt.\n"
    )
    (page,) = (await read(tmp_path)).pages
    assert [(chunk.heading, chunk.text) for chunk in page.chunks] == [
        ("Notes", "The kiln holds 80 bowls."),
        ("Notes › Glazes", "Blue needs cobalt."),
    ]


async def test_a_pdf_is_read(tmp_path: Path) -> None:
    (tmp_path / "kiln.pdf").write_bytes(pdf("The kiln reaches 1280 degrees.", "It holds 80 bowls."))
    (page,) = (await read(tmp_path)).pages
    assert "The kiln reaches 1280 degrees." in page.text
    assert page.metadata["pages"] == 1


async def test_the_headings_of_a_pdf_are_no_part_of_the_sentence_below(tmp_path: Path) -> None:
    lines = (
        "1 Safety",
        "The kiln reaches 1280 degrees and must not be ope-",
        "ned above 100 degrees.",
        "It holds 80 bowls.",
    )
    (tmp_path / "kiln.pdf").write_bytes(pdf(*lines))
    (page,) = (await read(tmp_path)).pages
    assert [claim.statement for claim in page.claims] == [
        "The kiln reaches 1280 degrees and must not be opened above 100 degrees."
    ]


async def test_a_pdf_that_is_broken_or_has_no_text_is_a_problem_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4\n" + b"<< /Length 99999999 >> stream " * 1000)
    (tmp_path / "empty.pdf").write_bytes(pdf())
    (tmp_path / "zip.pdf").write_bytes(b"PK\x03\x04" + b"\0" * 100_000)
    (tmp_path / "page.md").write_text("The kiln holds 80 bowls.")
    ground = await read(tmp_path)
    assert [page.url for page in ground.pages] == ["page.md"]
    assert len(ground.problems) == 3
    assert any(problem.startswith("empty.pdf: it has no text") for problem in ground.problems)


async def test_a_pdf_that_would_grow_is_given_up(tmp_path: Path) -> None:
    stream = zlib.compress(b"BT (x) Tj ET\n" * 8_000_000, 9)
    content = pdf("x").replace(b"/Length", b"/Filter /FlateDecode /Length %d /Was" % len(stream))
    begin, end = content.index(b"stream\n") + len(b"stream\n"), content.index(b"\nendstream")
    (tmp_path / "bomb.pdf").write_bytes(content[:begin] + stream + content[end:])
    with pytest.raises(NoGroundTruthError, match=r"bomb\.pdf: it (?:has no readable page|is not a readable PDF)"):
        await read(tmp_path)


async def test_of_a_pdf_with_a_broken_page_the_others_are_read(tmp_path: Path) -> None:
    sound = pdf("The kiln reaches 1280 degrees.")
    broken = b"6 0 obj\n<< /Type /Page /Parent 2 0 R /Contents 7 0 R /Resources << /Font 5 >> >>\nendobj\n"
    broken += b"7 0 obj\n<< /Length 4 /Filter /FlateDecode /DecodeParms [[[ >>\nstream\nxxxx\nendstream\nendobj\n"
    content = sound.replace(b"/Kids [3 0 R] /Count 1", b"/Kids [3 0 R 6 0 R] /Count 2").replace(
        b"xref\n0", broken + b"xref\n0"
    )
    (tmp_path / "kiln.pdf").write_bytes(content)
    ground = await read(tmp_path)
    assert "1280 degrees" in ground.pages[0].text
    assert ground.pages[0].metadata["pages"] == 2


async def test_a_pdf_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "kiln.pdf").write_bytes(pdf("The kiln reaches 1280 degrees."))
    with pytest.raises(NoGroundTruthError, match=r"kiln\.pdf: it could not be read within 0\.01 s"):
        await read(tmp_path, limits=ReadingLimits(pdf_seconds=0.01))


async def test_a_folder_is_read_by_name_without_hidden_files_and_without_its_links(tmp_path: Path) -> None:
    (tmp_path / "site" / "b").mkdir(parents=True)
    (tmp_path / "site" / ".git").mkdir()
    (tmp_path / "site" / ".git" / "notes.md").write_text("Hidden.")
    (tmp_path / "site" / "b" / "two.md").write_text("Two is a number.")
    (tmp_path / "site" / "a.md").write_text("One is a number.")
    (tmp_path / "site" / "image.png").write_bytes(b"\x89PNG")
    (tmp_path / "secret.md").write_text("A secret.")
    (tmp_path / "site" / "link.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "site" / "loop").symlink_to(tmp_path / "site")
    ground = await read(tmp_path / "site")
    assert [page.url for page in ground.pages] == ["a.md", "b/two.md"]
    assert ground.problems == ("link.md: is a link, which is not followed.",)


async def test_files_of_one_name_from_several_places_stay_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.md").write_text(f"This is {name}.")
    ground = await read(tmp_path / "one", tmp_path / "two")
    assert [page.url for page in ground.pages] == ["index.md", "two/index.md"]
    assert len({chunk.id for chunk, _ in ground.chunks}) == 2


# covers: S3-104
async def test_the_version_is_that_of_the_contents(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("One is a number.")
    (tmp_path / "b.md").write_text("Two is a number.")
    first = await read(tmp_path / "a.md", tmp_path / "b.md")
    assert first.version == (await read(tmp_path / "b.md", tmp_path / "a.md")).version
    before = {chunk.id for chunk, _ in first.chunks}
    (tmp_path / "b.md").write_text("Two is an even number.")
    second = await read(tmp_path)
    assert second.version != first.version
    assert len(before & {chunk.id for chunk, _ in second.chunks}) == 1


# covers: S3-166
async def test_where_nothing_can_be_read_the_error_names_the_places_and_why(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "binary.txt").write_bytes(b"\0\1\2" * 100)
    with pytest.raises(NoGroundTruthError) as raised:
        await read(tmp_path / "empty", tmp_path / "binary.txt", tmp_path / "missing.md")
    said = str(raised.value)
    assert str(tmp_path / "empty") in said
    assert "binary.txt: it is not text, despite its name." in said
    assert "missing.md: there is no such file or folder." in said
    with pytest.raises(NoGroundTruthError, match="No ground truth is given"):
        await read()


async def test_what_could_not_be_read_is_listed_beside_what_could(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("One is a number.")
    ground = await read(tmp_path / "a.md", tmp_path / "gone")
    assert len(ground.pages) == 1
    assert ground.problems == (f"{tmp_path / 'gone'}: there is no such file or folder.",)


async def test_more_pages_than_are_allowed_are_left_out_and_told_of(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.md").write_text(f"Page {number} is short.")
    ground = await read(tmp_path, limits=ReadingLimits(pages=3))
    assert len(ground.pages) == 3
    assert ground.problems == ("2 files or addresses were left out: at most 3 pages are read.",)


async def test_a_file_that_is_too_large_is_read_in_part(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text("A line of text.\n" * 1000)
    ground = await read(tmp_path, limits=ReadingLimits(file_bytes=1600))
    assert len(ground.pages[0].text) <= 1600
    assert ground.problems == ("large.txt: it was read only up to 1600 bytes.",)


async def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "a.md").write_text("One is a number.")
    ground = await read(tmp_path)
    assert [page.url for page in ground.pages] == ["a.md"]
    assert ground.problems == ("pipe.md: it cannot be read: it is not a regular file.",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
async def test_chinese_is_read_in_the_encoding_that_it_declares(tmp_path: Path, encoding: str) -> None:
    page = (
        '<html><meta charset="gb18030"><main><h1>价格</h1><p>青瓷工坊的茶杯每只售价三十八元，成立于1998年。</p></main>'
    )
    page = page if encoding == "gb18030" else page.replace("gb18030", "utf-8")
    (tmp_path / "price.html").write_bytes(page.encode(encoding))
    ground = await read(tmp_path)
    (held,) = ground.pages
    assert held.text == "价格\n\n青瓷工坊的茶杯每只售价三十八元，成立于1998年。"
    assert held.language == "zh"
    assert [claim.statement for claim in held.claims] == ["青瓷工坊的茶杯每只售价三十八元，成立于1998年。"]
    assert ground.problems == ()


async def test_an_encoding_that_is_guessed_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes("Das Café kostet 3 €.".encode("cp1252"))
    ground = await read(tmp_path)
    assert ground.pages[0].text == "Das Café kostet 3 €."
    assert "read as Windows-1252" in ground.problems[0]


async def test_given_domain_and_brands_go_first(tmp_path: Path) -> None:
    (tmp_path / "about.html").write_text(HTML)
    ground = await read(tmp_path, domain="https://www.Candles.test/", brands=("Candles",))
    assert ground.domain == "candles.test"
    assert ground.brands[0] == "Candles"


async def test_a_brand_is_found_in_the_titles_and_in_the_domain(tmp_path: Path) -> None:
    for name in ("Prices", "Help", "Jobs", "News"):
        (tmp_path / f"{name}.html").write_text(f"<title>{name} – Oak & Iron</title><p>{name} has 3 parts.</p>")
    assert (await read(tmp_path, domain="oakiron.example.org")).brands == ("Oak & Iron", "example")
    assert (await read(tmp_path, domain="www.oakiron.co.uk")).brands == ("Oak & Iron",)
    for name in ("Prices", "Help", "Jobs", "News"):
        (tmp_path / f"{name}.html").write_text(f"<title>{name} | Documentation</title><p>{name} has 3 parts.</p>")
    assert (await read(tmp_path)).brands == ()
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.md").write_text("One is a number.")
    assert (await read(tmp_path / "plain", domain="shop.oakiron.co.uk")).brands == ("oakiron",)


def test_a_text_that_a_person_names_is_read_or_refused(tmp_path: Path) -> None:
    (tmp_path / "expected.md").write_text("It costs 12 euros.")
    assert read_text(tmp_path / "expected.md") == "It costs 12 euros."
    with pytest.raises(UsageError, match=r"gone\.md"):
        read_text(tmp_path / "gone.md")
    with pytest.raises(UsageError, match="not a regular file"):
        read_text(tmp_path)
