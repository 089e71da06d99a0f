"""Rows as live objects, one module per topic; each has `everything(key)` and readers by id, with the same shape."""
