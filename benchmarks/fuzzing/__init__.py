"""Programs nobody would write, and what must hold when the converter reads them."""
