"""Detects objects in images.

`training/training.py` runs five stages: heads for proposed boxes (0), dense heads (1), features of
crops (2), trials of detection methods (3), and a review of the finished model (4). One method, the
second look, crops detected boxes and classifies the crops (`inference/second_look.py`).
`training/finish.py` writes the artifact and the model card.
"""
