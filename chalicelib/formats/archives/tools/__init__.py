"""Boxes in the formats of more tools: CreateML, LabelMe, CVAT and TensorFlow's csv."""
