"""The scheduling core: pure functions over arrays. See README.md in this folder."""
