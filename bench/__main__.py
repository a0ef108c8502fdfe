"""``make bench``: everything that is timed, in one run."""

from bench import (
    components,
    contours,
    letters,
    objects,
    rival,
    scale,
    sparsifier,
    speed_data,
    sweeps,
    versions,
    warm,
)


def main() -> None:
    sweeps.main()
    rival.main()
    speed_data.main()
    sparsifier.main()
    contours.main()
    warm.main()
    versions.main()
    components.main()
    letters.main()
    objects.main()
    scale.main()


main()
