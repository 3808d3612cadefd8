"""The folder that torch_npu's profiler leaves: PyTorch's operators beside the tasks of the device that they launched.

Names of files and columns are those of the vendor's guide to the Ascend PyTorch Profiler (Ascend/pytorch, docs, CC BY 4.0).
"""
