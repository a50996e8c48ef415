"""Every switch of graphify, in one place.

    >>> with config(debug=1):
    ...     config.debug
    1

A switch starts from its environment variable `GRAPHIFY_<NAME>`, is set for the process by
`config.update(name=value)` and for a block by `with config(name=value):`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

BEGAN = time.time_ns()  # before the rest of graphify is imported: later edits are not in memory
PROMOTION_MODES = ("numpy", "all", "safe", "strict")


@dataclass(frozen=True, slots=True)
class Settings:
    """The value of every switch. Each field's comment is its documentation."""

    debug: int = 0  # 1 compile events, 2 converted source, 3 graph after each pass, 4 lowered form
    check: bool = False  # verify the graph after each pass, compare engines with the reference
    disable: bool = False  # run plain Python, as if no function were decorated
    engine: str = "native"  # the engine of functions that do not name one
    passes: str = ""  # "-fuse,-fold" leaves passes out
    dump: str = ""  # a directory to write graphs and converted sources to
    full_traceback: bool = False  # keep graphify's own frames in tracebacks
    eager: bool = False  # run_functions_eagerly
    promotion: str = "numpy"  # dtype promotion mode: numpy, all, safe, strict
    prefer_float32: bool = False  # Python floats become float32 instead of float64
    cache: bool = True  # keep native code on disk for later processes
    cache_dir: str = ""  # where; "" is the user's cache directory
    recycle: int = 256  # MiB of results' memory kept after use, for the next results
    num_threads: int = 0  # threads of the native engine, for the process; 0 is one for each CPU


def _from_environment() -> Settings:
    values: dict[str, Any] = {}
    for field in fields(Settings):
        text = os.environ.get("GRAPHIFY_" + field.name.upper())
        if text is not None:
            values[field.name] = _parse(field.name, text)
    return replace(Settings(), **_checked(values))


def _parse(name: str, text: str) -> Any:
    default = getattr(Settings(), name)
    if isinstance(default, bool):
        return text.strip().lower() not in ("", "0", "false", "no")
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            raise ValueError(
                f"GRAPHIFY_{name.upper()}: expected an integer, got {text!r}"
            ) from None
    return text


class Config:
    """The switches: they read as attributes; call it for a block with other values.

    Raises:
        AttributeError: reading a switch that there is not.
        ValueError, TypeError: there is no such switch to set, or it cannot be that.

    Example:
        >>> with graphify.config(engine="reference"):
        ...     graphify.config.engine
        'reference'
    """

    # TensorFlow keeps these here; graphify.api.devices puts them in.
    list_physical_devices: ClassVar[Any]
    list_logical_devices: ClassVar[Any]

    def __init__(self) -> None:
        self._default = _from_environment()
        self._local: ContextVar[Settings | None] = ContextVar("graphify_settings", default=None)
        self._watchers: dict[str, Callable[[Any], None]] = {}

    @property
    def settings(self) -> Settings:
        """The values that hold here: those of the innermost block, or of the process."""
        return self._local.get() or self._default

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in Settings.__slots__:
            raise AttributeError(
                f"config has no switch {name!r}; it has {list(Settings.__slots__)}"
            )
        return getattr(self.settings, name)

    @contextlib.contextmanager
    def __call__(self, **changes: Any) -> Iterator[None]:
        """Switches for the length of a `with` block, in this thread or task only."""
        if "num_threads" in changes:
            raise ValueError("num_threads: one for the process, use config.set_num_threads(n)")
        token = self._local.set(replace(self.settings, **_checked(changes)))
        try:
            yield
        finally:
            self._local.reset(token)

    def update(self, **changes: Any) -> None:
        """Switches for the whole process from now on.

        Raises:
            ValueError, TypeError: there is no such switch, or it cannot be that.
        """
        self._default = replace(self._default, **_checked(changes))
        for name in changes:
            if name in self._watchers:
                self._watchers[name](changes[name])

    def watch(self, name: str, changed: Callable[[Any], None]) -> None:
        """Call `changed(value)` whenever `update` sets a switch."""
        self._watchers[name] = changed

    def set_num_threads(self, count: int) -> None:
        """Use so many threads in this process, the caller's included; 0 is one for each CPU."""
        self.update(num_threads=count)

    def log(self, level: int, text: str) -> None:
        """Print a message of graphify's own, if `debug` is at least `level`."""
        if self.debug >= level:
            print(text, file=sys.stderr)

    def write(self, name: str, text: str) -> None:
        """Write a text to a new file of the `dump` directory, if there is one.

        Args:
            name: such as "f.graph.txt"; a number goes before the first dot where that is taken.
        """
        if not self.dump:
            return
        directory = Path(self.dump)
        directory.mkdir(parents=True, exist_ok=True)
        stem, _, suffix = name.replace("<lambda>", "lambda").partition(".")
        for number in itertools.count(1):
            path = directory / f"{stem}{f'-{number}' if number > 1 else ''}.{suffix}"
            with contextlib.suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
                file.write(text + "\n")
                return

    def run_functions_eagerly(self, run_eagerly: bool) -> None:
        """Make every graphify.function run as plain Python (True) or as graphs (False)."""
        self.update(eager=bool(run_eagerly))

    def functions_run_eagerly(self) -> bool:
        """Whether every graphify.function runs as plain Python."""
        return bool(self.eager or self.disable)

    def dtype_promotion(
        self, mode: str = "numpy", *, prefer_float32: bool = False
    ) -> contextlib.AbstractContextManager[None]:
        """Dtype promotion for a block: "numpy" (NEP 50), "all", "safe" or "strict".

        Args:
            mode: "numpy" is NumPy 2's rule; "all" is JAX's lattice; "safe" is that lattice
                without promotions that lose bits; "strict" refuses mixed dtypes.
            prefer_float32: Python floats become float32 instead of float64.

        Raises:
            ValueError: an unknown mode.
        """
        return self(promotion=mode, prefer_float32=prefer_float32)


def _checked(changes: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(changes) - set(Settings.__slots__))
    if unknown:
        raise ValueError(
            f"config: unknown switch {unknown[0]!r}; known: {list(Settings.__slots__)}"
        )
    for name, value in changes.items():
        kind = type(getattr(Settings(), name))
        if not isinstance(value, kind) and not (kind is bool and value in (0, 1)):
            raise TypeError(f"{name}: expected {kind.__name__}, got {value!r}")
    if changes.get("num_threads", 0) < 0:
        raise ValueError(f"num_threads: expected 0 or more, got {changes['num_threads']}")
    mode = changes.get("promotion", "numpy")
    if mode not in PROMOTION_MODES:
        raise ValueError(f"promotion: expected one of {PROMOTION_MODES}, got {mode!r}")
    return changes


config = Config()
