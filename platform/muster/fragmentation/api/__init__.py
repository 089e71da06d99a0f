"""REST interface of fragmentation."""
