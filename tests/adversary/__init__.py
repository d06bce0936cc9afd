"""Small problems at the limits of floating point, their optima, and what fits claim of them."""
