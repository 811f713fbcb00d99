"""Pages that mark no main content: what stands beside it is told by the usual classes and ids."""

import pytest

from ralph_grounding.ground_truth.html_document import html_document

SAID = "The ferry leaves at nine each morning, and a ticket costs twelve euros for adults and six for children."


def read(page: str) -> str:
    return " ".join(block.text for block in html_document(f"<html><body>{page}</body></html>").blocks)


@pytest.mark.parametrize(
    "named",
    [
        "class=sidebar",
        "class='widget left-sidebar'",
        "class=leftSidebar",
        "id=site-nav",
        "class=navbar",
        "class='nav nav-pills'",
        "class=breadcrumbs",
        "id=footer",
        "class=page-footer",
        "id=cookie-banner",
        "class=gdpr-notice",
        "class=share-buttons",
        "class=social_links",
        "class=related-posts",
        "class=pagination",
        "class=skip-link",
        "class=newsletter",
    ],
)
def test_what_stands_beside_the_content_is_not_read(named: str) -> None:
    assert (
        read(f"<div class=content><h1>Ferry</h1><p>{SAID}</div><div {named}><p>Old: 8 euros.</div>") == f"Ferry {SAID}"
    )


@pytest.mark.parametrize(
    "named",
    [
        "class=cookie-recipes",
        "class=social-security",
        "class=navigator",
        "class=has-sidebar",
        "class='layout with-sidebar'",
        "class=no-sidebar",
        "class=menu-items",
        "id=share-prices",
        "class=unfooter",
    ],
)
def test_content_with_a_like_name_is_read(named: str) -> None:
    assert "eight knots" in read(f"<div><h1>Ferry</h1><p>{SAID}</div><div {named}><p>It goes at eight knots.</div>")


def test_an_element_around_the_title_is_content() -> None:
    assert SAID in read(f"<div class=sidebar-page><div id=nav-wrap><h1>Ferry</h1><p>{SAID}</div></div>")


def test_a_page_of_nothing_else_is_read() -> None:
    assert read(f"<div class=sidebar><p>{SAID}</div>") == SAID
