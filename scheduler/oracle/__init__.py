"""The same rules, slow and obvious: plain loops over plain objects, one rule a function. For tests only."""
