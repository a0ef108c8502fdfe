"""The commands, one file per group; `mam.cli` registers them."""
