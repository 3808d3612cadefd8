"""Rules about operators, element types, shapes and loss scaling."""
