"""Every component on one page, with data that looks like a working day. Served in debug only."""
