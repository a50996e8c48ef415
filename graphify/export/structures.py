"""The structure of a signature's result as JSON, and flat names for its leaves.

    names = leaf_names(treedef)          # ["centroids", "labels"], or ["output_0"]
    again = treedef_from_json(treedef_to_json(treedef))

A SavedModel gives a flat dict of tensors; what they were inside of is written beside it.
"""

from __future__ import annotations

import importlib
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from graphify.errors import ExportError
from graphify.tree import LEAF, MAPPINGS, TreeDef

_BUILTIN: dict[str, type] = {kind.__name__: kind for kind in (list, tuple, *MAPPINGS)}
_FACTORIES: dict[str, Any] = {"list": list, "dict": dict, "int": int, "float": float, "set": set}
_KEYS = (str, int, float, bool, type(None))


def treedef_to_json(treedef: TreeDef) -> Any:
    """A tree definition as JSON.

    Raises:
        ExportError: a key JSON cannot hold, or a class that cannot be found again by its name.
    """
    if treedef.kind is None:
        return None
    children = [treedef_to_json(child) for child in treedef.children]
    for key in treedef.keys[1:] if treedef.kind is defaultdict else treedef.keys:
        if type(key) not in _KEYS:
            raise ExportError(f"output structure: expected keys of {_names(_KEYS)}, got {key!r}")
    return {"kind": _kind_name(treedef.kind), "keys": _keys(treedef), "children": children}


def treedef_from_json(data: Any) -> TreeDef:
    """The inverse of `treedef_to_json`.

    Raises:
        ExportError: a class of the user's cannot be imported here.
    """
    if data is None:
        return LEAF
    children = tuple(treedef_from_json(child) for child in data["children"])
    if data["kind"] == "defaultdict":
        factory = _FACTORIES[data["keys"][0]] if data["keys"][0] is not None else None
        return TreeDef(defaultdict, (factory, *data["keys"][1:]), children)
    return TreeDef(_kind(data["kind"]), tuple(data["keys"]), children)


def _keys(treedef: TreeDef) -> list[Any]:
    if treedef.kind is not defaultdict:
        return list(treedef.keys)
    factory, *keys = treedef.keys
    name = next((n for n, f in _FACTORIES.items() if f is factory), None)
    if factory is not None and name is None:
        raise ExportError(
            f"output structure: expected a defaultdict of {list(_FACTORIES)}, got {factory!r}"
        )
    return [name, *keys]


def _kind_name(kind: type) -> str:
    if kind is defaultdict:
        return "defaultdict"
    if _BUILTIN.get(kind.__name__) is kind:
        return kind.__name__
    name = f"{kind.__module__}:{kind.__qualname__}"
    if "<locals>" in name:
        raise ExportError(
            f"output structure: the class {kind.__qualname__} is local to a function, so no other "
            "process can find it",
            remedy="define it at the top level of a module, or return a dict",
        )
    return name


def _kind(name: str) -> type:
    if name in _BUILTIN:
        return _BUILTIN[name]
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for step in path.split("."):
            found = getattr(found, step)
    except (ImportError, AttributeError) as error:
        raise ExportError(
            f"output structure: the class {path} of {module} cannot be imported here ({error})",
            remedy="make the module importable, or read the flat results with tf.saved_model.load",
        ) from error
    kind: type = found
    return kind


def _names(kinds: Sequence[type]) -> str:
    return ", ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)


# --- names ----------------------------------------------------------------------------------------

_STEP = re.compile(r"\[(?P<key>'(?:[^'\\]|\\.)*'|[^\]]*)\]|\.(?P<field>\w+)")


def leaf_names(treedef: TreeDef) -> list[str]:
    """One name per leaf, all different: its path, `output_<i>` for positions at the top."""
    return unique([_leaf_name(path) for path in treedef.paths()])


def _leaf_name(path: str) -> str:
    steps = [(m["key"] or m["field"] or "").strip("'\"") for m in _STEP.finditer(path)]
    name = re.sub(r"\W+", "_", "_".join(steps), flags=re.ASCII).strip("_")
    if not name:
        return "output_0"
    return f"output_{name}" if name[0].isdigit() else name


def argument_names(names: Sequence[str]) -> list[str]:
    """Python identifiers for arguments, all different: `model['w']` becomes `model_w`."""
    plain = [re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "arg" for name in names]
    return unique([f"arg_{name}" if name[0].isdigit() else name for name in plain])


def unique(names: Sequence[str]) -> list[str]:
    """The names, later ones of a kind with a number behind them."""
    taken: list[str] = []
    for name in names:
        candidate, count = name, 0
        while candidate.lower() in (other.lower() for other in taken):
            count += 1
            candidate = f"{name}_{count}"
        taken.append(candidate)
    return taken
