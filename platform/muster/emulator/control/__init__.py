"""Faults on order: the `/control` endpoint."""
