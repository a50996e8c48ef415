"""SavedModels: write functions and modules for stock TensorFlow, and read them back.

    save(model, "path", signatures={"predict": model.predict}, examples={"predict": [(x,)]})
    again = load("path")
    again.predict(x)

What is written runs wherever TensorFlow runs, without graphify. Each signature is a flat dict of
tensors; how they make up the result is written beside the model, in `assets.extra/graphify.json`,
where `load` finds it. Variables that functions read or change become `tf.Variable`s, so state is
kept across calls. Other arrays from outside become constants, with the values they have now.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from graphify.engines.tensorflow.importing import tensorflow
from graphify.errors import ExportError, LoweringError
from graphify.export.check import check_examples
from graphify.export.loaded import Loaded
from graphify.export.module import build
from graphify.export.signature import Signature, signatures_of

METADATA = Path("assets.extra") / "graphify.json"


def save(
    obj: Any,
    path: str | os.PathLike[str],
    signatures: Any = None,
    examples: Any = None,
) -> None:
    """Write a function or a module as a SavedModel.

    Args:
        obj: a `graphify.function`, one of its concrete functions, or an object (such as a
            `graphify.Module`) that has some.
        path: the folder to write. A SavedModel that is there is replaced.
        signatures: a function, or a dict of name to function; all of the object's if None. A single
            one, or the object's `__call__`, gets the name "serving_default".
        examples: inputs to run through the written model: a list of argument tuples, or a dict of
            signature name to such a list. The results must equal graphify's own. They also say how
            to trace a function that was not called yet.

    Raises:
        ExportError: something that a SavedModel cannot hold; an example gives another result; the
            path is taken by something else.
        TypeError: a signature is no graphify function, or examples are no list or dict.
        ValueError: no signatures, or examples for a signature that there is not.
        LoweringError: TensorFlow is not installed.

    Example:
        >>> save(predict, "model", examples=[(x,)])  # doctest: +SKIP
    """
    tf = tensorflow("graphify.saved_model.save")
    target = _folder("save", path)
    _check_target(target)
    chosen = signatures_of(obj, signatures, examples)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Written beside the target and moved there once it is known to be right.
    folder = Path(tempfile.mkdtemp(prefix=target.name + ".", dir=target.parent))
    try:
        _write(tf, obj, folder, chosen)
        check_examples(folder, chosen, examples)
        if target.exists():
            shutil.rmtree(target)
        folder.chmod(0o755)
        folder.rename(target)
    except LoweringError as error:
        raise ExportError(error.message, location=error.location, remedy=error.remedy) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def load(path: str | os.PathLike[str]) -> Loaded:
    """Read a SavedModel back.

    Returns:
        An object with a callable for each signature, as attribute and in `signatures`; they run on
        TensorFlow and give graphify tensors in the structure of the original function's result.
        Calling the object calls "serving_default". State belongs to the loaded object.

    Raises:
        FileNotFoundError: there is no SavedModel.
        ExportError: its result structure needs a class that cannot be imported here, or is damaged.
        LoweringError: TensorFlow is not installed.
    """
    tensorflow("graphify.saved_model.load")
    folder = _folder("load", path)
    if not (folder / "saved_model.pb").exists():
        raise FileNotFoundError(
            f"load: argument 'path': expected a SavedModel, got {str(folder)!r}"
        )
    metadata = folder / METADATA
    try:
        data = json.loads(metadata.read_text()) if metadata.exists() else None
    except ValueError as error:
        raise ExportError(f"load: {str(metadata)!r} is damaged: {error}") from error
    return Loaded(folder, data)


def _folder(what: str, path: Any) -> Path:
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise TypeError(f"{what}: argument 'path': expected the path of a folder, got {path!r:.80}")
    return Path(path)


def _write(tf: Any, obj: Any, folder: Path, signatures: dict[str, Signature]) -> None:
    module, functions = build(tf, obj, signatures)
    tf.saved_model.save(module, str(folder), signatures=functions)
    data = {"version": 1, "signatures": {n: s.to_json() for n, s in signatures.items()}}
    (folder / METADATA).parent.mkdir(exist_ok=True)
    (folder / METADATA).write_text(json.dumps(data, indent=1))


def _check_target(target: Path) -> None:
    if not target.exists() or (target / "saved_model.pb").exists():
        return
    if target.is_dir() and not any(target.iterdir()):
        return
    raise ExportError(
        f"save: argument 'path': {str(target)!r} exists and is no SavedModel, so it is not replaced"
    )
