"""Documents that pass between processes: the request and the result of a prediction, and the record of a check."""
