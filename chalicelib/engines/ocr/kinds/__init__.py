"""Kinds of text: where phone numbers, mail addresses, dates, names and the like stand in a line.

Pure functions of a line's text. Every pattern has bounded repeats, so that time grows linearly
with the length of the line whatever it holds.
"""
