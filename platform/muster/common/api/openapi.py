"""What drf-spectacular cannot know: every address refuses in the one shape of errors."""

from __future__ import annotations

from typing import Any

ERROR = {
    "type": "object",
    "required": ["code", "message", "fields"],
    "properties": {
        "code": {"type": "string", "description": "for programs"},
        "message": {"type": "string", "description": "a sentence for people"},
        "fields": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
            "description": "what is wrong with which field",
        },
        "details": {"type": "object", "additionalProperties": True, "description": "more, by code"},
    },
}
REFUSAL = {
    "description": "Refused.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}
METHODS = ("get", "post", "put", "patch", "delete")


def add_errors(result: dict[str, Any], **_options: Any) -> dict[str, Any]:
    """A postprocessing hook: `default` for every operation."""
    result.setdefault("components", {}).setdefault("schemas", {})["Error"] = ERROR
    for path in result["paths"].values():
        for method in METHODS:
            if method in path:
                path[method]["responses"]["default"] = REFUSAL
    return result
