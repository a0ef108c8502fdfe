"""Images to models and back: parts, the sparsifier, contours, elastic graphs."""
