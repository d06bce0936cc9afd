"""Packed data sets: folders of arrays that are mapped; knows how rows lie on disk, not training."""
