"""The chips and operators of Ascend devices: facts that the tool shows and the simulated device computes with."""
