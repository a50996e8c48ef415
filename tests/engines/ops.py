"""The registry's ops that have samples, and their samples as arrays."""

import importlib
import pkgutil
from typing import Any

import numpy as np

import graphify.ops
from graphify.ir.op import REGISTRY, Op

for module in pkgutil.iter_modules(graphify.ops.__path__):
    importlib.import_module(f"graphify.ops.{module.name}")

SAMPLED = sorted(name for name, op in REGISTRY.items() if op.sample is not None)


def samples(op: Op) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """An op's samples: (arrays, attrs)."""
    cases = op.sample() if callable(op.sample) else (op.sample or [])
    return [(tuple(np.asarray(a) for a in arrays), dict(attrs)) for arrays, attrs in cases]
