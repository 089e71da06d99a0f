"""Job files as bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser


class YamlParser(BaseParser):
    """`application/yaml`: the text as it was sent. Reading it is the job of whoever knows its schema, and keeps its lines."""

    media_type = "application/yaml"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """The body, as text."""
        try:
            return stream.read().decode()
        except UnicodeDecodeError:
            raise ParseError("The body is not UTF-8.") from None
