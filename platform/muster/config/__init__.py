"""Settings, addresses and entry points. Importing it makes Celery's app the current one."""
