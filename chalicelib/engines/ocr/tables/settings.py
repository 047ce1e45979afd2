"""Thresholds for finding tables: lengths, fractions and counts.

Units by the end of the name: `_EMS` are multiples of the usual line height of the page, `_HEIGHTS`
multiples of the height of the compared text, `_PIXELS` pixels of the raster as read. Fractions are
0 to 1. `make bench-ocr ARGS="--only table"` and `--only documents` measure the effect of a change.
"""

from __future__ import annotations

# Pieces: where a line is split into the texts of several cells.

# Minimum width of a gap between cells. A gap of twice this width always separates cells.
CELL_GAP_HEIGHTS = 0.6
# A gap between cells is this many times wider than the usual space of its line.
GAP_TO_WORD_SPACE = 1.6
# Quantile of the spaces of a page that counts as the usual space.
NARROW_SPACES_SHARE = 0.4
# A ruled line may reach this far into the box of a text next to it. A vertical line that splits a
# text may end this far below the top of the text, and above its bottom.
RULE_SLACK_HEIGHTS = 0.3
# Minimum usual line height.
LEAST_TEXT_PIXELS = 4.0

# Ruled lines: long straight edges.

# Minimum difference of the pixels on both sides of an edge; the lightest zebra stripes have 10.
MIN_CONTRAST = 7
# An edge is this many times stronger than the median of all differences of the page.
NOISE_SHARE = 4.0
# Minimum length of a horizontal ruled line: longer than a dash.
HORIZONTAL_RULE_EMS = 2.5
# Minimum length of a vertical ruled line: longer than a letter.
VERTICAL_RULE_EMS = 1.5
# Maximum distance between the edges of one ruled line.
RULE_THICKNESS_EMS = 0.45
# Minimum length of a part of a ruled line: strokes of letters are shorter.
RULE_PART_EMS = 0.7
# Limits of the time for hostile pages: maximum number of edge runs, the longest first, and of cells
# of a lattice; maximum number of ruled lines of one direction, the longest first, of texts that are
# divided into two tables, and of cells for the network, which has no tokens for more.
MOST_SMALL_PARTS, MOST_PARTS = 12_000, 600

# Lattices: ruled lines that cross.

# Ruled lines closer than this are one boundary. A line may end this far before a line it meets.
SAME_RULE_EMS = 0.4

# Gutters: white gaps between columns.

# Minimum width of a gutter.
GUTTER_EMS = 0.35
# Maximum fraction of the rows that cross a gutter: headers and notes that span columns.
GUTTER_CROSSING_SHARE = 0.12
# Lines of one cell are closer together than this fraction of the usual gap between rows.
WRAPPED_TO_ROW_SPACE = 0.55
# Ruled lines or shades separate the rows of a table if there are at least this many bands between
# them, as a fraction of the rows of text.
BANDED_SHARE = 0.34
# Minimum fraction of the table's width that a ruled line between two rows covers.
RULED_OFF_SHARE = 0.7

# Regions: where a table begins and ends on a page without a lattice.

# A ruled line at most this far above or below a region belongs to it. The ends of a table's ruled
# lines differ by at most as much.
NEAR_RULE_EMS = 1.5
# A region's ruled line may extend this far beyond its text on the left and on the right.
RULE_BEYOND_EMS = 3.0
# Maximum gap between the first two rows.
FIRST_ROW_EMS = 3.0
# Maximum gap between later rows, as a multiple of the usual one.
LATER_ROW_TIMES = 2.0
# Letters this many times as high as usual belong to a letterhead or a title.
HEADLINE_TIMES = 1.4
# A region is divided at a cut of at least this probability.
SURE_CUT = 0.8

# Header cells.

# Minimum number of words of a line of running text.
PROSE_WORDS = 6

# Sifting: regions that are not tables.

# Minimum fraction of cells with text; empty rows and columns do not count.
FILLED_SHARE = 0.4
# Minimum number of rows with text in two or more columns, for a table found only by alignment.
FEWEST_EVIDENCE = 3
# Maximum gap between rows of text; charts have larger gaps.
CHART_WHITE_EMS = 6.0
# Minimum fraction of line breaks in wrapped text where the next word would not have fitted.
WRAPPED_TEXT_SHARE = 0.6
# Maximum fraction of pieces that are as long as lines of prose, and of rows that contain a field
# name with a colon, as in lists of keys and values.
OTHER_TEXT_SHARE = 0.4

# Cells whose text was missed.

# Maximum number of cells of one table that are read again.
MOST_BLANKS = 150
# Minimum probability of a text; less probable ones are specks.
SURE_BLANK = 0.5
# Ink that is smaller in both directions is ignored.
SPECK_EMS = 0.12
# Ink that is higher than this is not a line of text.
TALL_INK_EMS = 1.5
# Margin around the ink when it is read.
INK_MARGIN_EMS = 0.35

# Tables that continue on the next page.

# Maximum number of text rows between two parts that are on only one page: "continued on page 2".
MOST_NOTES = 2
# Minimum similarity, 0 to 100, of two readings of the same text.
SAME_TEXT_RATIO = 88.0

# Proposed structures.

# If ruled lines separate groups of rows, there are at least this many times more rows of text than
# ruled rows.
SPLIT_ROWS_TIMES = 1.5
# Structures with at least this probability are used without asking the network.
SURE_STRUCTURE = 0.75
# A gap within a row that is at least this fraction of a gap between rows counts as equally wide.
NEAR_TO_ROW_SPACE = 0.9
# Minimum number of sideways lines that may be a table on an upright page.
FEWEST_SIDEWAYS = 6
# Maximum number of header rows without numbers, and of consecutive rows without separate columns.
MOST_HEADER_ROWS = 3
# Maximum number of header rows as a fraction of the table's rows.
HEADER_ROWS_SHARE = 0.25
