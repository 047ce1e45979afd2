"""Boxes in the formats of other tools: CreateML, LabelMe, CVAT and TensorFlow's CSV."""
