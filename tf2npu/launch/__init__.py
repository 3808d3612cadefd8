"""Running scripts: as `tf2npu run` does it in this process, in a process of their own, or converted for one run."""
