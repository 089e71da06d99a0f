"""Base classes of the REST interface: one shape of errors, lists, filters and versions for every app."""
