"""Options that several commands share."""

from typing import Annotated

import typer

__all__ = ["AsJson", "Brands", "Domain", "Limit", "Places", "Similarity", "Store"]

AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Brands = Annotated[
    list[str] | None, typer.Option("--brand", metavar="NAME", help="A brand that credits the source; repeatable.")
]
Domain = Annotated[str, typer.Option("--domain", metavar="HOST", help="The site that the answer should credit.")]
Limit = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many.")]
Places = Annotated[
    list[str] | None,
    typer.Option(
        "--ground-truth", "-g", metavar="PLACE", help="The ground truth: a file, a folder or an address; repeatable."
    ),
]
Similarity = Annotated[
    str | None,
    typer.Option("--similarity", metavar="NAME", help="How to measure similarity: lexical, local, endpoint or hybrid."),
]
Store = Annotated[str | None, typer.Option("--store", metavar="URL", help="Where results are stored.")]
