"""Formats of files and how to write them whole; knows what they hold, not how it came about."""
