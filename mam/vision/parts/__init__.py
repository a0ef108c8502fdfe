"""Object parts, the sparsifier that places them, and how they are learned."""
