"""What the native engine says of a function: loops, code, kernels, times."""

from fractions import Fraction

import numpy as np
import pytest

import graphify
from graphify.config import config
from graphify.engines.native.engine import loops
from graphify.engines.native.inspection import machine
from graphify.engines.native.inspection.amounts import Amount, short, smaller
from graphify.engines.native.inspection.tables import table
from graphify.engines.native.loops import passes
from graphify.engines.native.loops.program import For, Var
from graphify.engines.native.loops.walk import map_blocks
from graphify.errors import LoweringError, PassError

F32, F64 = np.float32, np.float64
N, M = (None,), (None, None)


def concrete(function, *specs):
    given = [graphify.TensorSpec(shape, dtype) for shape, dtype in specs]
    return graphify.function(function, engine="native").get_concrete_function(*given)


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def lu(a):
    a = a.copy()
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def newton(c):
    x = c
    while abs(x * x - c) > 1e-9:
        x = (x + c / x) / 2
    return x


def shown_and_sorted(x):
    y = np.sort_complex(x * 1j)
    graphify.print("largest", y.max())
    return y


# --- amounts --------------------------------------------------------------------------------------


def test_sums_over_loops_are_exact():
    n, k = Amount.of("n"), Amount.of("k")
    triangle = (n - k) * (n - k)
    assert str(triangle.summed("k", n)) == "n**3/3 + n**2/2 + n/6"
    for size in range(6):
        total = triangle.summed("k", n).value({"n": size}.get)
        assert total == pytest.approx(sum((size - turn) ** 2 for turn in range(size)))


def test_amounts_as_text():
    n, m = Amount.of("n"), Amount.of("m")
    assert str(4 * n * m * m + n * Fraction(1, 2) - 3) == "4*m**2*n + n/2 - 3"
    assert str(n - n) == "0"
    assert (n - n + 3).number == 3 and n.number is None
    assert smaller(n * n, n * 100) == n * 100
    assert n.value({}.get) is None


def test_short_numbers():
    assert [short(v, "B") for v in (0, 999, 1.05e6, 2.13e-6)] == [
        "0 B",
        "999 B",
        "1.05 MB",
        "2.13 uB",
    ]


def test_tables_line_up():
    text = table(["name", "size"], [["x", "10"], ["longer", "5"]], right={1})
    assert text == "name    size\nx         10\nlonger     5"


# --- reports --------------------------------------------------------------------------------------


def test_softmax_is_one_kernel():
    report = concrete(softmax, (M, F32)).report().engine
    [kernel] = report.kernels
    assert kernel.parallel and kernel.vector
    assert [place.text[:8] for place in kernel.lines] == ["e = np.e", "return e"]
    assert kernel.ops == ("maximum", "subtract", "exp", "add", "divide")
    assert str(kernel.bytes) == "8*m*n"
    assert [(b.kind, b.type, str(b.bytes)) for b in report.buffers] == [
        ("argument", "f32[n, m]", "4*m*n"),
        ("result", "f32[n, m]", "4*m*n"),
    ]
    assert report.in_python == ()
    assert "Python runs nothing." in str(report)


def test_work_of_triangular_loops_is_exact():
    report = concrete(lu, (M, F64)).report().engine
    assert str(report.kernels[-1].flops).startswith("2*n**3/3 ")


def test_unknown_numbers_of_turns_are_said_to_be_unknown():
    [kernel] = concrete(newton, ((), F64)).report().engine.kernels
    assert kernel.head == "while" and str(kernel.flops).endswith("*turns")


def test_what_python_runs_is_listed():
    report = concrete(shown_and_sorted, (N, F64)).report().engine
    assert "print" in [each.op for each in report.in_python]
    assert "Python runs, called from compiled code:" in str(report)


def test_functions_of_the_library_are_called_by_their_names():
    def signals(x, w):
        return np.sort(graphify.nn.conv1d(x, w).mean(axis=1), axis=1)

    shapes = ((4, None, 3), F32), ((5, 3, 8), F32)
    kernels = concrete(signals, *shapes).report().engine.kernels
    heads = {kernel.head: kernel for kernel in kernels}
    assert str(heads["convolution"].flops) == "960*n - 3840"  # 2 * 4 * (n - 4) * 5 * 3 * 8
    assert "graphify_sort_float32" in heads


def test_the_report_follows_the_optimisers():
    report = concrete(softmax, (M, F32)).graph.report()
    optimiser, _, engine = str(report).partition("\n\n")
    assert optimiser.startswith("nodes: 5 -> 5")
    assert engine.startswith("native engine: softmax, 1 kernel\n")


def test_other_engines_have_nothing_to_tell():
    function = graphify.function(softmax, engine="reference")
    traced = function.get_concrete_function(np.ones((2, 2)))
    assert traced.report().engine is None
    with pytest.raises(LoweringError, match="lower: softmax runs on the engine 'reference'"):
        traced.lower()
    with pytest.raises(LoweringError, match="profile: softmax runs on the engine 'reference'"):
        traced.profile(np.ones((2, 2)))


# --- lowered --------------------------------------------------------------------------------------


def test_lowered_shows_all_levels():
    lowered = concrete(softmax, (M, F32)).lower()
    assert str(lowered) == lowered.text and lowered.program.name == "softmax"
    assert ".py:" in lowered.text.splitlines()[0] and "np.exp(x - np.max" in lowered.text
    assert "vector for" in lowered.text
    assert "define i32 @run(" in lowered.llvm_ir and "ret" in lowered.asm
    assert repr(lowered).startswith("<softmax as loops, ")
    assert lowered._repr_mimebundle_()["text/plain"] == lowered.text


def test_debug_prints_loops_and_code(capsys):
    with config(debug=5):
        concrete(newton, ((), F64)).lower()
    printed = capsys.readouterr().err
    for part in ("loops", "LLVM IR", "assembly"):
        text = printed.partition(f"--- {part} of newton ---")[2].partition("\n--- ")[0]
        assert "while abs(x * x - c) > 1e-9:" in text, part


def test_dump_writes_the_loops(tmp_path):
    with config(dump=str(tmp_path)):
        concrete(newton, ((), F64)).lower()
    assert "def newton(c: f64[])" in (tmp_path / "newton.loops.txt").read_text()


# --- profiles -------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def quick_measurement():
    """The limits of this machine, measured in no time."""
    patch = pytest.MonkeyPatch()
    patch.setattr(machine, "SECONDS", 0.001)
    patch.setattr(machine, "_VERSION", "test")
    machine._measured.cache_clear()
    yield
    machine._measured.cache_clear()
    patch.undo()


def test_a_profile_times_each_kernel(rng):
    x = rng.random((64, 50), F32)
    profile = concrete(softmax, (M, F32)).profile(x, repeat=7)
    assert profile.runs == 7
    [each] = profile.kernels
    assert 0 < each.least <= each.seconds
    assert each.bytes == 2 * x.nbytes
    assert each.limit > 0 and each.share == pytest.approx(each.limit / each.seconds)
    text = str(profile)
    assert text.startswith("softmax: ") and "median of 7 runs" in text
    assert "e = np.exp(x - np.max" in text and "this machine, " in text


def test_unknown_work_has_no_limit():
    [each] = concrete(newton, ((), F64)).profile(np.array(2.0), repeat=3).kernels
    assert each.seconds > 0 and each.flops is None and each.limit is None
    assert each.share is None


def test_a_profile_changes_nothing(capfd):
    total = np.zeros(3)

    def add(x):
        total[:] += x
        graphify.print("added")

    one = concrete(add, (N, F64))
    one.profile(np.ones(3))
    assert total.tolist() == [0, 0, 0]
    assert capfd.readouterr().out.splitlines().count("added") == 1  # effects: one run


def test_a_profile_refuses_what_does_not_fit():
    with pytest.raises(TypeError, match="expected 1 arrays, got 2"):
        concrete(softmax, (M, F32)).profile(np.ones(3), np.ones(3))
    with pytest.raises(TypeError, match="argument x: expected"):
        concrete(softmax, (M, F32)).profile(np.ones((3, 3)))


# --- the law of loops -----------------------------------------------------------------------------


def test_a_pass_that_breaks_the_law_is_named(monkeypatch):
    def broken(block):
        def twice(stmt):
            if isinstance(stmt, For):
                return For(Var("lost", stmt.var.dtype), stmt.extent, stmt.body, stmt.kind)
            return map_blocks(stmt, lambda inner: tuple(map(twice, inner)))

        return tuple(map(twice, block))

    graph = concrete(softmax, (M, F32)).graph
    monkeypatch.setattr(passes, "PASSES", [*passes.PASSES[:3], ("break", broken)])
    loops(graph)  # nobody looks
    with config(check=True), pytest.raises(PassError, match="loops of softmax, pass break: "):
        loops(graph)


def test_a_pass_that_fails_is_named(monkeypatch):
    def failing(block):
        raise KeyError("gone")

    graph = concrete(softmax, (M, F32)).graph
    monkeypatch.setattr(passes, "PASSES", [("fail", failing)])
    with pytest.raises(PassError, match="loops of softmax, pass fail: KeyError: 'gone'"):
        loops(graph)
