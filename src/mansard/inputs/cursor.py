"""Reading the head of a binary file piece by piece, without trusting a length that it states."""

import struct
from typing import BinaryIO

from mansard.inputs.tensors import refuse

_PIECE = 1 << 20


class Cursor:
    """A position in a file of `size` bytes that moves forward only; what would leave the file is refused.

    At most `limit` bytes are passed over, and no more than a piece of them is held at a time.
    """

    def __init__(self, file: BinaryIO, where: str, size: int, limit: int) -> None:
        self.where = where
        self.order = "<"
        self._file = file
        self._end = min(size, limit)
        self._is_limited = limit < size
        self._piece = b""
        self._start = 0  # where the piece begins in the file
        self._place = 0  # where the next byte is in the piece

    @property
    def position(self) -> int:
        """Bytes from the start of the file."""
        return self._start + self._place

    def take(self, count: int) -> bytes:
        """The next bytes; few of them, since they are held."""
        self._require(count)
        if self._place + count > len(self._piece):
            self._load(count)
        self._place += count
        return self._piece[self._place - count : self._place]

    def skip(self, count: int) -> None:
        """Passes over bytes without reading them."""
        self._require(count)
        self._place += count
        if self._place > len(self._piece):
            self._start, self._place, self._piece = self.position, 0, b""
            self._file.seek(self._start)

    def number(self, code: str) -> int | float:
        """The next number, by its code in the module struct."""
        (value,) = struct.unpack(self.order + code, self.take(struct.calcsize(self.order + code)))
        return value  # type: ignore[no-any-return]

    def whole(self, code: str) -> int:
        """The next whole number."""
        return int(self.number(code))

    def skip_strings(self, count: int) -> None:
        """Passes over strings, each behind its length in 8 bytes: a vocabulary has hundreds of thousands."""
        order = "little" if self.order == "<" else "big"
        for _ in range(count):
            self.skip(int.from_bytes(self.take(8), order))  # type: ignore[arg-type]

    def _require(self, count: int) -> None:
        if count <= self._end - self.position:
            return
        if self._is_limited:
            refuse(self.where, f"has a header of more than {self._end:,} bytes, which no model needs")
        left = self._end - self.position
        problem = f"ends too early: {count:,} bytes are announced at byte {self.position:,}, and {left:,} are left"
        refuse(self.where, problem, "the download is not complete, or the file is damaged: fetch it again")

    def _load(self, count: int) -> None:
        rest = self._piece[self._place :]
        self._start, self._place = self.position, 0
        self._piece = rest + self._file.read(max(_PIECE, count) - len(rest))
        if len(self._piece) < count:
            refuse(self.where, "became shorter while it was read")
