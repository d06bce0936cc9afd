"""Config files: what is asked for, its data, doing it; knows no terminal."""
