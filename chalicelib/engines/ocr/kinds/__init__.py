"""Finds kinds of text in a line: phone numbers, mail addresses, dates, names and similar.

Pure functions of a line's text. Every pattern has bounded repeats, so that time grows linearly
with the length of the line whatever it holds.
"""
