"""Django's checks of a row, in our words."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model

from muster.common.errors import Invalid


def validate(row: Model, **options: Any) -> None:
    """`full_clean`, raising Invalid with the fields that are wrong."""
    try:
        row.full_clean(**options)
    except ValidationError as error:
        fields = {name: [str(text) for text in texts] for name, texts in error.message_dict.items()}
        sentence = "; ".join(
            text if name == "__all__" else f"{name}: {text}" for name, texts in fields.items() for text in texts
        )
        raise Invalid(sentence, fields=fields) from None
