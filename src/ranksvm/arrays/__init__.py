"""Pairs and X on arrays of CuPy, Torch or NumPy, where these live; knows no solver and no file."""
