"""``python -m tf2npu``: the command, for environments whose scripts are not on the path."""

from tf2npu.cli import main

if __name__ == "__main__":  # worker processes import this file again
    main()
