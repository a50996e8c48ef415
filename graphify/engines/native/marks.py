"""The user's lines in optimised IR and in assembly, which have lost their comments.

    marked = mark(text)           # each instruction carries the comment that stood above it
    in_ir(str(optimised))         # the comments again, wherever the line changes
    in_assembly(emitted)

The carrier is LLVM's debug information: the "line number" of an instruction is the number of a
comment among those of the text. It does not change the code that is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_COMMENT = re.compile(r"^ +; (.+?:\d+(?:  .*)?)$")  # a.py:4  y = np.exp(x)
_FUNCTION = re.compile(r"^define .*\{$")
_ATTACHED = re.compile(r", !dbg !(\d+)")
_LINE = re.compile(r"^!(\d+) = !DILocation\(line: (\d+),")
_METADATA = re.compile(r"^!(llvm\.|\d+ = (distinct !DI|!DI|!\{\}|!\{i32 2, !\"Debug Info))")
_PLACE = re.compile(r"^\s*\.loc\s+\d+\s+(\d+)")
# Lines of assembly that are there for debuggers only.
_FOR_DEBUGGERS = re.compile(r"^(\s*\.(loc|file|cfi_\w+)\b|\.L(tmp|func_begin)\d+:)")
_FIRST = 1 << 20  # numbers of our metadata; those of the text are small

_FILE, _UNIT, _VERSION, _TYPE = (_FIRST + i for i in range(4))
_HEAD = f"""!llvm.dbg.cu = !{{!{_UNIT}}}
!llvm.module.flags = !{{!{_VERSION}}}
!{_FILE} = !DIFile(filename: "lines", directory: "")
!{_UNIT} = distinct !DICompileUnit(language: DW_LANG_C99, file: !{_FILE}, producer: "graphify", \
isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!{_VERSION} = !{{i32 2, !"Debug Info Version", i32 3}}
!{_TYPE} = !DISubroutineType(types: !{{}})"""


def comments(text: str) -> list[str]:
    """The user's lines among the comments inside functions, each once."""
    found = (_COMMENT.match(line) for line in text.splitlines())
    return list(dict.fromkeys(match[1] for match in found if match))


def mark(text: str) -> str:
    """The text of a module with its comments as debug information."""
    numbers = {comment: i + 1 for i, comment in enumerate(comments(text))}
    if not numbers:
        return text
    lines: list[str] = []
    metadata: list[str] = _HEAD.splitlines()
    count, scope, here, inside = _TYPE, 0, 0, False
    places: dict[int, int] = {}  # within a function: number of a comment -> of its metadata

    for line in text.splitlines():
        if _FUNCTION.match(line):
            count += 1
            scope, here, inside, places = count, 0, True, {}
            metadata.append(
                f'!{scope} = distinct !DISubprogram(name: "f{scope}", scope: !{_FILE}, file: '
                f"!{_FILE}, type: !{_TYPE}, spFlags: DISPFlagDefinition, unit: !{_UNIT})"
            )
            line = f"{line[:-1]}!dbg !{scope} {{"
        elif line.startswith("}"):
            inside = False
        elif match := _COMMENT.match(line):
            here = numbers[match[1]]
        elif inside and line.startswith("  "):
            if here not in places:
                count += 1
                places[here] = count
                metadata.append(f"!{count} = !DILocation(line: {here}, scope: !{scope})")
            line = f"{line}, !dbg !{places[here]}"
        lines.append(line)
    return "\n".join([*lines, *metadata]) + "\n"


def in_ir(text: str, lines: Sequence[str]) -> str:
    """Optimised IR with the comments of `mark`, without the metadata that carried them."""
    numbers = {m[1]: int(m[2]) for line in text.splitlines() if (m := _LINE.match(line))}
    return "\n".join(_ir_lines(text, numbers, lines)).rstrip("\n") + "\n"


def _ir_lines(text: str, numbers: dict[str, int], lines: Sequence[str]) -> Iterator[str]:
    here = 0
    for line in text.splitlines():
        if _METADATA.match(line):
            continue
        attached = _ATTACHED.search(line)
        if line.startswith("define"):
            here = 0
        elif attached and (now := numbers.get(attached[1], 0)) and now != here:
            here = now
            yield f"  ; {lines[here - 1]}"
        yield re.sub(r" !dbg !\d+", "", _ATTACHED.sub("", line))


def in_assembly(text: str, lines: Sequence[str]) -> str:
    """Assembly with the comments of `mark`, without the tables for debuggers."""
    return "\n".join(_assembly_lines(text, lines)) + "\n"


def _assembly_lines(text: str, lines: Sequence[str]) -> Iterator[str]:
    here, hidden = 0, False
    for line in text.splitlines():
        if line.lstrip().startswith(".section"):
            hidden = ".debug" in line
        if hidden:
            continue
        place = _PLACE.match(line)
        if place and (now := int(place[1])) and now != here:
            here = now
            yield f"\t# {lines[here - 1]}"
        if not _FOR_DEBUGGERS.match(line):
            yield line
