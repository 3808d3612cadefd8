"""The engine that converts one file: it gathers names, asks the rules, and splices their edits."""
