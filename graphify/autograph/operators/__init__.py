"""What converted code calls, under the name `ag`. Plain Python when nothing is staged."""

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
    list,
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
    tuple,
    zip,
)
from graphify.autograph.operators.calls import (
    attr,
    augattr,
    augitem,
    call,
    delitem,
    setattr_,
    setitem,
)
from graphify.autograph.operators.control_flow import for_, if_, if_exp, while_
from graphify.autograph.operators.logical import and_, compare, contains, not_, or_
from graphify.autograph.operators.raising import assert_, raise_
from graphify.autograph.operators.undefined import Undefined, defined

__all__ = [name for name in globals() if not name.startswith("__")]
