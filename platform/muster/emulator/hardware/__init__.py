"""Hardware shapes, and the Node objects made of them."""
