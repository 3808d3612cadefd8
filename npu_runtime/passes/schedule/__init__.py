"""The order of the steps, what runs beside what, memory and streams."""
