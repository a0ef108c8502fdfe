"""`python -m mam` is the command line."""

from mam.cli import main

main()
