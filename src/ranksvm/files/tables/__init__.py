"""Tables with named columns, CSV, Parquet and Arrow: pyarrow reads them; imported where used."""
