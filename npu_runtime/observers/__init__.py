"""Observers of sessions: each looks on while a session compiles and runs, and the session names none of them."""
