"""Pruning: nodes that nothing uses go, and so does what control flow carries for nothing.

    y = sin(x)                      # no use of y: gone
    i, s, t = while(0, s, t, k)     # t is not used outside nor by i and s: no longer carried
    k in the loop never changes:    # carried values that stay as they are become plain operands

Effects stay, and so does whatever binds a size that a node which stays makes use of. A graph is
walked backwards once. When the walk meets control flow, what is used of its results is known;
its sub-graphs are pruned then and there, and tell which operands are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from graphify.ir.graph import Graph, Node, Value, attr_sizes, constant
from graphify.ir.rebuild import Rebuild, infer, reconcile
from graphify.ir.sizes import Size, SizeVar, dim_variables
from graphify.ir.walk import Call, Needed, needs, trampoline
from graphify.optimise.report import Report


def prune(graph: Graph, report: Report) -> Graph:
    """The graph without what neither its results nor its effects need. Its parameters stay."""
    pruned, _ = trampoline(_prune(graph, range(len(graph.results)), Job(report)))
    return pruned


Pruned: TypeAlias = tuple[Graph, set[Value]]  # a graph, and what of it is used, parameters included


@dataclass(slots=True)
class Job:
    """One run of the pass. What was done to a graph is kept: a graph that several nodes hold is
    pruned once for each set of results, and stays one graph."""

    report: Report
    pruned: dict[tuple[Graph, tuple[int, ...]], Pruned] = field(default_factory=dict)
    cut: dict[tuple[Graph, tuple[int, ...]], Graph] = field(default_factory=dict)

    def with_params(self, graph: Graph, positions: Sequence[int]) -> Graph:
        """The graph with only these of its parameters, in this order."""
        params = tuple(graph.params[j] for j in positions)
        if params == graph.params:
            return graph
        key = (graph, tuple(positions))
        if key not in self.cut:
            self.cut[key] = graph.replace(params=params)
        return self.cut[key]


@dataclass(slots=True)
class Plan:
    """What becomes of a control-flow node: the operands, results and graphs it keeps."""

    operands: list[int]
    results: list[int]
    attrs: dict[str, object]
    forwards: dict[int, int] = field(default_factory=dict)  # result -> the operand it equals
    gone: bool = False  # every result that is used equals an operand


def _prune(graph: Graph, results: Iterable[int], job: Job) -> Call[Pruned]:
    """The graph with only these results, and the set of its old values that are used."""
    key = (graph, tuple(results))
    if key not in job.pruned:
        job.pruned[key] = yield _prune_once(graph, key[1], job)
    return job.pruned[key]


def _prune_once(graph: Graph, results: tuple[int, ...], job: Job) -> Call[Pruned]:
    kept_results = tuple(graph.results[i] for i in results)
    bindings, params = graph.size_bindings(), set(graph.params)
    live: set[Value] = set(kept_results)
    wanted: set[SizeVar] = set()  # sizes of parameters: any of those that have it will do
    plans: dict[Node, Plan] = {}
    dead: set[Node] = set()
    for node in reversed(graph.nodes):
        outputs = node.outputs
        if not node.effects and not any(value in live for value in outputs):
            dead.add(node)
            if node.op is not constant:
                job.report.note("pruned", node, "nothing uses it")
            continue
        if node.op.name in _NARROW:
            used = [i for i, value in enumerate(outputs) if value in live]
            plan = yield _NARROW[node.op.name](node, used, job)
            plans[node] = plan
            live.update(node.inputs[i] for i in plan.forwards.values())
            if plan.gone:
                continue
            live.update(node.inputs[i] for i in plan.operands)
        else:
            live.update(node.inputs)
        sizes = set(attr_sizes(node.attrs))
        own = {v for v in sizes if bindings[v][0] not in params}
        live.update(bindings[v][0] for v in own)
        wanted |= sizes - own
    live |= _binders(graph, live, wanted)
    again = Rebuild(graph.replace(results=kept_results) if _fewer(graph, kept_results) else graph)
    for node in graph.nodes:
        if node in dead:
            again.drop(node)
        elif node in plans:
            _apply(again, node, plans[node])
        else:
            again.keep(node)
    return again.finish(), live


def _fewer(graph: Graph, results: tuple[Value, ...]) -> bool:
    return len(results) != len(graph.results)


def _apply(again: Rebuild, node: Node, plan: Plan) -> None:
    """Put the narrowed control-flow node in the place of the old one."""
    now = again.current(node)
    for i, operand in plan.forwards.items():
        again.substitute(Value(node, i), now.inputs[operand])
    if plan.gone:
        again.drop(node)
        return
    same = len(plan.operands) == len(node.inputs) and len(plan.results) == len(node.specs)
    if same and all(node.attrs[name] is value for name, value in plan.attrs.items()):
        again.keep(node, now)
        return
    inputs = tuple(now.inputs[i] for i in plan.operands)
    attrs = {**now.attrs, **plan.attrs}
    recorded = [now.specs[i] for i in plan.results]
    inferred = infer(node.op, [value.spec for value in inputs], attrs)
    specs, learned = reconcile(recorded, inferred, again.frame.bindings)
    again.learn(learned)
    effects = any(graph.effects for graph in attrs.values() if isinstance(graph, Graph))
    new = Node(node.op, inputs, attrs, specs, node.source, effects)
    again.frame.append(new)
    for k, i in enumerate(plan.results):
        again.substitute(Value(node, i), Value(new, k))
    again.drop(node)


# --- one op of control flow each: which operands and results it keeps ------------------------


def _narrow_cond(node: Node, used: list[int], job: Job) -> Call[Plan]:
    true, false = _graph(node, "true"), _graph(node, "false")
    forwards = {}
    for i in used:
        j = _same_param(true, false, i)
        if j is not None and node.specs[i] == node.inputs[1 + j].spec:
            forwards[i] = 1 + j
            job.report.note("pruned", node, "both branches give the operand itself")
    results = [i for i in used if i not in forwards]
    if not results and not node.effects:
        return Plan([], [], {}, forwards, gone=True)
    graphs = yield from _prune_all({"true": true, "false": false}, results, job)
    params = _used_params([true, false], [live for _, live in graphs.values()], results)
    _note(job.report, node, len(used) - len(results), len(true.params) - len(params))
    return Plan(
        [0, *(1 + j for j in params)],
        results,
        {name: job.with_params(graph, params) for name, (graph, _) in graphs.items()},
        forwards,
    )


def _same_param(true: Graph, false: Graph, i: int) -> int | None:
    """The position of the parameter that both branches give as result `i`."""
    if true.results[i] in true.params:
        j = true.params.index(true.results[i])
        if false.results[i] == false.params[j]:
            return j
    return None


def _narrow_while(node: Node, used: list[int], job: Job) -> Call[Plan]:
    test, body, carry = _graph(node, "cond"), _graph(node, "body"), _count(node, "carry")
    carried, forwards, steady = _carried(node, body, used, 0, carry, [test])
    if not [i for i in used if i not in forwards] and not node.effects:
        return Plan([], [], {}, forwards, gone=True)
    new_test, test_live = yield _prune(test, [0], job)
    new_body, body_live = yield _prune(body, carried, job)
    rest = [*steady, *range(carry, len(node.inputs))]
    live = [j for j in rest if test.params[j] in test_live or body.params[j] in body_live]
    kept = [*carried, *live]
    _note(job.report, node, carry - len(carried), len(node.inputs) - len(kept))
    attrs = {
        "cond": job.with_params(new_test, kept),
        "body": job.with_params(new_body, kept),
        "carry": len(carried),
    }
    return Plan(kept, carried, attrs, forwards)


def _narrow_loop(node: Node, used: list[int], job: Job) -> Call[Plan]:
    body, carry, xs = _graph(node, "body"), _count(node, "carry"), _count(node, "xs")
    carried, forwards, steady = _carried(node, body, used, 1, carry, [])
    results = [*carried, *(i for i in used if i >= carry)]
    if not [i for i in used if i not in forwards] and not node.effects:
        return Plan([], [], {}, forwards, gone=True)
    new_body, live = yield _prune(body, results, job)
    live = live | _size_params(body, live, results)
    rows = [j for j in range(carry, carry + xs) if body.params[1 + j] in live]
    others = [*steady, *range(carry + xs, len(node.inputs))]
    kept = [*carried, *rows, *(j for j in others if body.params[1 + j] in live)]
    _note(job.report, node, len(node.specs) - len(results), len(node.inputs) - len(kept))
    attrs: dict[str, object] = {"body": job.with_params(new_body, [0, *(1 + j for j in kept)])}
    attrs["xs"] = len(rows)
    if node.op.name == "loop":
        attrs["carry"] = len(carried)
    return Plan(kept, results, attrs, forwards)


def _narrow_call(node: Node, used: list[int], job: Job) -> Call[Plan]:
    body = _graph(node, "body")
    graphs = yield from _prune_all({"body": body}, used, job)
    new_body, live = graphs["body"]
    params = _used_params([body], [live], used)
    _note(job.report, node, len(node.specs) - len(used), len(node.inputs) - len(params))
    return Plan(params, used, {"body": job.with_params(new_body, params)})


_NARROW = {
    "cond": _narrow_cond,
    "while": _narrow_while,
    "loop": _narrow_loop,
    "map": _narrow_loop,
    "call": _narrow_call,
}


# --- helpers ------------------------


def _prune_all(graphs: dict[str, Graph], results: list[int], job: Job) -> Call[dict[str, Pruned]]:
    pruned = {}
    for name, graph in graphs.items():
        pruned[name] = yield _prune(graph, results, job)
    return pruned


def _carried(
    node: Node, body: Graph, used: list[int], first: int, carry: int, tests: list[Graph]
) -> tuple[list[int], dict[int, int], list[int]]:
    """Which carried values stay, which results equal operands, which operands become constant.

    A carried value stays if its result is used outside, or if the test, an effect or another one
    that stays depends on it: found by going back from those, adding roots until none is new.
    """
    waiting = list(used)
    for test in tests:
        reached = Needed(test, [*test.results, *_effect_needs(test)])
        waiting += [i for i in range(carry) if test.params[i] in reached]
    found = Needed(body, _effect_needs(body))
    wanted: set[int] = set()
    seen: set[int] = set()
    while True:
        for i in range(carry):
            if i not in seen and body.params[first + i] in found:
                seen.add(i)
                waiting.append(i)
        fresh = [i for i in waiting if i not in wanted]
        if not fresh:
            break
        wanted.update(fresh)
        waiting = []
        found.add(body.results[i] for i in fresh)
    steady = [i for i in sorted(wanted) if i < carry and _is_steady(node, body, i, first)]
    forwards = {i: i for i in steady if i in used}
    carried = [i for i in sorted(wanted) if i < carry and i not in steady]
    return carried, forwards, steady


def _is_steady(node: Node, body: Graph, i: int, first: int) -> bool:
    """Whether a carried value never changes, so that its result is the operand itself."""
    return body.results[i] == body.params[first + i] and node.specs[i] == node.inputs[i].spec


def _effect_needs(graph: Graph) -> list[Value]:
    bindings = graph.size_bindings()
    return [value for node in graph.nodes if node.effects for value in needs(node, bindings)]


def _used_params(
    graphs: Sequence[Graph], lives: Sequence[set[Value]], results: list[int]
) -> list[int]:
    """Positions of the parameters that some graph uses, or needs to say its results' sizes."""
    all_live = [
        live | _size_params(g, live, results) for g, live in zip(graphs, lives, strict=True)
    ]
    return [
        j
        for j in range(len(graphs[0].params))
        if any(graph.params[j] in live for graph, live in zip(graphs, all_live, strict=True))
    ]


def _size_params(graph: Graph, live: set[Value], results: list[int]) -> set[Value]:
    """Parameters needed only because they say what a size in a result's shape is outside."""
    wanted = {v for i in results for d in graph.results[i].spec.shape for v in dim_variables(d)}
    return _binders(graph, live, wanted)


def _binders(graph: Graph, live: set[Value], wanted: set[SizeVar]) -> set[Value]:
    """Parameters that have some sizes, where none that is needed anyway has them."""
    wanted = wanted - {v for value in graph.params if value in live for v in _bare(value)}
    kept: set[Value] = set()
    for value in graph.params:
        binds = wanted.intersection(_bare(value))
        if binds:
            kept.add(value)
            wanted -= binds
    return kept


def _bare(value: Value) -> list[SizeVar]:
    """The size variables that a value binds with its axes."""
    dims = [dim.as_variable() for dim in value.spec.shape if isinstance(dim, Size)]
    return [variable for variable in dims if variable is not None]


def _graph(node: Node, name: str) -> Graph:
    graph = node.attrs[name]
    assert isinstance(graph, Graph)
    return graph


def _count(node: Node, name: str) -> int:
    return int(node.attrs.get(name, 0))


def _note(report: Report, node: Node, results: int, operands: int) -> None:
    if results > 0:
        report.note("pruned", node, f"{results} of its results not used, or never changed")
    if operands > 0:
        report.note("pruned", node, f"{operands} of its operands not used")
