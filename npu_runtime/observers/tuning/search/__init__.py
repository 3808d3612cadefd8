"""Searches of AutoTune on the cost model: tilings of products, and schedules of vector operators."""
