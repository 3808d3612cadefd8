"""Families of operators that are more than a row of the table: a function each, which launches what a call is on the chip."""
