"""Objects in binary images: elastic graphs of one part."""
