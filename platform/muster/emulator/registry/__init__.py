"""Objects: their kinds, defaults and rules, and the store that numbers and keeps them."""
