"""Finds objects in images.

`training/training.py` runs four stages: 1 the dense head, 2 features of crops, 3 a trial of the
second look, 4 a review of the finished model. `training/finish.py` makes artifact and card.
"""
