"""Command line entry point."""


def main() -> None:
    raise SystemExit(0)
