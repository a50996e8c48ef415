"""Object files of earlier compilations, on disk, shared by all processes of a user.

    key = cache.key(text, "light")
    image = cache.load(key)               # None: not there
    cache.store(key, image)

An entry is a file named by the hash of all that its contents depend on. It is written under another
name and renamed, so that a reader finds it whole or not at all; it carries a checksum, so that one
that was damaged is not used. Nothing here fails: a cache that cannot be read or written is none.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import struct
import sys
import sysconfig
import tempfile
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from graphify.config import config
from graphify.engines.native.target import host

VERSION = 1  # of the form of entries, and of what compilation does beyond the text
MOST_BYTES = 256 << 20
MOST_ENTRIES = 8192

_SUFFIX = ".graphify-object"
_MAGIC = b"graphify object\n"
_HEADER = struct.Struct("<16s32s32sQ")  # magic, key, checksum of the image, its length
_STORES_PER_SWEEP = 64
_COMMENTS = re.compile(r"^ *;.*\n", re.MULTILINE)


@functools.cache
def _environment() -> str:
    """What a compilation depends on besides its text."""
    versions = [
        f"cache {VERSION}",
        f"llvmlite {llvmlite.__version__}",
        f"LLVM {'.'.join(map(str, llvm.llvm_version_info))}",
        f"Python {sys.implementation.cache_tag} {sysconfig.get_config_var('SOABI')}",
        f"NumPy {np.__version__}",
        host().key,
    ]
    return "\n".join(versions)


def key(text: str, level: str) -> bytes:
    """The name of an entry: a hash of the text, how it is compiled, and for which machine.

    Comments do not count: they name lines of the user's file, which move when it is edited.
    """
    code = _COMMENTS.sub("", text)
    return hashlib.sha256(f"{_environment()}\n{level}\n{code}".encode()).digest()


def directory() -> Path | None:
    """Where entries are, or None if there is no cache."""
    if not config.cache:
        return None
    return _usable(config.cache_dir or _default_directory())


@functools.cache
def _default_directory() -> str:
    import platformdirs

    return platformdirs.user_cache_dir("graphify")


@functools.cache
def _usable(root: str) -> Path | None:
    """The directory of entries, made if need be; None if it is not ours alone to write."""
    path = Path(root).expanduser() / "objects"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
        found = path.stat()
    except OSError as error:
        config.log(1, f"graphify: no cache of native code: {error}")
        return None
    # Entries are run as they are: nobody else may put one there.
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o022):
        config.log(1, f"graphify: no cache of native code: others may write to {path}")
        return None
    return path


def _entry(where: Path, name: bytes) -> Path:
    return where / (name.hex() + _SUFFIX)


def load(name: bytes) -> bytes | None:
    """The image stored under a key, or None."""
    where = directory()
    if where is None:
        return None
    path = _entry(where, name)
    try:
        data = path.read_bytes()
    except OSError:
        return None
    image = _opened(data, name)
    if image is None:
        config.log(1, f"graphify: damaged cache entry {path}")
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # the time of last use: what eviction goes by
    return image


def _opened(data: bytes, name: bytes) -> bytes | None:
    """The image of an entry, if it is whole and has this key."""
    if len(data) < _HEADER.size:
        return None
    magic, found, checksum, length = _HEADER.unpack_from(data)
    image = data[_HEADER.size :]
    if (magic, found, length) != (_MAGIC, name, len(image)):
        return None
    return image if hashlib.sha256(image).digest() == checksum else None


def store(name: bytes, image: bytes) -> None:
    """Keep an image under a key."""
    where = directory()
    if where is None:
        return
    header = _HEADER.pack(_MAGIC, name, hashlib.sha256(image).digest(), len(image))
    try:
        handle, temporary = tempfile.mkstemp(dir=where, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(header + image)
            os.replace(temporary, _entry(where, name))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        config.log(1, f"graphify: native code not cached: {error}")
        return
    _sweep_now_and_then(where)


_stores = 0


def _sweep_now_and_then(where: Path) -> None:
    global _stores
    if _stores % _STORES_PER_SWEEP == 0:  # also at a process's first: many short ones add up
        sweep(where)
    _stores += 1


def sweep(where: Path, most_bytes: int = MOST_BYTES, most_entries: int = MOST_ENTRIES) -> None:
    """Remove the entries used longest ago, down to three quarters of the bounds once passed."""
    entries = []
    with contextlib.suppress(OSError), os.scandir(where) as listing:
        for item in listing:
            with contextlib.suppress(OSError):  # another process may have removed it
                found = item.stat(follow_symlinks=False)
                entries.append((found.st_mtime, found.st_size, item.path))
    total, count = sum(size for _, size, _ in entries), len(entries)
    if total <= most_bytes and count <= most_entries:
        return
    for _, size, path in sorted(entries):
        if total <= most_bytes * 3 // 4 and count <= most_entries * 3 // 4:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
            total, count = total - size, count - 1
