"""Neural baselines: H-CNN, TD+H-CNN and a small ConvNeXt (extra `train`)."""
