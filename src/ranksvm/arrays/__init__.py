"""The same losses on arrays of any library with the array API: CuPy, Torch, NumPy."""
