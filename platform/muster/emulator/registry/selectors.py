"""Label and field selectors, parsed and refused as the server does."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from muster.emulator.registry.errors import Json, bad_request
from muster.emulator.registry.resources import Resource

Matcher = Callable[[Json], bool]

_TOKEN = re.compile(r"\s*(==|!=|=|!|,|\(|\)|<|>|[^\s=!,()<>]+)")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term of a label selector; `values` is empty for exists and absent."""

    key: str
    operator: str  # in | notin | exists | absent | gt | lt
    values: tuple[str, ...] = ()

    def matches(self, labels: dict[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value in self.values
            case "notin":
                return value not in self.values
            case "exists":
                return value is not None
            case "absent":
                return value is None
        try:
            number, bound = int(value or ""), int(self.values[0])
        except ValueError:
            return False
        return number > bound if self.operator == "gt" else number < bound


class _LabelParser:
    """Recursive descent over the tokens of a label selector."""

    def __init__(self, text: str):
        self.tokens = _TOKEN.findall(text)
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def word(self) -> str:
        token = self.take()
        if not token or token[0] in "=!,()<>":
            raise bad_request(f"unable to parse requirement: found '{token}', expected: identifier")
        return token

    def parse(self) -> list[Requirement]:
        found = []
        while self.peek():
            found.append(self.requirement())
            if self.peek() and self.take() != ",":
                token = self.tokens[self.at - 1]
                raise bad_request(f"unable to parse requirement: found '{token}', expected: ',' or 'end of string'")
        return found

    def requirement(self) -> Requirement:
        if self.peek() == "!":
            self.take()
            return Requirement(self.word(), "absent")
        key = self.word()
        operator = self.peek()
        if operator in ("", ","):
            return Requirement(key, "exists")
        self.take()
        if operator in ("=", "=="):
            return Requirement(key, "in", (self.value(),))
        if operator == "!=":
            return Requirement(key, "notin", (self.value(),))
        if operator in (">", "<"):
            return Requirement(key, "gt" if operator == ">" else "lt", (self.word(),))
        if operator in ("in", "notin"):
            return Requirement(key, operator, self.values())
        raise bad_request(f"unable to parse requirement: found '{operator}', expected: in, notin, =, ==, !=, gt, lt")

    def value(self) -> str:
        return "" if self.peek() in ("", ",") else self.word()

    def values(self) -> tuple[str, ...]:
        if self.take() != "(":
            raise bad_request(f"unable to parse requirement: found '{self.tokens[self.at - 1]}', expected: '('")
        found = [self.word()]
        while self.peek() == ",":
            self.take()
            found.append(self.word())
        if self.take() != ")":
            raise bad_request("unable to parse requirement: found '', expected: ',' or ')'")
        return tuple(found)


def label_matcher(text: str) -> Matcher | None:
    """What `labelSelector` asks for; None when it asks for nothing."""
    requirements = _LabelParser(text).parse()
    if not requirements:
        return None
    return lambda obj: all(term.matches(obj["metadata"].get("labels") or {}) for term in requirements)


def selector_matches(selector: Json | None, labels: dict[str, str]) -> bool:
    """Whether a metav1.LabelSelector of an object's spec picks these labels; none picks nothing."""
    if selector is None:
        return False
    operators = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "absent"}
    terms = [Requirement(key, "in", (value,)) for key, value in (selector.get("matchLabels") or {}).items()]
    terms += [
        Requirement(term["key"], operators[term["operator"]], tuple(term.get("values") or ()))
        for term in selector.get("matchExpressions") or []
    ]
    return all(term.matches(labels) for term in terms)


def field_value(obj: Json, path: str) -> str:
    """A field as the server compares it: a missing one is empty, a boolean is `true` or `false`."""
    if path == "source":
        path = "source.component"
    value: Any = obj
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if value is None:
        return "false" if path in ("spec.unschedulable", "spec.hostNetwork") else ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def field_matcher(resource: Resource, text: str) -> Matcher | None:
    """What `fieldSelector` asks for, over the fields that this resource supports."""
    allowed = ("metadata.name", *(("metadata.namespace",) if resource.namespaced else ()), *resource.fields)
    terms: list[tuple[str, bool, str]] = []
    for term in filter(None, text.split(",")):
        found = re.fullmatch(r"([^=!]+)(==|!=|=)(.*)", term)
        if found is None:
            raise bad_request(f"invalid selector: '{term}'; can't understand '{term}'")
        path, operator, value = found.groups()
        if path not in allowed:
            raise bad_request(f"field label not supported: {path}")
        terms.append((path, operator != "!=", value))
    if not terms:
        return None
    return lambda obj: all((field_value(obj, path) == value) is equal for path, equal, value in terms)


def matcher(resource: Resource, labels: str, fields: str) -> Matcher | None:
    """Both selectors of a list or watch together; None when everything matches."""
    parts = [part for part in (label_matcher(labels), field_matcher(resource, fields)) if part]
    if len(parts) == 2:
        first, second = parts
        return lambda obj: first(obj) and second(obj)
    return parts[0] if parts else None
