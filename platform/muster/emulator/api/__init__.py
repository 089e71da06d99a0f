"""HTTP: what a client sends, and what a real API server would answer."""
