"""The options of a program: what its sources, launchers and files of settings say of them."""
