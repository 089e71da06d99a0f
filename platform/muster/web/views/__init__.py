"""Views of three lines: read through `reading`, write through the apps' actions, render."""
