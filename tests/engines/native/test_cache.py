"""The disk cache: found again, never believed when damaged, bounded, shared by processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphify.config import config
from graphify.engines.native import cache, jit

ROOT = Path(__file__).parents[3]
TEXT = "define i64 @f(i64 %x) nounwind {\n  %y = add i64 %x, 1\n  ret i64 %y\n}\n"
KEY = cache.key("text", "light")


@pytest.fixture
def where(tmp_path):
    with config(cache=True, cache_dir=str(tmp_path)):
        yield tmp_path / "objects"


def entries(where: Path) -> list[Path]:
    return sorted(where.iterdir())


def test_an_image_is_found_again(where):
    assert cache.load(KEY) is None
    cache.store(KEY, b"image")
    assert cache.load(KEY) == b"image"
    assert cache.load(cache.key("text", "none")) is None


def test_a_second_compilation_is_loaded(where):
    first, second = (jit.compile(TEXT, ["f"]) for _ in range(2))
    assert (first.cached, second.cached) == (False, True)
    assert not jit.compile(TEXT, ["f"], opt="none").cached
    assert not jit.compile(TEXT.replace("1", "2"), ["f"]).cached


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[:10],
        lambda data: b"",
        lambda data: data + b"x",
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: b"another format!!" + data[16:],
        lambda data: data[:16] + bytes(32) + data[48:],
    ],
    ids=["short", "headless", "empty", "long", "flipped", "foreign", "another key"],
)
def test_a_damaged_entry_is_replaced(where, damage, capsys):
    jit.compile(TEXT, ["f"])
    [path] = entries(where)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    with config(debug=1):
        assert not jit.compile(TEXT, ["f"]).cached
    assert "damaged cache entry" in capsys.readouterr().err
    assert path.read_bytes()[:16] == whole[:16]
    assert jit.compile(TEXT, ["f"]).cached


def test_no_cache_when_switched_off(tmp_path):
    with config(cache=False, cache_dir=str(tmp_path)):
        assert cache.directory() is None
        cache.store(KEY, b"image")
        assert cache.load(KEY) is None
    assert not list(tmp_path.iterdir())


def test_a_directory_that_cannot_be_made_is_no_cache(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    with config(cache_dir=str(tmp_path / "file"), debug=1):
        cache.store(KEY, b"image")
        cache.store(KEY, b"image")
        assert cache.load(KEY) is None
        assert not jit.compile(TEXT, ["f"]).cached
    assert capsys.readouterr().err.count("no cache of native code") == 1


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX systems")
def test_a_directory_that_others_may_write_is_no_cache(tmp_path):
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects").chmod(0o777)
    with config(cache_dir=str(tmp_path)):
        assert cache.directory() is None


def test_the_least_recently_used_go_first(where):
    keys = [cache.key(str(n), "light") for n in range(8)]
    for age, key in enumerate(keys):
        cache.store(key, bytes(1000))
        path = cache._entry(where, key)
        os.utime(path, (1e9 + age, 1e9 + age))
    cache.load(keys[0])  # used just now
    cache.sweep(where, most_entries=7)
    assert [key for key in keys if cache.load(key)] == [keys[0], *keys[4:]]
    cache.sweep(where, most_bytes=2 * 1200)
    assert len(entries(where)) == 1


def test_two_processes_may_race(where):
    program = f"""
from graphify.engines.native import jit
import ctypes
for k in range(40):
    code = jit.compile({TEXT!r}.replace("1", str(k)), ["f"])
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.address("f"))(2) == 2 + k
"""
    environment = {**os.environ, "GRAPHIFY_CACHE_DIR": str(where.parent)}
    command = [sys.executable, "-c", program]
    running = [subprocess.Popen(command, env=environment, cwd=ROOT) for _ in range(3)]
    assert [process.wait(120) for process in running] == [0, 0, 0]
    assert len(entries(where)) == 40
    assert all(path.suffix == cache._SUFFIX for path in entries(where))
