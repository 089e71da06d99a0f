"""YAML text as plain values that remember their lines, and sections that refuse what they do not know."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

import yaml

Value = TypeVar("Value")
Default = TypeVar("Default")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ScenarioError(ValueError):
    """A scenario file cannot be read; says file, line and what is wrong with which key."""

    def __init__(self, file: str, line: int, message: str) -> None:
        super().__init__(f"{file}:{line}: {message}")
        self.file, self.line, self.message = file, line, message


class Lines(dict[str, Any]):
    """A mapping with the line of each key."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


def parse(text: str, file: str) -> Lines:
    """The top mapping of a YAML document."""
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        value = None if root is None else _value(loader, root, file)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ScenarioError(file, mark.line + 1 if mark else 1, f"not YAML: {error.problem}") from error
    finally:
        loader.dispose()
    if not isinstance(value, Lines):
        raise ScenarioError(file, 1, "a scenario is a mapping of keys to values")
    return value


def _value(loader: Any, node: yaml.Node, file: str) -> Any:
    if isinstance(node, yaml.MappingNode):
        mapping = Lines(node.start_mark.line + 1)
        for key_node, value_node in node.value:
            key, line = str(loader.construct_object(key_node)), key_node.start_mark.line + 1
            if key in mapping:
                raise ScenarioError(file, line, f"`{key}` is given twice")
            mapping[key], mapping.lines[key] = _value(loader, value_node, file), line
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, item, file) for item in node.value]
    return loader.construct_object(node)


class Section:
    """One mapping of the file. `what` names it in messages, for instance ``job train``."""

    def __init__(self, file: str, what: str, value: Any, line: int = 1) -> None:
        if not isinstance(value, Lines):
            raise ScenarioError(file, line, f"{what} must be a mapping")
        self.file, self.what, self.values = file, what, value

    def check(self, known: Collection[str], unbuilt: Mapping[str, Any] | None = None) -> None:
        """Refuse unknown keys, and keys of features that are not built unless they say what holds anyway."""
        for key, value in self.values.items():
            if unbuilt and key in unbuilt:
                if value != unbuilt[key]:
                    raise self.error(key, f"`{key}` in {self.what} is not supported yet")
            elif key not in known:
                nearest = get_close_matches(key, [*known, *(unbuilt or ())], n=1, cutoff=0.0)
                raise self.error(key, f"unknown key `{key}` in {self.what}; the nearest valid name is `{nearest[0]}`")

    def error(self, key: str, message: str) -> ScenarioError:
        return ScenarioError(self.file, self.values.lines.get(key, self.values.line), message)

    def get(self, key: str, convert: Callable[[Any], Value], default: Default) -> Value | Default:
        """The converted value of a key, or the default."""
        return self._converted(key, convert) if key in self.values else default

    def need(self, key: str, convert: Callable[[Any], Value]) -> Value:
        if key not in self.values:
            raise ScenarioError(self.file, self.values.line, f"{self.what} has no `{key}`, which is required")
        return self._converted(key, convert)

    def _converted(self, key: str, convert: Callable[[Any], Value]) -> Value:
        try:
            return convert(self.values[key])
        except (TypeError, ValueError, KeyError) as error:
            raise self.error(key, f"`{key}` in {self.what}: {_problem(error)}") from error

    def section(self, key: str) -> Section | None:
        """A mapping inside this one; an empty value counts as absent."""
        if self.values.get(key) is None:
            return None
        return Section(self.file, f"`{key}` of {self.what}", self.values[key], self.values.lines[key])


def _problem(error: Exception) -> str:
    return f"unknown value {error}" if isinstance(error, KeyError) else str(error)
