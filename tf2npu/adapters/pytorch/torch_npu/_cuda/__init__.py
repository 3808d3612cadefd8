"""CUDA's names switched over to the NPU in the process of a script that was written for CUDA."""
