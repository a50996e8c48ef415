"""The contents of a Python container as a place that staged control flow can read and write."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """The contents of a list, dict or set, as a place that can be written."""

    holder: Any

    @property
    def key(self) -> tuple[int, str]:
        return (id(self.holder), "contents")

    def read(self) -> Any:
        return self.holder.copy()

    def write(self, value: Any) -> None:
        if isinstance(self.holder, list):
            self.holder[:] = value
        else:
            self.holder.clear()
            self.holder.update(value)

    def is_local(self) -> bool:
        """Whether only the log still knows the container: it was made, and dropped, in the frame."""
        return sys.getrefcount(self.holder) <= 2

    def __str__(self) -> str:
        return f"a {type(self.holder).__name__}"
