"""Recognises kinds of text in a line: phone numbers, mail addresses, dates, names and others.

All functions depend only on the text of the line. Repetitions in regular expressions are bounded,
so the time is linear in the length of the line.
"""
