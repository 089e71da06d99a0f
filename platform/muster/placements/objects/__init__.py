"""Rows as whole objects, one module per live topic: `everything(key)` and readers by id, with the same shape.

The publisher sends them and pages are rendered from them, so that a page and what keeps it current cannot differ.
"""
