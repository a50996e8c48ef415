"""What converted code calls, under the name `ag`. Plain Python when nothing is staged."""

from graphify.autograph.operators import (
    callbacks,  # noqa: F401  # for its effect
    copying,  # noqa: F401  # for its effect
    heaps,  # noqa: F401  # for its effect
    iterators,
    library,  # noqa: F401  # for its effect
    listarrays,  # noqa: F401  # for its effect
    listbuiltins,
    overloaded,  # noqa: F401  # for its effect
    places,  # noqa: F401  # for its effect
    tools,  # noqa: F401  # for its effect
    vectorize,  # noqa: F401  # for its effect
    warn,  # noqa: F401  # for its effect
)
from graphify.autograph.operators.attempted import attempt_call
from graphify.autograph.operators.attempts import attempt
from graphify.autograph.operators.attributes import attr, augattr, delattr_, setattr_
from graphify.autograph.operators.branches import if_, if_exp
from graphify.autograph.operators.builtins import (
    abs,
    all,
    any,
    bool,
    complex,
    dict,
    divmod,
    enumerate,
    filter,
    float,
    int,
    isinstance,
    iter,
    len,
    map,
    max,
    min,
    next,
    pow,
    print,
    range,
    reversed,
    round,
    set,
    sorted,
    sum,
    type,
    zip,
)
from graphify.autograph.operators.calls import augitem, call, decorator, delitem, setitem
from graphify.autograph.operators.choosing import choosing as over_arguments
from graphify.autograph.operators.choosing import is_
from graphify.autograph.operators.comprehensions import dict_of, each, list_of, set_of
from graphify.autograph.operators.comprehensions import list_ as list
from graphify.autograph.operators.comprehensions import tuple_ as tuple
from graphify.autograph.operators.generators import emit, known, known_items, returned
from graphify.autograph.operators.inplace import in_place
from graphify.autograph.operators.iterators import flatten, generate, unpacked
from graphify.autograph.operators.lists import moved
from graphify.autograph.operators.logical import and_, compare, contains, not_, or_, tested
from graphify.autograph.operators.lookups import get, indexed, item
from graphify.autograph.operators.loops import for_, while_
from graphify.autograph.operators.managers import manager
from graphify.autograph.operators.matching import (
    anything,
    capture,
    either,
    instance_of,
    mapping_of,
    match_,
    matched,
    others,
    same,
    sequence_of,
)
from graphify.autograph.operators.raising import assert_, assertion_error, catching, raise_
from graphify.autograph.operators.strings import percent, shown, text
from graphify.autograph.operators.thrown import caught, pending, thrown
from graphify.autograph.operators.undefined import Undefined, certain, defined, settled
from graphify.autograph.operators.updates import select
from graphify.ir.assign import set_select_hook

set_select_hook(select)
iterators.install(globals())
listbuiltins.install(globals())
# These take apart values of several kinds: see choosing.py.
for _name in (
    *("abs", "complex", "dict", "divmod", "float", "int", "iter", "len", "list", "max", "min"),
    *("next", "pow", "print", "round", "set", "sorted", "sum", "any", "all", "tuple"),
):
    globals()[_name] = over_arguments(globals()[_name])

__all__ = [
    "Undefined",
    "abs",
    "all",
    "and_",
    "any",
    "anything",
    "assert_",
    "assertion_error",
    "attempt",
    "attempt_call",
    "attr",
    "augattr",
    "augitem",
    "bool",
    "call",
    "capture",
    "catching",
    "caught",
    "certain",
    "compare",
    "complex",
    "contains",
    "decorator",
    "defined",
    "delattr_",
    "delitem",
    "dict",
    "dict_of",
    "divmod",
    "each",
    "either",
    "emit",
    "enumerate",
    "filter",
    "flatten",
    "float",
    "for_",
    "generate",
    "get",
    "if_",
    "if_exp",
    "in_place",
    "indexed",
    "instance_of",
    "int",
    "is_",
    "isinstance",
    "item",
    "iter",
    "known",
    "known_items",
    "len",
    "list",
    "list_of",
    "manager",
    "map",
    "mapping_of",
    "match_",
    "matched",
    "max",
    "min",
    "moved",
    "next",
    "not_",
    "or_",
    "others",
    "pending",
    "percent",
    "pow",
    "print",
    "raise_",
    "range",
    "returned",
    "reversed",
    "round",
    "same",
    "sequence_of",
    "set",
    "set_of",
    "setattr_",
    "setitem",
    "settled",
    "shown",
    "sorted",
    "sum",
    "tested",
    "thrown",
    "text",
    "tuple",
    "type",
    "unpacked",
    "while_",
    "zip",
]
