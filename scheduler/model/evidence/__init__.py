"""What a node's hardware is, from whatever tells: DRA slices, the agent's annotation, labels, pasted `nvidia-smi topo -m`.

Each module reads one source into `Evidence` (`found.py`); `best.py` puts them together. Everything takes plain dicts and
text, so that a captured object is a test case.
"""
