"""The faces that scikit-learn knows: validation of what users give; computes nothing itself."""
