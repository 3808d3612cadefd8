"""The formats and files that the tool, the shims and the simulated device share: it imports none of them."""
