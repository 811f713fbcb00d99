"""Limits on reading, so that no folder, site or file can keep a reader busy."""

from pydantic import BaseModel, Field

__all__ = ["ReadingLimits"]


class ReadingLimits(BaseModel, frozen=True, extra="forbid"):
    """The maximum to read. Whatever the limits leave out is listed among the problems."""

    pages: int = Field(default=500, ge=1, le=100_000, description="Pages in all, from files and sites.")
    file_bytes: int = Field(default=5_000_000, ge=1, description="Of a file of text, or of a page of a site.")
    pdf_bytes: int = Field(default=50_000_000, ge=1, description="Of a PDF.")
    pdf_seconds: float = Field(default=30, gt=0, description="To read a PDF.")
    concurrency: int = Field(default=4, ge=1, le=32, description="Requests to a site at a time.")
    request_seconds: float = Field(default=20, gt=0, description="Of a request, redirects included.")
    site_seconds: float = Field(default=600, gt=0, description="Of a site; what was read until then is kept.")
    tries: int = Field(default=3, ge=1, le=10, description="Of a page that a site is too busy to give.")
    wait_seconds: float = Field(default=60, gt=0, description="That a site may ask to be left alone for, at a time.")
