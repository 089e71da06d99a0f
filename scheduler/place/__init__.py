"""Where a gang goes: models, domains, hosts, devices, ranks."""
