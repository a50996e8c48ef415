"""The commands of `f.debug(x)` at a terminal.

(debug) step
> model.py:3 in f
    2        y = x * 2
    3 ->     return y + 1
node: %0: f64[2] = add(y, 1.0~)
(debug) p y
array([2., 4.])
"""

from __future__ import annotations

import cmd
import io
from collections.abc import Iterable
from typing import Any

import numpy as np

from graphify.api.comparing import show


class Prompt(cmd.Cmd):
    """Reads commands for a debugger. An empty line repeats the last one."""

    prompt = "(debug) "

    def __init__(self, debugger: Any, commands: Iterable[str] | None, output: Any) -> None:
        super().__init__(stdin=io.StringIO(_text(commands)), stdout=output)
        self.use_rawinput = commands is None
        self.debugger = debugger

    def preloop(self) -> None:
        if self.debugger.stop is None and not self.debugger.done:
            self.debugger.step()
        self._where()

    def precmd(self, line: str) -> str:
        if not self.use_rawinput:  # as if the user had typed it
            self.stdout.write("\n" if line == "EOF" else line + "\n")
        return line

    def _say(self, text: str) -> None:
        self.stdout.write(text + "\n")

    def _where(self) -> None:
        debugger = self.debugger
        self._say(str(debugger))
        if debugger.done and debugger.error is None:
            self._say(f"result: {show(debugger.result)}")

    def do_step(self, arg: str) -> None:
        """step, s: to the next node, inside loops and branches, too"""
        self.debugger.step()
        self._where()

    def do_next(self, arg: str) -> None:
        """next, n: to the next node that is not inside the one at hand"""
        self.debugger.next()
        self._where()

    def do_until(self, arg: str) -> None:
        """until LINE, u LINE: to the next node of that line"""
        if not arg.strip().isdigit():
            self._say(f"until: expected the number of a line, got {arg!r}")
            return
        self.debugger.until(int(arg))
        self._where()

    def do_run(self, arg: str) -> None:
        """run, r, c: to the end"""
        try:
            self.debugger.run()
        except Exception:  # noqa: BLE001 - shown below
            pass
        self._where()

    def do_where(self, arg: str) -> None:
        """where, w: the line at hand, those around it, and the node"""
        self._where()

    def do_values(self, arg: str) -> None:
        """values, v: the variables and what they hold"""
        self._say(self.debugger.table())

    def do_inputs(self, arg: str) -> None:
        """inputs, i: what the node at hand gets"""
        for value in self.debugger.inputs:
            self._say(show(value))

    def do_outputs(self, arg: str) -> None:
        """outputs, o: what the node before gave"""
        for value in self.debugger.outputs:
            self._say(show(value))

    def do_p(self, arg: str) -> None:
        """p EXPRESSION: of the variables; np is NumPy"""
        try:
            value = eval(arg, {"np": np}, self.debugger.values)  # noqa: S307 - the user's own words
            self._say(repr(value))
        except Exception as error:  # noqa: BLE001 - whatever the expression raises
            self._say(f"{type(error).__name__}: {error}")

    def do_quit(self, arg: str) -> bool:
        """quit, q: give up the rest of the run"""
        self.debugger.close()
        return True

    do_s, do_n, do_u, do_r, do_c = do_step, do_next, do_until, do_run, do_run
    do_w, do_v, do_i, do_o, do_q = do_where, do_values, do_inputs, do_outputs, do_quit

    def do_EOF(self, arg: str) -> bool:
        """The end of the commands: the run may be gone on with by the debugger's methods."""
        return True

    def do_help(self, arg: str) -> None:
        """help, h: the commands"""
        names = ("step next until run where values inputs outputs p quit help").split()
        for name in names:
            self._say((getattr(self, f"do_{name}").__doc__ or "").strip())

    do_h = do_help

    def default(self, line: str) -> None:
        self._say(f"unknown command {line!r}: help lists them")


def _text(commands: Iterable[str] | None) -> str:
    return "" if commands is None else "".join(f"{line.rstrip()}\n" for line in commands)
