"""Objects in photographs: elastic graphs whose parts are edges of 16 directions."""
