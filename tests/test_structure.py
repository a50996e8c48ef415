"""The shape of the package: its layers, its public names, its documentation, its import.

Nothing here is about behaviour. A failure says which file crossed which line, or what is
undocumented; the answer is to move or to document the code, seldom to edit a table below.
"""

import ast
import dataclasses
import functools
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "graphify"
DOCS = PROJECT / "docs"

# A module may import from lower rows and from its own room (the package or file named here), and
# from nothing else in graphify.
LAYERS = {
    1: ["collecting", "errors", "config", "location", "tree"],
    2: ["ir", "syntax"],
    3: ["ops"],
    4: ["transforms", "optimise", "tracing"],
    5: ["autograph", "numpy", "nn", "engines"],
    6: ["api", "export"],
    # Thin modules that only give public names to what lies below.
    7: ["random", "debugging"],
    # TensorFlow's names for all of that.
    8: ["tensorflow"],
    # The package itself: `graphify/__init__.py`.
    9: [""],
}

# (room, room it imports although the table says no) -> why that is right.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("autograph", "numpy"): "operators give Python's builtins on tensors NumPy's meaning",
}

# Only these may import TensorFlow, and only inside functions.
TENSORFLOW_ROOMS = ("engines/tensorflow/", "export/")

# Seconds that `import graphify` may take, NumPy's own import included. A machine that runs other
# tests at the same time gets more.
IMPORT_SECONDS = 0.25
BUSY_MACHINE = 3.0 if os.environ.get("CI") or os.environ.get("PYTEST_XDIST_WORKER") else 1.5

FILES = sorted(path for path in PACKAGE.rglob("*.py"))
ROW = {room: row for row, rooms in LAYERS.items() for room in rooms}


def module_of(path: Path) -> tuple[str, ...]:
    """The dotted name below graphify, as parts: ops/shape.py -> ("ops", "shape")."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


MODULES = {module_of(path) for path in FILES}


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of every import in a file, wherever it stands.

    `from graphify import ir` counts as `graphify.ir`; so does `from .. import ir` one level down.
    """
    package = ("graphify", *module_of(path))
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            source = ".".join(part for part in (base, node.module) if part)
            below = tuple(source.split(".")[1:])
            for alias in node.names:
                is_module = source.startswith("graphify") and (*below, alias.name) in MODULES
                yield node.lineno, f"{source}.{alias.name}" if is_module else source


def room_of(module: tuple[str, ...]) -> str:
    return module[0] if module else ""


def may_import(importer: str, target: str) -> bool:
    """Whether a file of one room may import a file of another."""
    if importer == target or (importer, target) in EXCEPTIONS:
        return True
    return ROW[target] < ROW[importer]


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def test_every_file_has_a_row():
    rooms = {room_of(module_of(path)) for path in FILES}
    assert sorted(rooms - set(ROW)) == [], "name the room in LAYERS"


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_files_import_from_lower_rows_only(path):
    here = room_of(module_of(path))
    wrong = []
    for line, name in imported(path):
        parts = tuple(name.split("."))
        if parts[0] != "graphify":
            continue
        target = room_of(parts[1:])
        if target not in ROW:  # a name of graphify/__init__.py, not a module
            target = ""
        if not may_import(here, target):
            wrong.append(f"{relative(path)}:{line} imports {name}")
    assert wrong == []


def test_exceptions_are_all_needed():
    used = {
        (room_of(module_of(path)), name.split(".")[1])
        for path in FILES
        for _, name in imported(path)
        if name.startswith("graphify.")
    }
    assert sorted(set(EXCEPTIONS) - used) == [], "an exception nobody uses: remove it"


def top_level_imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run when the module is imported: outside functions and `if TYPE_CHECKING:`."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting.extend(node.orelse)
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        waiting.extend(ast.iter_child_nodes(node))


def names_tensorflow(node: ast.Import | ast.ImportFrom) -> bool:
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    absolute = not getattr(node, "level", 0)
    return absolute and any(name.split(".")[0] == "tensorflow" for name in names)


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_tensorflow_is_imported_lazily_and_in_its_rooms(path):
    tree = tree_of(path)
    at_import = [node.lineno for node in top_level_imports(tree) if names_tensorflow(node)]
    assert at_import == [], f"{relative(path)} imports TensorFlow outside functions"
    if not relative(path).startswith(TENSORFLOW_ROOMS):
        anywhere = [
            node.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom) and names_tensorflow(node)
        ]
        assert anywhere == [], f"only {TENSORFLOW_ROOMS} import TensorFlow"


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_modules_say_what_they_are_for(path):
    tree = tree_of(path)
    assert not tree.body or ast.get_docstring(tree), f"{relative(path)} opens without a docstring"


def test_no_star_imports():
    stars = [
        f"{relative(path)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
    ]
    assert stars == []


def run(
    program: str, *flags: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a program in a Python of its own, which other tests have not touched."""
    return subprocess.run(
        [sys.executable, *flags, "-c", program],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )


def test_all_is_sorted_and_complete():
    program = """
import types, graphify
print(*graphify.__all__)
print(*[n for n in dir(graphify) if not n.startswith("_")
        and (n in graphify.__all__ or not isinstance(getattr(graphify, n), types.ModuleType))])
for name in graphify.__all__: getattr(graphify, name)
"""
    declared, importable = (line.split() for line in run(program).stdout.splitlines())
    assert declared == sorted(declared), "__all__ is not sorted"
    assert sorted(set(importable) - {"annotations"}) == declared


def test_import_leaves_the_heavy_libraries_alone():
    found = "{name.split('.')[0] for name, module in sys.modules.items() if module is not None}"
    program = f"import sys, graphify; print(*{found})"
    loaded = set(run(program).stdout.split())
    heavy = {"tensorflow", "scipy", "llvmlite", "sklearn", "matplotlib", "IPython"}
    assert sorted(loaded & heavy) == []


def import_seconds(environment: dict[str, str]) -> float:
    """What `import graphify` takes, as -X importtime counts it."""
    report = run("import graphify", "-X", "importtime", environment=environment).stderr
    [line] = [line for line in report.splitlines() if line.split("|")[-1].strip() == "graphify"]
    return int(line.split("|")[1]) / 1e6


def test_import_is_quick(tmp_path):
    limit = IMPORT_SECONDS * BUSY_MACHINE
    # Compiled once, as on a user's machine, also where the environment forbids to keep bytecode.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    run("import graphify", environment=environment)
    # The least of several, but no more of them than needed: other programs only ever add time.
    best = min_until(lambda: import_seconds(environment), limit, tries=7)
    assert best < limit


def min_until(measure, limit: float, tries: int) -> float:
    """The least of up to `tries` measurements, stopping at the first one below `limit`."""
    best = float("inf")
    for _ in range(tries):
        best = min(best, measure())
        if best < limit:
            break
    return best


def documented(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def test_every_switch_is_documented():
    from graphify.config import Settings

    page = documented("switches.md")
    missing = [
        field.name
        for field in dataclasses.fields(Settings)
        if f"`{field.name}`" not in page or f"`GRAPHIFY_{field.name.upper()}`" not in page
    ]
    assert missing == []


def test_every_error_is_documented():
    from graphify import errors

    headings = re.findall(r"^## (\w+)", documented("errors.md"), re.MULTILINE)
    classes = [
        name
        for name, value in inspect.getmembers(errors, inspect.isclass)
        if issubclass(value, errors.GraphifyError) and value.__module__ == errors.__name__
    ]
    assert sorted(headings) == sorted(classes)


def test_every_op_is_documented():
    import graphify  # noqa: F401  # fills the registry
    from graphify.ir.op import REGISTRY

    missing = sorted(name for name, op in REGISTRY.items() if not op.doc.strip())
    assert missing == [], "give these ops their one-line doc= (docs/ops.md is made of them)"
