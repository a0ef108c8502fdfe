"""Objects in photographs: edges, and detection of one object with 200 graphs, warm."""

import jax
import numpy as np

from bench.timing import seconds
from mam.data import ObjectsConfig, make_objects
from mam.vision.elastic.match import match
from mam.vision.elastic.photographs.detector import ObjectDetector
from mam.vision.elastic.photographs.edge_evidence import evidence_of
from mam.vision.elastic.photographs.object_forward import try_all
from mam.vision.elastic.placed_graphs import place_graphs
from mam.vision.images.photo_edges import as_channels, find_edges

_LARGE = ObjectsConfig(rows=480, cols=640, objects=1, size=(1.3, 1.5), clutter=(30, 40))


def main(pictures: int = 10) -> None:
    device = jax.devices()[0].device_kind
    rows = [make_objects(_LARGE, 0, row) for row in range(pictures + 1)]
    image = rows[-1].image
    channels = jax.numpy.asarray(as_channels(image))
    edges = seconds(lambda: find_edges(channels), 5)
    print(f"objects in 640 x 480 px on {device}:")
    print(f"  edges of 16 directions {1e3 * edges:.1f} ms")
    detector = ObjectDetector()
    known = rows[:-1]
    detector.fit([row.image for row in known], [row.mask for row in known])
    stages(detector, image)
    whole = seconds(lambda: detector.find(image), 5)
    library = detector.library
    print(f"  an object with {len(library.bank)} graphs, all in: {1e3 * whole:.0f} ms")


def stages(detector: ObjectDetector, image: np.ndarray) -> None:
    library = detector.library
    config, bank = library.config, library.bank
    evidence = evidence_of(image, None, config.evidence)
    maps = seconds(lambda: evidence_of(image, None, config.evidence), 5)

    def forward():
        outside, lattice = config.evidence.outside, config.lattice
        return try_all(evidence.pooled, library.tiles, len(bank), library.extent, outside, lattice)

    tried = forward()
    best = np.argsort(-tried.score[:, 0])[: config.best + config.elsewhere]
    none = np.zeros(len(best), np.int32)
    corner = tried.anchor[best, 0] - config.window // 2
    graphs = place_graphs(bank.shapes, none, best, corner)

    def matching():
        outside = config.evidence.outside
        return match(evidence.parts, graphs, outside, config.window, config.sweeps)

    print(f"  score maps from the picture {1e3 * maps:.1f} ms")
    print(f"  forward pass of {len(bank)} graphs {1e3 * seconds(forward, 5):.1f} ms")
    print(f"  max-product on {len(best)} candidates {1e3 * seconds(matching, 5):.1f} ms")


if __name__ == "__main__":
    main()
