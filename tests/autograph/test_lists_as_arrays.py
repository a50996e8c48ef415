"""Lists that hold tensors where NumPy takes arrays: NumPy itself does not look into them."""

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError

EXPRESSIONS = [
    "np.searchsorted([1,2,3],[u,v])",
    "np.interp(0.5,[0,1],[u,v])",
    "np.where(True,[u],[v])",
    "np.outer([1,2],[u,v])",
    "np.dot([1,2],[u,v])",
    "np.linalg.norm([[u,v]])",
    "np.einsum('i,i',[u,v],[1,2])",
    "np.tile([u],3)",
    "np.array_equal([u],[v])",
    "np.allclose([u],[v])",
    "np.maximum([1,2],[u,v])",
    "np.add([u],[v])",
    "np.sum([[u,v],[v,u]],axis=0)",
    "np.select([[True,False]],[[u,v]],0)",
    "np.meshgrid([u],[v])",
    "np.cross([1,0,0],[0,u,v])",
    "np.insert([1.,2.],1,u)",
    "np.full((2,2),[u,v])",
    "np.concatenate([np.array([u]),[v]])",
    "np.concatenate([[u]]+[[v]]*2)",
    "np.array([[u],[v]])",
    "np.asarray([(u,v)])",
    "np.exp([u,v])",
    "np.sqrt([[u,v]])",
    "np.add.reduce([u,v])",
    "np.add.outer([1,2],[u,v])",
    "np.linalg.solve([[u,1],[1,v]],[1,2])",
    "np.linalg.det([[u,1],[1,v]])",
    "np.linalg.inv([[u,1],[1,v]])",
    "np.linalg.eigvalsh([[u,1],[1,v]])",
    "np.multiply.accumulate([u,v])",
    "np.pad([u,v],1)",
    "np.histogram([u,v],2)[0]",
    "np.percentile([u,v],50)",
    "np.apply_along_axis(np.sum,0,[[u,v]])",
    "np.piecewise([0.,1.],[[True,False],[False,True]],[u,v])",
    "np.broadcast_to([u,v],(2,2))",
    "np.flip([u,v])",
    "np.sort([v,u])",
    "np.argsort([v,u])",
    "np.cumsum([[u],[v]])",
    "np.repeat([u,v],2)",
    "np.diag([u,v])",
    "np.fromiter([u,v],float)",
    "np.mean([[u],[v]])",
    "np.delete([u,v],0)",
    "np.trapezoid([u,v])",
    "np.vstack(([u],[v]))",
    "np.dstack(([u],[v]))",
    "np.block([[u,v],[v,u]])",
    "np.matmul([[u,v]],[1,2])",
    "np.vdot([u,v],[1,2])",
    "np.inner([u,v],[1,2])",
    "np.tensordot([u,v],[1,2],1)",
    "np.kron([u],[v,1])",
    "np.all([u,v])",
    "np.isclose([u],[v])",
    "np.logical_and([u],[v])",
    "np.clip([u,v],1,2)",
    "np.full_like([1.,2.],u)",
    "np.linspace([u,1],[v,2],3)",
    "np.choose([0,1],[[u,v],[v,u]])",
    "np.take([u,v],1)",
    "np.ix_([0],[1])",
    "[u,v]*np.ones(2)",
    "np.ones(2)*[u,v]",
    "np.ones(2)+(u,v)",
    "np.ones((1,2))@[u,v]",
    "np.ones(2)<[u,v]",
    "np.ones(2)==[u,v]",
    "np.interp(0.5 + 0 * len([u]), [0, 1], [u, v])",
    "np.broadcast_arrays([u, v], [1, 2])",
    "np.power(2, [u, v])",
    "np.clip(1, [u, v], [9, 9])",
]


def made(expression):
    source = f"def function(u, v):\n    return {expression}\n"
    space = {"np": np}
    exec(source, space)
    return graphify.function(space["function"], source=source), space["function"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_list_is_taken_for_an_array(expression):
    staged, plain = made(expression)
    for u, v in ((np.float64(1.5), np.float64(2.5)), (np.array(0.25), np.array(3.5))):
        got, want = graphify.tree.leaves(staged(u, v)), graphify.tree.leaves(plain(u, v))
        for a, b in zip(got, want, strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-12)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_an_array_of_no_integers_is_refused_and_no_handler_takes_it(engine):
    """Python has floats there, and integers in other runs."""

    def program(x):
        try:
            return np.array([v + 1 for v in x if v > 0])
        except ValueError:
            return x

    staged = graphify.function(program, engine=engine)
    assert np.array_equal(staged(np.array([1, -1])), program(np.array([1, -1])))
    with pytest.raises(TraceError, match="give np.array a dtype"):
        staged(np.array([-1, -2]))


INTEGERS = {
    "of a list": lambda k, x: np.array([int(k), 2], np.uint8),
    "of a tuple": lambda k, x: np.asarray((1, int(k) * 100), dtype=np.int8),
    "of rows": lambda k, x: np.array([[int(k), x[0]], [3, 4]], dtype=np.uint8),
    "of a list that grows": lambda k, x: np.array([int(k) * v for v in (1, 2)], np.uint8),
    "of a list of any length": lambda k, x: np.array([int(k + v) for v in x if v > 0], np.uint8),
}


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("name", INTEGERS)
def test_pythons_integers_fit_the_dtype_they_are_given(name, engine):
    plain = INTEGERS[name]
    staged, x = graphify.function(plain, engine=engine), np.array([1, 2, -1])
    for k in map(np.int64, (-3, 1, 40, 300)):
        try:
            want = plain(k, x)
        except OverflowError:
            with pytest.raises(OverflowError, match="out of bounds"):
                staged(k, x)
        else:
            np.testing.assert_array_equal(staged(k, x), want, strict=True)
