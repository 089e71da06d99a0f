"""The nodes: admission, devices, and pods that run, simulated or as local processes."""
