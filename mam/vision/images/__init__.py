"""What is ON in a picture: thresholds, ink, edges, and discs that are lifted."""
