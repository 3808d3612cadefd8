"""Rules about the input pipeline: datasets, batches, shards and queues."""
