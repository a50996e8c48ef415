"""Devices: what there is, and placing work on them.

The native and reference engines run on "/device:CPU:0". Where TensorFlow is installed and sees
GPUs, the tensorflow engine can run on those.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from graphify.config import Config

_PATTERN = re.compile(
    r"^(?:/job:\w+/replica:\d+/task:\d+)?/?(?:device:)?(CPU|GPU):(\d+)$", re.IGNORECASE
)
_current: ContextVar[str] = ContextVar("graphify_device", default="/device:CPU:0")


@dataclass(frozen=True, slots=True)
class PhysicalDevice:
    """A device of this machine: name "/physical_device:CPU:0", type "CPU"."""

    name: str
    device_type: str


@dataclass(frozen=True, slots=True)
class LogicalDevice:
    """A device that work can be placed on: name "/device:CPU:0", type "CPU"."""

    name: str
    device_type: str


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine, of one type if given."""
    devices = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
    return [d for d in devices if device_type in (None, d.device_type)]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that `graphify.device` takes, of one type if given."""
    devices = [LogicalDevice("/device:CPU:0", "CPU")]
    return [d for d in devices if device_type in (None, d.device_type)]


@contextlib.contextmanager
def device(name: str) -> Iterator[None]:
    """Place the operations of a block on a device.

    Args:
        name: "/device:CPU:0" or "CPU:0".

    Raises:
        ValueError: no such device.

    Example:
        >>> with device("/device:CPU:0"):
        ...     pass
    """
    match = _PATTERN.match(name)
    known = [d.name for d in list_logical_devices()]
    canonical = f"/device:{match.group(1).upper()}:{match.group(2)}" if match else name
    if canonical not in known:
        raise ValueError(f"device: argument 'name': expected one of {known}, got {name!r}")
    token = _current.set(canonical)
    try:
        yield
    finally:
        _current.reset(token)


# TensorFlow keeps these two under `config`, so do we; the config itself lies below the devices.
Config.list_physical_devices = staticmethod(list_physical_devices)
Config.list_logical_devices = staticmethod(list_logical_devices)
