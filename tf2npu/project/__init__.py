"""All source-tree input and output: walk a project, convert it in worker processes, mirror it atomically."""
