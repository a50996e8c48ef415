"""A SavedModel read back: callables that take arrays and give tensors in the original structure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from graphify.engines.tensorflow.failures import translate
from graphify.engines.tensorflow.importing import tensorflow
from graphify.export.structures import treedef_from_json
from graphify.ir.tensor import Tensor
from graphify.tree import TreeDef


class LoadedFunction:
    """One signature of a loaded model.

    Args:
        run: TensorFlow's function of keyword tensors to a dict of tensors.
        data: what `Signature.to_json` wrote; None for a model that graphify did not write.
    """

    def __init__(self, name: str, run: Any, data: dict[str, Any] | None) -> None:
        self.name, self._run = name, run
        specs = run.structured_input_signature[1]
        self.inputs = [item["name"] for item in data["inputs"]] if data else list(specs)
        self._specs = specs
        self._leaves = data["outputs"] if data else None
        self._structure: TreeDef | None = treedef_from_json(data["structure"]) if data else None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run on arrays or numbers, by position or by name.

        Raises:
            TypeError: a wrong number of arguments, an unknown name, or a wrong dtype.
            ValueError: a wrong shape.
        """
        tf = tensorflow("a loaded model")
        given = self._bind(args, kwargs)
        tensors = {n: tf.constant(self._array(n, value)) for n, value in given.items()}
        try:
            results = self._run(**tensors)
        except tf.errors.OpError as error:
            failure = translate(error, None)
            raise failure from None
        arrays = {name: tensor.numpy() for name, tensor in results.items()}
        if self._structure is None or self._leaves is None:
            return {name: Tensor(np.asarray(array)) for name, array in arrays.items()}
        return self._structure.unflatten([_leaf(item, arrays) for item in self._leaves])

    def _bind(self, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
        if len(args) > len(self.inputs):
            raise TypeError(f"{self.name}: expected {len(self.inputs)} arguments, got {len(args)}")
        given = dict(zip(self.inputs, args, strict=False))
        for name, value in kwargs.items():
            if name not in self.inputs or name in given:
                raise TypeError(f"{self.name}: expected arguments {self.inputs}, got {name!r}")
            given[name] = value
        missing = [name for name in self.inputs if name not in given]
        if missing:
            raise TypeError(
                f"{self.name}: expected arguments {self.inputs}, {missing[0]!r} is missing"
            )
        return given

    def _array(self, name: str, value: Any) -> Any:
        spec = self._specs[name]
        dtype = np.dtype(spec.dtype.as_numpy_dtype)
        if isinstance(value, (bool, int, float, complex, list, tuple)):
            array = np.asarray(value, dtype)
        else:
            array = np.asarray(value)
        if array.dtype != dtype:
            raise TypeError(
                f"{self.name}: argument {name!r}: expected dtype {dtype}, got {array.dtype}"
            )
        if not spec.shape.is_compatible_with(array.shape):
            raise ValueError(
                f"{self.name}: argument {name!r}: expected shape {spec.shape}, got {array.shape}"
            )
        return array

    def __repr__(self) -> str:
        return f"<loaded function {self.name}({', '.join(self.inputs)})>"


def _leaf(item: dict[str, Any], arrays: dict[str, Any]) -> Any:
    if item["index"] is None:
        static = item["static"]
        return complex(*static["complex"]) if isinstance(static, dict) else static
    array = np.asarray(arrays[item["name"]])
    return array.item() if item["weak"] else Tensor(array)


class Loaded:
    """A loaded SavedModel: one callable per signature, and the model's variables.

    Attributes:
        signatures: the callables by name; each is an attribute, too.
    """

    def __init__(self, folder: Path, metadata: dict[str, Any] | None) -> None:
        tf = tensorflow("graphify.saved_model.load")
        self._model = tf.saved_model.load(str(folder))
        known = metadata["signatures"] if metadata else {}
        self.signatures: dict[str, Callable[..., Any]] = {
            name: LoadedFunction(name, run, known.get(name))
            for name, run in self._model.signatures.items()
        }

    def __getattr__(self, name: str) -> Any:
        signatures = self.__dict__.get("signatures", {})
        if name in signatures:
            return signatures[name]
        raise AttributeError(
            f"the loaded model has no signature {name!r}; it has {sorted(signatures)}"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the signature "serving_default"."""
        return self.__getattr__("serving_default")(*args, **kwargs)

    @property
    def variables(self) -> dict[str, np.ndarray[Any, Any]]:
        """The values of the model's variables now, by name."""
        variables = getattr(self._model, "graphify_variables", {})
        return {name: np.asarray(variable.numpy()) for name, variable in variables.items()}

    def __repr__(self) -> str:
        return f"<loaded model with signatures {sorted(self.signatures)}>"
