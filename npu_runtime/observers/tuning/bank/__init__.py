"""The knowledge bank of AutoTune: files of what was tuned, for chips and for kernels of this machine."""
