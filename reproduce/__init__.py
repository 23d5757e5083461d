"""Scripts that make the tables and figures of the paper again, one each; `all.py` runs them all."""
