"""The plugin for napari (extra `napari`): its manifest is `napari.yaml` beside this file."""
