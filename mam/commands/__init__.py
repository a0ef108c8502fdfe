"""What the commands do, one file a group; `mam.cli` registers them."""
