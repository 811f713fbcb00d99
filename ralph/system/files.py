"""Reading a file that others may have put there: bounded, never through a link, never waiting at a pipe."""

import os
import stat

__all__ = ["read_regular"]


def read_regular(path: bytes | str | os.PathLike[str], limit: int, *, offset: int = 0) -> bytes:
    """Return at most `limit` bytes of a regular file. Raises `OSError` for a link or a FIFO; never waits."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(None, "it is not a regular file")
        if offset:
            os.lseek(handle, offset, os.SEEK_SET)
        chunks: list[bytes] = []
        while limit > 0 and (chunk := os.read(handle, limit)):
            chunks.append(chunk)
            limit -= len(chunk)
        return b"".join(chunks)
    finally:
        os.close(handle)
