"""Recognises kinds of text in a line: phone numbers, mail addresses, dates, names and similar.

All functions depend only on the text of a line. Repeats in patterns are bounded, so that time is
linear in the length of any line.
"""
