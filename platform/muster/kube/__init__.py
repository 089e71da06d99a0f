"""Everything that speaks to Kubernetes: the gateway, the informer that reads, the executor that writes, the streams of logs."""
