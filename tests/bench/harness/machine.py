"""The machine and the versions of what is measured, in words."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from pathlib import Path

PACKAGES = (
    ("NumPy", "numpy"),
    ("SciPy", "scipy"),
    ("llvmlite", "llvmlite"),
    ("Numba", "numba"),
    ("numexpr", "numexpr"),
    ("JAX", "jax"),
    ("TensorFlow", "tensorflow"),
    ("PyTorch", "torch"),
)


def describe() -> dict[str, str]:
    """Processor, memory, system, versions, day."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found = {
        "Processor": f"{processor()}, {cpus} CPUs",
        "Memory": f"{memory_gib():.0f} GiB",
        "System": f"{platform.system()} {platform.machine()}, {platform.python_implementation()} "
        f"{platform.python_version()}",
        "Other work": f"load of {os.getloadavg()[0]:.1f} before the run",
        "Day": datetime.date.today().isoformat(),
    }
    for name, package in PACKAGES:
        try:
            found[name] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def processor() -> str:
    """The processor's name."""
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
