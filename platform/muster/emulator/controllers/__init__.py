"""What a controller-manager does that a scheduler relies on: garbage, namespaces, lost nodes."""
