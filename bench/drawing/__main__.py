"""The command `python -m bench.drawing`: draws the shipped images."""

from __future__ import annotations

from bench.drawing.archives import ARCHIVES, ASSETS, QUESTION, draw_question, pack
from bench.drawing.page import PAGE, draw_page


def main() -> None:
    """Write all files, and print their sizes."""
    contents = {place: pack(draw()) for place, draw in ARCHIVES.items()}
    contents[QUESTION] = draw_question()
    contents[PAGE] = draw_page()
    for place, content in contents.items():
        (ASSETS / place).write_bytes(content)
        print(f"{place}: {len(content)} bytes")


if __name__ == "__main__":
    main()
