"""The command in this process, as the tests of the command line have it; these tests are long, and run on one Python."""

from tests.cli.conftest import failing, own_folders, project, session_source, tool

__all__ = ["failing", "own_folders", "project", "session_source", "tool"]
