"""Preference pairs and losses over them, in score space: labels, queries, weights; no X, w or C."""
