"""Several ranks, each a process with a simulated device: the backend hccl, and DistributedDataParallel."""
