"""Programs and how they run: steps, loops, threads, memory."""
