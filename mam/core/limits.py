"""The limits of what is read from outside: beyond them it is refused, before it costs anything.

docs/limits.md says what each protects from; those of the server are in ``mam.web.limits``.
"""

PICTURE_PIXELS = 1 << 26  # of any picture: four times a good camera's, and 200 MB as RGB
CURVE_PIXELS = 50_000_000  # of a mask of continuous curves: some 1.5 GB and ten seconds
MOST_ON = 0.5  # share of a picture's pixels that are ON; above it, it is the paper that was taken
PLACEMENTS = 200_000  # of parts in one image, worth a thought; thick ink has more, for minutes
INK_PIECES = 1000  # of a drawing; a photograph without lines has more, and would take minutes
HEADER_BYTES = 16 << 20  # of a model file; a header names every array, in some 100 bytes each
DIGEST_BYTES = 64 << 20  # of a mapped model file; of a larger one the digest of arrays takes long
METADATA_CHARACTERS = 1 << 20  # of a model file; those of bundled models have fewer than 1,000
JSON_CHARACTERS = 16 << 20  # of any JSON: it may unpack to thirty times as many bytes
ANSWER_CHARACTERS = 64 << 20  # of a picture or row on a cluster: a label for each of 16 Mpx
QUEUE_CHARACTERS = 1 << 16  # of a YAML file; it is read slowly, and its aliases multiply it
JSON_DEPTH = 32  # brackets inside brackets; the deepest that is written here has 4
GRAPH_VARIABLES = 2**31 - 1  # wiring numbers them in 32 bits
# Variables of no factor need no numbers in a UAI file, so their states together are bounded: a file
# may not make us allocate much more than its own size.
UAI_FREE_STATES = 1_000_000
ITEM_SECONDS = 600  # of one picture or row on a cluster; what takes longer is set aside
