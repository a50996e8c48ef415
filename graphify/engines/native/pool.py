"""Threads: a loop's range cut into pieces that the CPUs share.

    void graphify_parallel(ptr fn, ptr context, i64 count, i64 grain)

runs `fn(context, begin, end)` over pieces that together are [0, count), and returns when all are
done. `grain` says how many items are worth about 5 us: smaller jobs are not cut, and jobs below
`_WORTH_WAKING` grains do not wake workers that sleep (a grain of 1 always does: heavy items).

    void graphify_sections(ptr fn, ptr context, i64 count)

is the same for few items that take long. Who waits for the last of them looks for Ctrl-C meanwhile,
and tells them by `fn(context, -1, -1)` that they are to stop.

How a job is shared. One word, the ticket, holds {generation, pieces left}; taking a piece is a
compare-and-swap that counts it down. A worker that comes late finds no pieces or another
generation, so it never touches a job that is over, and the caller never waits for a worker that
took nothing: it can do all the pieces alone, as it does in the child of a fork. There is one job at
a time: callers inside a job, or beside one, run serially instead of oversubscribing the machine.

Workers spin for a while after a job, then sleep. They block all signals, so that Python's handlers
run in its own threads. The number of threads is `config.num_threads`, from GRAPHIFY_NUM_THREADS.
"""

from __future__ import annotations

import atexit
import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from graphify.config import config
from graphify.engines.native import library, symbols
from graphify.engines.native.llvm import I8, I32, I64, PTR, VOID, Function, Module, Type, V
from graphify.engines.native.target import Target, host

NAMES = (
    "graphify_parallel",
    "graphify_sections",
    "graphify_set_threads",
    "graphify_stop_threads",
    "graphify_forked",
)

_MOST = 256  # workers at most
_SPINS = 6000  # pauses before a worker sleeps: 50 to 200 us
_PATIENCE = 2000  # pauses before a caller that waits lets others run
_PIECES = 8  # per thread: enough to even out pieces of unequal cost
_WORTH_WAKING = 8  # grains
_FUTEX = {"x86_64": 202, "aarch64": 98}  # number of the system call
_FUTEX_WAIT, _FUTEX_WAKE = 128, 129  # of this process only
_PAUSE = {"x86_64": ("llvm.x86.sse2.pause", ()), "aarch64": ("llvm.aarch64.hint", (V(I32, "1"),))}
_MASK_BYTES = 128  # a set of CPUs, a set of signals
_LOCK_BYTES = 128  # no less than any system's pthread_mutex_t, pthread_cond_t

# NOTE: a woken futex waiter may be placed on the CPU of the thread that wakes it, where it stays
# for milliseconds. So that CPU is taken from the workers' affinity before they are woken. With many
# workers that would cost more than it brings.
_STEERED = 8


def set_num_threads(count: int) -> None:
    """Use `count` threads from now on, the caller's included (0: as many as there are CPUs)."""
    if known := symbols.known("graphify_set_threads"):
        ctypes.CFUNCTYPE(None, ctypes.c_int64)(known)(count or default_threads())


def default_threads() -> int:
    """The CPUs this process may use, or fewer where a pool of processes has said so."""
    if hasattr(os, "sched_getaffinity"):
        cpus = len(os.sched_getaffinity(0))
    else:
        cpus = os.cpu_count() or 1
    # joblib, Dask and others set this in their worker processes.
    said = os.environ.get("OMP_NUM_THREADS", "")
    return min(cpus, int(said)) if said.isdigit() and int(said) > 0 else cpus


@dataclass(frozen=True, slots=True)
class System:
    """What threads are made of on an operating system.

    Attributes:
        wait: how a worker sleeps; None where there are no threads for us.
        cpu: the processor's family, "" where pausing is unknown.
        steer: whether affinity can be set.
        block: SIG_SETMASK.
    """

    wait: Literal["futex", "condition"] | None
    cpu: str
    steer: bool = False
    block: int = 2


def system(target: Target) -> System:
    """The system of a target."""
    cpu = target.triple.split("-")[0].replace("arm64", "aarch64")
    cpu = cpu if cpu in _PAUSE else ""
    if "linux" in target.triple:
        wait: Literal["futex", "condition"] = "futex" if cpu in _FUTEX else "condition"
        return System(wait, cpu, steer=bool(symbols.address("pthread_setaffinity_np")))
    if any(name in target.triple for name in ("darwin", "macos", "bsd")):
        return System("condition", cpu, block=3)
    return System(None, cpu)


def module(on: System, threads: int) -> Module:
    """The pool, of so many threads at first."""
    made = Module("pool")
    if on.wait is None:
        _write_serial(made)
        return made
    made.variable("ticket", I64)
    made.variable("signal", I32)  # counts the jobs; what workers wait for
    made.variable("sleepers", I32)
    made.variable("done", I64)  # pieces
    made.variable("busy", I32)
    made.variable("job", Type("[4 x i64]"))  # fn, context, count, length of a piece
    made.variable("threads", I64, str(threads))
    made.variable("started", I64)
    made.variable("living", I64)
    made.variable("stopping", I32)
    made.variable("workers", Type(f"[{_MOST} x i64]"))
    _write_sleep(made, on)
    _write_wake(made, on)
    _write_work(made)
    _write_worker(made, on)
    _write_start(made, on)
    _write_parallel(made, on)
    _write_sections(made, on)
    _write_controls(made, on)
    return made


TICKET, SIGNAL, SLEEPERS, DONE = (V(PTR, f"@{n}") for n in ("ticket", "signal", "sleepers", "done"))
BUSY, JOB, THREADS, STARTED = (V(PTR, f"@{n}") for n in ("busy", "job", "threads", "started"))
LIVING, STOPPING, WORKERS = (V(PTR, f"@{n}") for n in ("living", "stopping", "workers"))
NULL = V(PTR, "null")


def _i32(number: int) -> V:
    return V(I32, str(number))


def _i64(number: int) -> V:
    return V(I64, str(number))


def _pause(f: Function, on: System) -> None:
    if on.cpu:
        name, args = _PAUSE[on.cpu]
        f.call(name, VOID, args)


def _futex(f: Function, on: System, operation: int, value: V) -> None:
    value = f.convert("zext", value, I64)
    args = [_i64(_FUTEX[on.cpu]), SIGNAL, _i64(operation), value, NULL, NULL, _i64(0)]
    f.call("syscall", I64, args)


# --- sleeping and waking --------------------------------------------------------------------------


def _write_sleep(made: Module, on: System) -> None:
    """sleep(last): until `signal` is no longer `last`; may return early."""
    f = made.function("sleep", VOID, [(I32, "last")], "internal")
    last = f.args["last"]
    if on.wait == "futex":
        _futex(f, on, _FUTEX_WAIT, last)
        f.ret()
        return
    lock = made.variable("lock", Type(f"[{_LOCK_BYTES} x i8]"))
    condition = made.variable("condition", Type(f"[{_LOCK_BYTES} x i8]"))
    f.call("pthread_mutex_lock", I32, [lock])
    with f.when(f.icmp("eq", f.atomic_load(I32, SIGNAL), last)):
        f.call("pthread_cond_wait", I32, [condition, lock])
    f.call("pthread_mutex_unlock", I32, [lock])
    f.ret()


def _write_wake(made: Module, on: System) -> None:
    """wake(): everybody who sleeps. `signal` has changed already."""
    f = made.function("wake", VOID, [], "internal", "noinline nounwind")
    if on.steer:
        _write_steer(made)
        with f.when(f.icmp("sle", f.load(I64, STARTED), _i64(_STEERED))):
            f.call("steer", VOID, [])
    if on.wait == "futex":
        _futex(f, on, _FUTEX_WAKE, _i32(_MOST))
    else:  # whoever has seen the old signal holds the lock until it waits
        f.call("pthread_mutex_lock", I32, [V(PTR, "@lock")])
        f.call("pthread_mutex_unlock", I32, [V(PTR, "@lock")])
        f.call("pthread_cond_broadcast", I32, [V(PTR, "@condition")])
    f.ret()


def _write_steer(made: Module) -> None:
    """steer(): keep the workers off the CPU of this thread, if another is left for them."""
    allowed = made.variable("allowed", Type(f"[{_MASK_BYTES} x i8]"))
    home = made.variable("home", I32, "-1")
    f = made.function("steer", VOID, [], "internal", "noinline nounwind")
    rest = f.alloca(I8, _MASK_BYTES)
    here = f.call("sched_getcpu", I32, [])
    with f.when(f.icmp("eq", here, f.load(I32, home))):
        f.ret()
    with f.when(f.icmp("uge", here, _i32(_MASK_BYTES * 8))):
        f.ret()
    f.store(here, home)
    _copy(f, rest, allowed)
    byte = f.at(rest, I8, f.convert("zext", f.lshr(here, _i32(3)), I64))
    bit = f.shl(V(I8, "1"), f.convert("trunc", f.and_(here, _i32(7)), I8))
    f.store(f.and_(f.load(I8, byte), f.not_(bit)), byte)
    words = [f.load(I64, f.at(rest, I64, k)) for k in range(_MASK_BYTES // 8)]
    left = words[0]
    for word in words[1:]:
        left = f.or_(left, word)
    with f.when(f.icmp("ne", left, _i64(0))), f.counting(_i64(0), f.load(I64, STARTED)) as k:
        worker = f.load(I64, f.at(WORKERS, I64, k))
        f.call("pthread_setaffinity_np", I32, [worker, _i64(_MASK_BYTES), rest])
    f.ret()


def _copy(f: Function, target: V, source: V) -> None:
    for k in range(_MASK_BYTES // 8):
        f.store(f.load(I64, f.at(source, I64, k)), f.at(target, I64, k))


# --- workers --------------------------------------------------------------------------------------


def _write_work(made: Module) -> None:
    """work(): do pieces of the job at hand until none is left."""
    f = made.function("work", VOID, [], "internal", "noinline nounwind")
    top, attempt, run, out = (f.label(name) for name in ("top", "try", "run", "out"))
    f.start(top)
    ticket = f.atomic_load(I64, TICKET, "seq_cst")
    left = f.convert("trunc", ticket, I32)
    f.br_if(f.icmp("eq", left, _i32(0)), out, attempt)
    f.start(attempt)
    _, taken = f.compare_exchange(TICKET, ticket, f.sub(ticket, _i64(1)))
    f.br_if(taken, run, top)
    f.start(run)
    fn = f.load(PTR, JOB)
    context = f.load(PTR, f.at(JOB, I64, 1))
    count, length = f.load(I64, f.at(JOB, I64, 2)), f.load(I64, f.at(JOB, I64, 3))
    begin = f.mul(f.convert("zext", f.sub(left, _i32(1)), I64), length)
    end = f.intrinsic("smin", f.add(begin, length), count)
    f.call_pointer(fn, VOID, [context, begin, end])
    f.atomic_add(DONE, _i64(1))
    f.br(top)
    f.start(out)
    f.ret()


def _write_worker(made: Module, on: System) -> None:
    """worker(number): what a thread does until the pool stops."""
    f = made.function("worker", PTR, [(PTR, "number")], "internal")
    number = f.convert("ptrtoint", f.args["number"], I64)
    seen = f.alloca(I32)
    f.store(_i32(0), seen)
    wait, asleep, awake, work, leave = (
        f.label(name) for name in ("wait", "asleep", "awake", "work", "leave")
    )
    f.start(wait)
    last = f.load(I32, seen)
    with f.counting(_i64(0), _i64(_SPINS)):
        with f.when(f.icmp("ne", f.atomic_load(I32, SIGNAL), last)):
            f.br(awake)
        _pause(f, on)
    f.atomic_add(SLEEPERS, _i32(1))
    f.start(asleep)
    with f.when(f.icmp("eq", f.atomic_load(I32, SIGNAL, "seq_cst"), last)):
        f.call("sleep", VOID, [last])
        f.br(asleep)
    f.atomic_add(SLEEPERS, _i32(-1))
    f.start(awake)
    f.store(f.atomic_load(I32, SIGNAL), seen)
    f.br_if(f.icmp("ne", f.atomic_load(I32, STOPPING), _i32(0)), leave, work)
    f.start(work)
    wanted = f.sub(f.atomic_load(I64, THREADS), _i64(1))
    with f.when(f.icmp("slt", number, wanted)):
        f.call("work", VOID, [])
    f.br(wait)
    f.start(leave)
    f.atomic_add(LIVING, _i64(-1))
    f.ret(NULL)


def _write_start(made: Module, on: System) -> None:
    """start(count): make threads until there are `count` workers."""
    f = made.function("start", VOID, [(I64, "count")], "internal", "noinline nounwind")
    if on.wait == "condition":
        with f.when(f.icmp("eq", f.load(I64, STARTED), _i64(0))):
            f.call("pthread_mutex_init", I32, [V(PTR, "@lock"), NULL])
            f.call("pthread_cond_init", I32, [V(PTR, "@condition"), NULL])
    if on.steer:
        f.call("sched_getaffinity", I32, [_i32(0), _i64(_MASK_BYTES), V(PTR, "@allowed")])
    before, every, thread = f.alloca(I8, _MASK_BYTES), f.alloca(I8, _MASK_BYTES), f.alloca(I64)
    for k in range(_MASK_BYTES // 8):
        f.store(_i64(-1), f.at(every, I64, k))
    f.call("pthread_sigmask", I32, [_i32(on.block), every, before])
    count = f.intrinsic("smin", f.args["count"], _i64(_MOST))
    with f.counting(f.load(I64, STARTED), count) as number:
        f.atomic_add(LIVING, _i64(1))
        worker, argument = V(PTR, "@worker"), f.convert("inttoptr", number, PTR)
        failed = f.call("pthread_create", I32, [thread, NULL, worker, argument])
        with f.when(f.icmp("ne", failed, _i32(0))):  # be content with those there are
            f.atomic_add(LIVING, _i64(-1))
            f.atomic_store(f.add(number, _i64(1)), THREADS)
            f.call("pthread_sigmask", I32, [_i32(on.block), before, NULL])
            f.ret()
        identity = f.load(I64, thread)
        f.call("pthread_detach", I32, [identity])
        f.store(identity, f.at(WORKERS, I64, number))
        f.store(f.add(number, _i64(1)), STARTED)
    f.call("pthread_sigmask", I32, [_i32(on.block), before, NULL])
    f.ret()


# --- jobs -----------------------------------------------------------------------------------------


def _entry(made: Module) -> Function:
    params = [(PTR, "fn"), (PTR, "context"), (I64, "count"), (I64, "grain")]
    return made.function("graphify_parallel", VOID, params)


def _entry_of_sections(made: Module) -> Function:
    params = [(PTR, "fn"), (PTR, "context"), (I64, "count")]
    return made.function("graphify_sections", VOID, params)


def _run_alone(f: Function) -> None:
    with f.when(f.icmp("sgt", f.args["count"], _i64(0))):
        f.call_pointer(f.args["fn"], VOID, [f.args["context"], _i64(0), f.args["count"]])
    f.ret()


def _write_serial(made: Module) -> None:
    """For systems without threads that we know."""
    _run_alone(_entry(made))
    _run_alone(_entry_of_sections(made))
    made.function("graphify_set_threads", VOID, [(I64, "count")]).ret()
    made.function("graphify_stop_threads", VOID, []).ret()
    made.function("graphify_forked", VOID, []).ret()


def _write_parallel(made: Module, on: System) -> None:
    f = _entry(made)
    count = f.args["count"]
    grain = f.intrinsic("smax", f.args["grain"], _i64(1))
    alone, several, free, share, release = (
        f.label(name) for name in ("alone", "several", "free", "share", "release")
    )
    threads = f.atomic_load(I64, THREADS)
    small = f.or_(f.icmp("sle", threads, _i64(1)), f.icmp("sle", count, grain))
    f.br_if(small, alone, several)
    f.start(several)
    _, ours = f.compare_exchange(BUSY, _i32(0), _i32(1))
    f.br_if(ours, free, alone)
    f.start(free)
    _start_missing(f, threads)
    asleep = f.icmp("sgt", f.atomic_load(I32, SLEEPERS), _i32(0))
    light = f.and_(
        f.icmp("ne", grain, _i64(1)),
        f.icmp("slt", count, f.mul(grain, _i64(_WORTH_WAKING))),
    )
    f.br_if(f.and_(asleep, light), release, share)
    f.start(release)
    f.atomic_store(_i32(0), BUSY)
    f.br(alone)
    f.start(share)
    _share(f, on, threads, grain)
    f.atomic_store(_i32(0), BUSY)
    f.ret()
    f.start(alone)
    _run_alone(f)


def _start_missing(f: Function, threads: V) -> None:
    with f.when(f.icmp("slt", f.load(I64, STARTED), f.sub(threads, _i64(1)))):
        f.call("start", VOID, [f.sub(threads, _i64(1))])


def _write_sections(made: Module, on: System) -> None:
    f = _entry_of_sections(made)
    threads = f.atomic_load(I64, THREADS)
    with f.when(f.icmp("sgt", threads, _i64(1))):
        _, ours = f.compare_exchange(BUSY, _i32(0), _i32(1))
        with f.when(ours):
            _start_missing(f, threads)
            _share(f, on, threads, _i64(1), lambda: _interrupt(f))
            f.atomic_store(_i32(0), BUSY)
            f.ret()
    _run_alone(f)


def _interrupt(f: Function) -> None:
    """Let Python's signal handlers run; if one raises, whoever still works is told to stop."""
    with f.when(f.icmp("ne", f.call("graphify_poll", I32, []), _i32(0))):
        f.call_pointer(f.args["fn"], VOID, [f.args["context"], _i64(-1), _i64(-1)])


def _share(
    f: Function, on: System, threads: V, grain: V, waiting: Callable[[], None] | None = None
) -> None:
    """Set up the job, work on it, wait for the others.

    Args:
        waiting: writes what there is to do now and then while waiting.
    """
    count = f.args["count"]
    most = f.intrinsic("smin", f.mul(threads, _i64(_PIECES)), _upwards(f, count, grain))
    length = _upwards(f, count, most)
    pieces = _upwards(f, count, length)
    for k, word in enumerate((f.args["fn"], f.args["context"], count, length)):
        f.store(word, f.at(JOB, I64, k))
    f.atomic_store(_i64(0), DONE, "monotonic")
    generation = f.lshr(f.atomic_load(I64, TICKET, "monotonic"), _i64(32))
    ticket = f.or_(f.shl(f.add(generation, _i64(1)), _i64(32)), pieces)
    f.atomic_store(ticket, TICKET, "seq_cst")
    f.atomic_add(SIGNAL, _i32(1))
    with f.when(f.icmp("sgt", f.atomic_load(I32, SLEEPERS, "seq_cst"), _i32(0))):
        f.call("wake", VOID, [])
    f.call("work", VOID, [])
    wait, over = f.label("wait"), f.label("over")
    f.start(wait)
    with f.counting(_i64(0), _i64(_PATIENCE)):
        with f.when(f.icmp("sge", f.atomic_load(I64, DONE), pieces)):
            f.br(over)
        _pause(f, on)
    f.call("sched_yield", I32, [])
    if waiting is not None:
        waiting()
    f.br(wait)
    f.start(over)


def _upwards(f: Function, a: V, b: V) -> V:
    """a / b, rounded up; both positive."""
    return f.binary("udiv", f.add(a, f.sub(b, _i64(1))), b)


# --- controls -------------------------------------------------------------------------------------


def _write_controls(made: Module, on: System) -> None:
    f = made.function("graphify_set_threads", VOID, [(I64, "count")])
    with f.when(f.icmp("eq", f.atomic_load(I32, STOPPING), _i32(0))):
        bounded = f.intrinsic("smin", f.args["count"], _i64(_MOST))
        f.atomic_store(f.intrinsic("smax", bounded, _i64(1)), THREADS)
    f.ret()

    f = made.function("graphify_stop_threads", VOID, [])
    f.atomic_store(_i64(1), THREADS)
    f.atomic_store(_i32(1), STOPPING)
    f.atomic_add(SIGNAL, _i32(1))
    with f.when(f.icmp("sgt", f.load(I64, STARTED), _i64(0))):
        f.call("wake", VOID, [])
    with f.counting(_i64(0), _i64(_PATIENCE)):  # they may be busy; then they are left alone
        with f.when(f.icmp("eq", f.atomic_load(I64, LIVING), _i64(0))):
            f.ret()
        f.call("sched_yield", I32, [])
    f.ret()

    f = made.function("graphify_forked", VOID, [])  # in the child: nobody else is here
    for variable in (STARTED, LIVING):
        f.store(_i64(0), variable)
    for variable in (SLEEPERS, BUSY):
        f.store(_i32(0), variable)
    if on.steer:
        f.store(_i32(-1), V(PTR, "@home"))
    f.ret()


def _call(name: str) -> None:
    if known := symbols.known(name):
        ctypes.CFUNCTYPE(None)(known)()


def _given() -> tuple[System, int]:
    return system(host()), config.num_threads or default_threads()


library.provide(NAMES, module, _given)
config.watch("num_threads", set_num_threads)
atexit.register(_call, "graphify_stop_threads")
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _call("graphify_forked"))
