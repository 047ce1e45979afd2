"""Boxes in the formats of other tools: CreateML, LabelMe, VoTT, CVAT and TensorFlow's CSV."""
