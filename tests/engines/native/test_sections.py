"""Sections: what does not depend on each other runs side by side and means what it did in a row."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")

import graphify
from graphify.config import config
from graphify.engines.native.loops import program as p
from graphify.engines.native.loops.check import check
from graphify.engines.native.loops.interpret import interpret
from graphify.engines.native.loops.sections import gather, side_by_side
from graphify.engines.native.translate import sections as translated
from graphify.errors import InternalError

VECTOR = graphify.TensorSpec((None,), np.float64)
MATRIX = graphify.TensorSpec((None, None), np.float64)


@pytest.fixture(autouse=True, params=[1, 2, 5])
def threads(request, monkeypatch):
    """Every section is worth a thread, whatever there is to do in it."""
    monkeypatch.setattr(translated, "BESIDE", 0)
    monkeypatch.setattr(translated, "BLAS", 1 << 20)
    config.set_num_threads(request.param)
    with config(cache=False, check=True):
        yield request.param
    config.set_num_threads(0)


def lowered(function, *specs):
    return str(graphify.function(function).get_concrete_function(*specs).lower())


def both(function, *args, specs=None, sections=1):
    """Staged for symbolic sizes, as plain Python; with so many groups of sections."""
    specs = specs or [graphify.TensorSpec((None,) * a.ndim, a.dtype) for a in args]
    concrete = graphify.function(function).get_concrete_function(*specs)
    assert str(concrete.lower()).count("side by side:") == sections
    want = function(*(a.copy() for a in args))
    for _ in range(3):
        got = concrete(*(a.copy() for a in args))
        for g, w in zip(got, want, strict=True):
            np.testing.assert_allclose(np.asarray(g), w, rtol=1e-9, atol=1e-9)


def recurrences(x, y):
    u, v = np.empty_like(x), np.empty_like(y)
    s = 0.0
    for i in range(len(x)):
        s = s * 0.5 + x[i]
        u[i] = s
    t = 0.0
    for i in range(len(y)):
        t = t * 0.25 + y[i]
        v[i] = t
    return u, v, s + t


def eigenvalues(a, b):
    return np.linalg.eigh(a)[0] + 1.0, np.linalg.eigh(b)[0]


def sorts(x, y):
    return np.sort(x) + 1.0, np.argsort(y), np.sort(y) * 2.0


def of_one_matrix(a):
    c = a @ a.T + np.eye(len(a))
    return np.linalg.cholesky(c), np.linalg.inv(c), np.linalg.eigvalsh(c)


def one_waits_for_the_other(x, y):
    first = np.sort(x)
    return np.sort(first[::-1] * 2.0), np.sort(y)


def in_a_loop(x, y):
    for _ in range(3):
        u = np.sort(x)
        v = np.sort(y)
        x = u - x
        y = v * 0.5 + y
    return x, y


def in_a_branch(x, y):
    if x.sum() > 0:
        u, v = np.sort(x), np.sort(y)
    else:
        u, v = np.sort(-x), np.sort(-y)
    return u, v


def whiles(x, y):
    n = 0
    while n < 5 and np.cumsum(x)[-1] < 1e3:
        t = 0.0
        for i in range(len(x)):
            t = t * 0.5 + x[i]
        x = x + t
        n += 1
    m = 0
    while m < 7 and np.cumsum(y)[-1] < 1e3:
        t = 0.0
        for i in range(len(y)):
            t = t * 0.25 + y[i]
        y = y + t
        m += 1
    return x, y, n, m


def vector(n, seed=0):
    return np.random.default_rng(seed).random(n)


def matrix(n, seed=0):
    a = np.random.default_rng(seed).random((n, n))
    return a + a.T


@pytest.mark.parametrize("sizes", [(0, 0), (1, 3), (0, 5), (40, 700), (700, 40)])
def test_vectors(sizes):
    x, y = vector(sizes[0]), vector(sizes[1], 1)
    both(recurrences, x, y)
    both(sorts, x, y)
    both(in_a_loop, x, y)
    both(in_a_branch, x, y, sections=2)
    both(one_waits_for_the_other, x, y)


@pytest.mark.parametrize("sizes", [(1, 1), (3, 30), (30, 5)])
def test_matrices(sizes):
    a, b = matrix(sizes[0]), matrix(sizes[1], 1)
    both(eigenvalues, a, b)
    both(of_one_matrix, a)


def test_static_sizes_are_gathered():
    """Loops that copy for one call do not fuse with those behind another."""

    def factors(a, b):
        return np.linalg.cholesky(a), np.linalg.cholesky(b)

    spec = graphify.TensorSpec((40, 40), np.float64)
    a, b = (matrix(40, k) @ matrix(40, k) + np.eye(40) for k in (0, 1))
    both(factors, a, b, specs=[spec, spec])


def test_equal_lengths_fuse_instead():
    spec = graphify.TensorSpec((1 << 20,), np.float64)
    assert "side by side" not in lowered(recurrences, spec, spec)


def test_small_sizes_that_are_known_stay_as_they_are():
    spec, other = (graphify.TensorSpec((n,), np.float64) for n in (10, 11))
    assert "side by side" not in lowered(recurrences, spec, other)


@pytest.mark.parametrize("bad", [None, 0, 1])
def test_effects_keep_their_order(bad, capsys):
    """A print stands behind what fails before it, and before what fails behind it."""

    def noisy(a, b):
        u = np.linalg.cholesky(a)
        print(a.shape[0] + a[0, 0] * 0)
        v = np.linalg.cholesky(b)
        return u, v

    spec = graphify.TensorSpec((5, 5), np.float64)
    concrete = graphify.function(noisy).get_concrete_function(spec, spec)
    assert "side by side" in str(concrete.lower())
    capsys.readouterr()
    args = [-np.eye(5) if k == bad else np.eye(5) for k in (0, 1)]
    if bad is None:
        concrete(*args)
    else:
        with pytest.raises(np.linalg.LinAlgError):
            concrete(*args)
    assert capsys.readouterr().out == ("" if bad == 0 else "5.0\n")


# --- failures -------------------------------------------------------------------------------------


def not_definite(a, b):
    first = np.linalg.cholesky(a)
    second = np.linalg.inv(b)
    return first, second


@pytest.mark.parametrize("bad", [(0,), (1,), (0, 1)])
def test_the_first_failure_counts(bad):
    good = np.eye(20)
    args = [-good if k == 0 else good * 0.0 for k in (0, 1)]
    args = [args[k] if k in bad else good for k in (0, 1)]
    concrete = graphify.function(not_definite).get_concrete_function(MATRIX, MATRIX)
    assert "side by side" in str(concrete.lower())
    with pytest.raises(np.linalg.LinAlgError) as want:
        not_definite(*args)
    for _ in range(5):
        with pytest.raises(np.linalg.LinAlgError, match=str(want.value)):
            concrete(*args)
    concrete(good, good)


@pytest.mark.parametrize("shapes", [((3, 3), (2, 3)), ((2, 3), (3, 3)), ((2, 3), (4, 3))])
def test_shapes_that_do_not_fit(shapes):
    args = [np.ones(shape) for shape in shapes]
    concrete = graphify.function(eigenvalues).get_concrete_function(MATRIX, MATRIX)
    with pytest.raises(np.linalg.LinAlgError):
        concrete(*args)


def test_a_failed_section_frees_what_it_holds():
    concrete = graphify.function(not_definite).get_concrete_function(MATRIX, MATRIX)
    good = np.eye(30)
    for _ in range(50):
        with pytest.raises(np.linalg.LinAlgError):
            concrete(-good, good * 0.0)
    concrete(good, good)


# --- threads --------------------------------------------------------------------------------------


def test_sections_inside_a_parallel_loop():
    def mapped(x, y):
        return graphify.vmap(sorts)(x, y)

    x, y = np.random.default_rng(0).random((2, 30, 50))
    got = graphify.function(mapped)(x, y)
    for k in range(30):
        for g, w in zip(got, sorts(x[k], y[k]), strict=True):
            np.testing.assert_allclose(np.asarray(g)[k], w)


def test_several_callers_at_once():
    concrete = graphify.function(recurrences).get_concrete_function(VECTOR, VECTOR)
    want = recurrences(vector(3000), vector(500, 1))
    wrong = []

    def call():
        for _ in range(50):
            for g, w in zip(concrete(vector(3000), vector(500, 1)), want, strict=True):
                if not np.allclose(np.asarray(g), w):
                    wrong.append(g)

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


ENDLESS = """
import signal
import numpy as np, graphify
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
from graphify.engines.native.translate import sections
sections.BESIDE = 0
graphify.config.set_num_threads({threads})

def long(x, y):
    s = 0.0
    for k in range(len(x) * {first}):
        for i in range(len(x)):
            s = s * 0.5 + x[i]
    t = 0.0
    for k in range(len(y) * {second}):
        for i in range(len(y)):
            t = t * 0.25 + y[i]
    return s, t

spec = graphify.TensorSpec((None,), np.float64)
concrete = graphify.function(long).get_concrete_function(spec, spec)
assert "side by side" in str(concrete.lower())
print("ready", flush=True)
try:
    concrete(np.ones(1000), np.ones(1001))
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.parametrize("turns", [(10**8, 10**8), (1, 10**8), (10**8, 1)])
def test_an_interrupt_ends_all_sections(turns, threads, tmp_path):
    """Also where the caller has done its own and waits."""
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS.format(threads=threads, first=turns[0], second=turns[1]))
    env = {**os.environ, "GRAPHIFY_CACHE": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, env=env)
    try:
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[0] == b"stopped\n"
    finally:
        process.kill()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork():
    concrete = graphify.function(recurrences).get_concrete_function(VECTOR, VECTOR)
    x, y = vector(300), vector(200, 1)
    want = recurrences(x, y)
    concrete(x, y)
    child = os.fork()
    if not child:
        got = concrete(x, y)
        pairs = zip(got, want, strict=True)
        os._exit(0 if all(np.allclose(np.asarray(g), w) for g, w in pairs) else 1)
    assert os.waitpid(child, 0)[1] == 0


# --- random programs ------------------------------------------------------------------------------


def written(rng):
    """A function of two vectors: sorts, recurrences and sums of what there is, at random."""
    names, lines = ["x", "y"], []
    for k in range(rng.randint(4, 9)):
        a, b = rng.choice(names), rng.choice(names)
        kind = rng.randrange(6)
        if kind == 0:
            lines.append(f"v{k} = np.sort({a})")
        elif kind == 1:
            lines.append(f"v{k} = np.argsort({a}) * 0.5")
        elif kind == 2:
            lines += [f"v{k} = {a}.copy()", "t = 0.0", f"for i in range(len(v{k})):"]
            lines += [f"    t = t * 0.5 + {a}[i]", f"    v{k}[i] = t"]
        elif kind == 3:
            lines.append(f"v{k} = {a} * 0.5 + {b}.sum()")
        elif kind == 4:
            lines += [f"assert {a}.sum() < 1e6, 'large {k}'", f"v{k} = {a} - 1.0"]
        else:
            at = rng.randrange(6)
            lines += [f"v{k} = {a} + {b}[{at}]"]
        names.append(f"v{k}")
    body = "\n    ".join(lines)
    return f"def program(x, y):\n    {body}\n    return {', '.join(names[2:])},\n"


@pytest.mark.parametrize("seed", range(25))
def test_random_programs(seed, tmp_path):
    source = written(random.Random(seed))
    path = tmp_path / f"program_{seed}.py"
    path.write_text(f"import numpy as np\n\n{source}")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    program = space["program"]
    concrete = graphify.function(program).get_concrete_function(VECTOR, VECTOR)
    for n, m in ((6, 50), (9, 9), (3, 8), (0, 4), (40, 7)):
        x, y = vector(n), vector(m, 1)
        try:
            want = program(x.copy(), y.copy())
        except (IndexError, AssertionError) as error:
            with pytest.raises(type(error)) as got:
                concrete(x, y)
            assert str(error).splitlines()[0] in str(got.value), source
            continue
        for g, w in zip(concrete(x, y), want, strict=True):
            np.testing.assert_allclose(np.asarray(g), w, rtol=1e-9, err_msg=source)


# --- the pass and the law -------------------------------------------------------------------------


def serial(out, source, extent):
    i, total = p.Var("i", p.INDEX), p.Var("total", p.INDEX, mutable=True)
    body = (
        p.Set(total, p.Apply("add", (total, p.Load(source, (i,))), p.INDEX)),
        p.Store(out, (i,), total),
    )
    return p.Let(total, p.ZERO), p.For(i, extent, body)


def program_of(*body, sites=()):
    n, m = p.Var("n", p.INDEX), p.Var("m", p.INDEX)
    x, y = (p.Buffer(k, p.INDEX, (d,), p.Param(j)) for j, (k, d) in enumerate([("x", n), ("y", m)]))
    u, v = (
        p.Buffer(k, p.INDEX, (d,), p.Result(j)) for j, (k, d) in enumerate([("u", n), ("v", m)])
    )
    statements = (*serial(u, x, n), *serial(v, y, m))
    dims = ((n,), (m,))
    return p.Program("made", (x, y), (u, v), (), dims, (*statements, *body), sites), (x, y, u, v)


def test_sections_mean_what_their_statements_do():
    program, _ = program_of()
    grouped = replace(program, body=side_by_side(program.body))
    assert any(isinstance(s, p.Sections) for s in grouped.body)
    check(grouped)
    args = [np.arange(5), np.arange(3)]
    for order in (iter, reversed):
        for g, w in zip(
            interpret(grouped, args, order=order), interpret(program, args), strict=True
        ):
            assert g.tolist() == w.tolist()
    assert gather(program.body) == program.body  # no calls


def test_sections_that_meet_are_against_the_law():
    program, (x, y, u, v) = program_of()
    lets = tuple(s for s in program.body if isinstance(s, p.Let))
    loops = tuple(s for s in program.body if isinstance(s, p.For))
    twice = p.Sections((p.Section(loops[:1]), p.Section(loops[:1])))
    with pytest.raises(InternalError, match="independent"):
        check(replace(program, body=(*lets, twice)))
    with pytest.raises(InternalError, match="several"):
        check(replace(program, body=(*lets, p.Sections((p.Section(loops),)))))
    with pytest.raises(InternalError, match="among the parts"):
        check(replace(program, body=(*lets, p.Section(loops))))


def test_the_report_says_so():
    concrete = graphify.function(sorts).get_concrete_function(VECTOR, VECTOR)
    assert "sections side by side" in str(concrete.report().engine)
    profile = concrete.profile(vector(100), vector(50))
    assert "side by side" in str(profile)
