"""The machine that code is made for: vector width, features, and the names LLVM knows it by.

    target = host()
    target.lanes(np.dtype(np.float32))     # 16 on a CPU with AVX-512

Everything that differs between CPUs is here, so that another machine is another description.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import llvmlite.binding as llvm

if TYPE_CHECKING:
    from graphify.engines.native.llvm import Type


@dataclass(frozen=True, slots=True)
class Target:
    """A CPU.

    Attributes:
        triple: LLVM's name of architecture, vendor and system.
        cpu: LLVM's name of the processor.
        features: LLVM's feature string, "+avx2,-avx512f,...".
        vector_bytes: width of a vector register.
        fma: whether multiply-add is one instruction (otherwise `llvm.fma` is a library call).
        masked: whether masked loads and stores are instructions.
    """

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    fma: bool
    masked: bool

    def lanes(self, type: Type) -> int:
        """How many scalars of a type fill one vector register."""
        return max(1, self.vector_bytes // type.bytes)

    def has(self, feature: str) -> bool:
        """Whether the CPU has a feature, by LLVM's name of it: "avx512vl"."""
        return f"+{feature}" in self.features.split(",")

    @property
    def key(self) -> str:
        """What code made for this machine depends on."""
        return f"{self.triple}|{self.cpu}|{self.features}|{self.vector_bytes}"


def describe(triple: str, cpu: str, features: str) -> Target:
    """The description of a CPU from its feature string."""
    on = {f[1:] for f in features.split(",") if f.startswith("+")}
    arm = triple.startswith(("aarch64", "arm64"))
    if "avx512f" in on and {"avx512vl", "avx512bw", "avx512dq"} <= on:
        width = 64
    elif "avx2" in on:
        width = 32
    else:
        width = 16  # SSE2, NEON
    return Target(triple, cpu, features, width, "fma" in on or arm, "avx2" in on or width == 64)


@functools.cache
def host() -> Target:
    """The machine this process runs on."""
    features = llvm.get_host_cpu_features()
    text = features.flatten() if features else ""
    return describe(llvm.get_process_triple(), llvm.get_host_cpu_name(), text)
