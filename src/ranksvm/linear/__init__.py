"""Linear rankers in weight space: X, the objective and its certificate, training; no file."""
