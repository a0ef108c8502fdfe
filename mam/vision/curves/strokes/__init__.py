"""Broken contours: strokes of one length, and what continues what."""
