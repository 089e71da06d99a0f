"""QueueSort and PreFilter plugins: whose turn it is, and what can be said without looking at nodes."""
