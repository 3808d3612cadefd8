"""MindSpore: its programs are run and never changed; what later releases dropped is reported."""
