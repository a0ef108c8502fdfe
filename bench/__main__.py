"""``make bench``: everything that is timed, in one run."""

from bench import rival, sparsifier, speed_data, sweeps


def main() -> None:
    sweeps.main()
    rival.main()
    speed_data.main()
    sparsifier.main()


main()
