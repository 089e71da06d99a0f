"""What pages show, put together from the apps' queries: one module per page, nothing is written here."""
