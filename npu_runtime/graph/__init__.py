"""The graph: nodes, specs of values, text form and verifier."""
