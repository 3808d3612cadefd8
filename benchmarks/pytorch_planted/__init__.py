"""Stand-ins that public scripts for PyTorch are given instead of downloads: a small torchvision, and seeds."""
