"""``make bench``: everything that is timed, in one run."""

from bench import letters, rival, sparsifier, speed_data, sweeps


def main() -> None:
    sweeps.main()
    rival.main()
    speed_data.main()
    sparsifier.main()
    letters.main()


main()
