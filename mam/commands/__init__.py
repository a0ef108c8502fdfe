"""What the command line does, one file or folder a verb; `mam.cli` registers them."""
