"""What predicts: weights and kernel expansions, scaling folded in; knows no solver and no file."""
