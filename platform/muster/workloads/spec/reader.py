"""YAML or JSON to plain values, remembering the line of every key."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from muster.workloads.spec.errors import Problem, SpecInvalid

MAX_BYTES = 256 * 1024
MAX_NODES = 20_000  # counted with aliases followed: a few lines of nested aliases would else grow without bound

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """A job file as plain values. `lines` maps the path of each key or item to its line, from 1; empty for JSON bodies."""

    data: Any
    text: str = ""
    lines: Mapping[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int | None:
        """The line of `path`, or of the nearest enclosing key that has one."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None


def read(source: str | Mapping[str, Any] | Document) -> Document:
    """Plain values of a job file; raises SpecInvalid where it is no YAML, too large, or names a key twice."""
    if isinstance(source, Document):
        return source
    if not isinstance(source, str):
        return Document(dict(source))
    if len(source.encode()) > MAX_BYTES:
        raise SpecInvalid([Problem("", f"The job file is larger than {MAX_BYTES // 1024} KiB.")])
    try:
        lines = _lines_of(YAML(typ="rt").compose(source))
        data = YAML(typ="safe", pure=True).load(io.StringIO(source))
    except MarkedYAMLError as error:
        raise SpecInvalid([_syntax(error)]) from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise SpecInvalid([Problem("", f"This is not YAML: {str(error).splitlines()[0]}")]) from None
    return Document(_plain(data), source, lines)


def _syntax(error: MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    words = " ".join(filter(None, [error.context, error.problem])) or "it cannot be read"
    return Problem("", f"This is not YAML: {words.splitlines()[0]}.", mark.line + 1 if mark else None)


def _lines_of(root: Node | None) -> dict[Path, int]:
    lines: dict[Path, int] = {}
    for path, line in _walk(root, ()):
        if path in lines:
            raise SpecInvalid([Problem(dotted(path), f"`{dotted(path)}` is there twice.", line)])
        lines[path] = line
        if len(lines) > MAX_NODES:
            raise SpecInvalid([Problem("", f"The job file holds more than {MAX_NODES} values.")])
    return lines


def _walk(node: Node | None, path: Path) -> Iterator[tuple[Path, int]]:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            here = (*path, str(key.value))
            yield here, key.start_mark.line + 1
            yield from _walk(value, here)
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            yield (*path, index), item.start_mark.line + 1
            yield from _walk(item, (*path, index))


def _plain(value: Any) -> Any:
    """YAML has dates; JSON, which the schema speaks, has none."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dt.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=dt.UTC)).isoformat()
    if isinstance(value, dt.date):
        return value.isoformat()
    return value


def dotted(path: Path) -> str:
    """`roles[1].gpus` for ("roles", 1, "gpus")."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
