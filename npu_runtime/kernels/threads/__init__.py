"""Work shared out over worker threads: ranges, tiles, rows, channels, blocks of a reduction, background calls."""
