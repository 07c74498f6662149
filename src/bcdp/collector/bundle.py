"""Scripts for few requests: a module and all that it imports as one file, without comments; every time the same bytes.

What a module imports on demand stays a file of its own where it is served as one, and is part of this file where not.

It knows the modules of the folder `web`, in which imports and exports stand at the beginning of a line, no two modules
import each other, and nothing that is exported changes. Nobody needs a bundler to serve or to check them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass

_IMPORT = re.compile(r'^import (?:\* as (\w+)|\{([^}]*)\}) from "([^"]+)";\n', re.MULTILINE)
_REEXPORT = re.compile(r'^export \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const|class) ([\w$]+)", re.MULTILINE)
_DYNAMIC = re.compile(r'\bimport\("(\.[^"]+)"\)')
_PART = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`|/|[{}]|[^/\"'`{}]+", re.DOTALL)
_LITERAL = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_BEFORE_LITERAL = re.compile(
    r"(?:[(,=:\[!&|?{};+>]|\breturn)\s*\Z"
)  # what a regular expression may follow; else it divides


@dataclass(frozen=True)
class _Module:
    body: str
    uses: tuple[str, ...]
    gives: tuple[str, ...]


def bundled(entry: str, read: Callable[[str], str], parts: tuple[str, ...] = (), separate: tuple[str, ...] = ()) -> str:
    """The module at a path and all that it imports in one text; `read` gives the text of a path.

    Paths that begin like one of the `parts` are served in such texts only, but for those that are `separate`: what is
    imported of these on demand stays a file.
    """
    modules: dict[str, _Module] = {}
    _collect(entry, read, modules, _Files(entry, parts, separate))
    names = {path: f"${number}" for number, path in enumerate(modules)}
    if len(modules) == 1 and not modules[entry].gives:
        return modules[entry].body
    texts = []
    for path, module in modules.items():
        body = re.sub(r"\x00([^\x00]+)\x00", lambda used: names[used[1]], module.body)
        texts.append(f"const {names[path]}=(()=>{{\n{body}return {{{','.join(module.gives)}}};\n}})();\n")
    exported = ",".join(gives.partition(":")[0] for gives in modules[entry].gives)
    text = "".join(texts) + (f"export const {{{exported}}}={names[entry]};\n" if exported else "")
    return re.sub(r"\x00([^\x00]+)\x00", lambda used: names[used[1]], text)


@dataclass(frozen=True)
class _Files:
    """The file that is written, and which modules are no files."""

    entry: str
    parts: tuple[str, ...]
    separate: tuple[str, ...]

    def is_file(self, path: str) -> bool:
        return not path.startswith(self.parts) or path in self.separate


def _collect(path: str, read: Callable[[str], str], modules: dict[str, _Module], files: _Files) -> None:
    """Adds a module after all that it imports; a module that is used stands in its text between two zero characters."""
    text = stripped(read(path))
    used: list[str] = []

    def at(name: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(path), name))

    def imported(match: re.Match[str]) -> str:
        used.append(at(match[3]))
        named = re.sub(r"(\w+) as (\w+)", r"\1:\2", " ".join((match[2] or "").split()))
        return f"const {match[1] or '{' + named + '}'}=\x00{used[-1]}\x00;\n"

    gives: list[str] = []

    def reexported(match: re.Match[str]) -> str:
        used.append(at(match[2]))
        gives.extend(
            f"{name.strip()}:\x00{used[-1]}\x00.{name.strip()}" for name in match[1].split(",") if name.strip()
        )
        return ""

    def on_demand(match: re.Match[str]) -> str:
        if files.is_file(at(match[1])):
            return f'import("./{posixpath.relpath(at(match[1]), shown)}")'
        used.append(at(match[1]))
        return f"Promise.resolve(\x00{used[-1]}\x00)"

    shown = posixpath.dirname(files.entry) or "."
    body = _REEXPORT.sub(reexported, _IMPORT.sub(imported, text))
    gives.extend(match[2] for match in _EXPORT.finditer(body))
    body = _EXPORT.sub(r"\1 \2", body)
    body = _DYNAMIC.sub(on_demand, body)
    for other in used:
        if other not in modules:
            _collect(other, read, modules, files)
    modules[path] = _Module(body, tuple(used), tuple(gives))


def stripped(text: str) -> str:
    """A script without comments, indentation and empty lines; licences and what is quoted stay as they are.

    >>> stripped('const a = "//"; // a comment\\n\\n  const b = /[/]"/; /* and one */\\n/*! mine */\\n')
    'const a = "//";\\nconst b = /[/]"/;\\n/*! mine */\\n'
    """
    pieces: list[str] = []
    _code(text, 0, pieces, inside=False)
    return re.sub(r"\n{2,}", "\n", "".join(pieces)).lstrip("\n")


def _code(text: str, position: int, pieces: list[str], inside: bool) -> int:
    """Adds code from a place on; `inside` a template it ends at the closing brace, else with the text."""
    depth = 0
    while position < len(text):
        match = _PART.match(text, position)
        assert match is not None
        part = match[0]
        if part == "/" and _BEFORE_LITERAL.search("".join(pieces[-3:]) or "("):
            match = _LITERAL.match(text, position) or match
            part = match[0]
        depth += (part == "{") - (part == "}")
        position = match.end()
        if inside and depth < 0:
            pieces.append(part)
            return position
        if part == "`":
            position = _template(text, position, pieces)
        elif part.startswith(("//", "/*")) and len(part) > 1 and not part.startswith("/*!"):  # that is a licence
            while pieces and not pieces[-1].strip(" "):
                pieces.pop()
            if pieces:
                pieces[-1] = pieces[-1].rstrip(" ")
        else:
            pieces.append(re.sub(r"[ \t]*\n\s*", "\n", part) if part[0] not in "\"'/" else part)
    return position


def _template(text: str, position: int, pieces: list[str]) -> int:
    pieces.append("`")
    start = position
    while text[position] != "`":
        if text[position] == "\\":
            position += 2
        elif text.startswith("${", position):
            pieces.append(text[start : position + 2])
            start = position = _code(text, position + 2, pieces, inside=True)
        else:
            position += 1
    pieces.append(text[start : position + 1])
    return position + 1
