"""Every length, share and count by which tables are told, in the units of print.

`_EMS` are heights of a usual line of text of the page, `_HEIGHTS` heights of the text at hand,
`_PIXELS` pixels of the raster as read; shares are 0 to 1 and counts are whole numbers. `make
bench-ocr ARGS="--only table"` and `--only documents` tell what a change does.
"""

from __future__ import annotations

# Pieces of text: where a line is cut into the texts of several cells.

CELL_GAP_HEIGHTS = 0.6
"""White gaps of this share of a line's height part two cells."""
SURE_CELL_GAP_HEIGHTS = 1.2
"""A gap this wide always parts cells."""
GAP_TO_WORD_SPACE = 1.6
"""A gap that parts cells is this many times wider than the usual space of its line."""
FEWEST_SPACES = 8
"""Fewer spaces do not tell how far words are apart."""
NARROW_SPACES_SHARE = 0.4
"""Of the spaces between words, this share is narrower than the usual one."""
LOW_LINE_HEIGHTS = 0.8
"""Lines without tall letters count as this share of the usual height."""
GAP_BLUR_PIXELS = 1.0
"""By how much a gap looks wider in small pictures."""
RULE_BESIDE_TEXT_HEIGHTS = 0.25
"""By how much a vertical rule may reach into the box of a text that it ends."""
RULE_SHORTER_HEIGHTS = 0.3
"""By how much a vertical rule may be shorter than a text that it cuts, at either end."""
LEAST_TEXT_PIXELS, UNKNOWN_TEXT_PIXELS = 4.0, 20.0
"""Height of a usual line at the least, and on a page without any."""
LINES_A_CHECK = 50
"""Lines that are cut between two looks at the deadline."""

# Rules: long straight edges.

MIN_CONTRAST = 7
"""Least difference of two pixels on both sides of an edge; the lightest zebra stripes have 10."""
NOISE_SHARE = 4.0
"""An edge is this many times stronger than half of all differences of the page."""
HORIZONTAL_RULE_EMS = 2.5
"""A horizontal rule is at least this long: longer than a dash."""
VERTICAL_RULE_EMS = 1.5
"""A vertical rule is at least this long: longer than a letter."""
RULE_THICKNESS_EMS = 0.45
"""Edges this near are those of one rule."""
RULE_PART_EMS = 0.7
"""Part of a rule at the least: strokes of letters are shorter."""
TEXT_MARGIN_HEIGHTS = 0.06
"""Edges this far inside a text are those of letters."""
MAX_RUNS = 12_000
"""Most runs of edge pixels that are looked at, the longest first: bounds hostile pages."""
MAX_RULINGS = 600
"""Most rulings of one direction, the longest first."""

# Lattices: rules that meet.

MEETING_EMS = 0.3
"""How far a ruling may end before the one that it meets."""
SAME_RULE_EMS = 0.4
"""Rulings this near are one boundary."""
BORDER_SHARE = 0.5
"""Share of a place's side that is drawn when there is a border."""
LEVEL_HEIGHTS = 0.3
"""By how much the middles of texts of one row differ."""
ACROSS_RULE_HEIGHTS = 0.2
"""By how much a text may reach over the boundary of its place."""
MAX_PLACES = 12_000
"""Most places of a lattice; a finer mesh is a pattern, not a table."""

# Gutters: white that parts columns.

GUTTER_EMS = 0.35
"""Least width of a gutter."""
GUTTER_CROSSING_SHARE = 0.12
"""Share of the rows that may cross a gutter: heads and notes that span columns."""
GUTTER_SLACK_HEIGHTS, GUTTER_SLACK_SHARE = 0.4, 0.3
"""By how much a text may reach into a gutter: of its height, and of its width at the most."""
WRAPPED_TO_ROW_SPACE = 0.55
"""Lines of one cell are nearer to each other than this share of the usual distance of rows."""
BANDED_SHARE = 0.34
"""Share of the rows that stand in bands of their own when rules or shades part rows."""
RULED_OFF_SHARE = 0.7
"""Share of a piece's width that a rule below it covers when the rule is a cell's."""

# Regions: where a table begins and ends on a page without a lattice.

SAME_RULE_END_EMS = 1.5
"""Ends of rules of one table differ by at most this."""
RULE_TO_TEXT_EMS = 1.5
"""A rule this far above or below a region belongs to it."""
RULE_BEYOND_EMS = 3.0
"""By how much a region's rule may reach beyond its text on the left and on the right."""
HEADLINE_TIMES = 1.4
"""Letters this many times as high as usual are those of a letterhead or a title."""
REGION_GUTTER_EMS = 0.8
"""White between two columns of a region at the least."""
FIRST_ROW_EMS = 3.0
"""Most white between the first two rows."""
LATER_ROW_TIMES = 2.0
"""Most white between two later rows, as a multiple of the usual one."""
TOUCHING_ROW_EMS = 1.2
"""White that never ends a table."""
NEAR_ROW_SHARE = 0.7
"""A row without columns goes on with the last one when the white above it is less than this share
of the usual one."""
PARTING_GUTTER_TIMES, PARTING_GUTTER_EMS = 2.2, 4.0
"""A gutter between two tables is this many times wider than the next one, and this wide."""
MOST_PENDING_ROWS = 3
"""Rows without columns of their own that may follow one after the other."""
KNOWN_ROWS = 24
"""Rows of a region that tell its columns to rows outside."""
BAND_EMS = 4.0
"""White above a rule that parts what is below it from what is above."""
PROSE_LINE_EMS, PROSE_EDGE_EMS = 1.2, 0.6
"""White between lines of a block of prose at the most, and how far their left edges differ."""
PROSE_SHARE = 0.6
"""Share of a block's lines that are as long as lines of prose."""

# Headers: a row of column names that tells the table below it.

FEWEST_HEADERS = 3
"""Two words beside each other are as often two addresses or signatures."""
MOST_HEADERS = 60
"""Headers side by side on one page; more are a pattern."""
HEADER_TRIES = 4
"""Rows that are tried as the header of the same text: bounds pages that look like one."""
UNDER_NEXT_HEADER_EMS, UNDER_NEXT_HEADER_SHARE = 0.4, 0.3
"""By how much text may reach under the next header, also as a share of its own width."""
HEADER_LINE_EMS = 0.5
"""White between lines of one header at the most."""
HEADER_ASIDE_EMS = 0.5
"""By how much words of one column may begin beside each other."""
BELOW_HEADER_EMS = 2.5
"""White between the header and the first row at the most."""
BELOW_HEADER_ROW_TIMES = 1.7
"""White between later rows at the most, as a multiple of the usual one."""
WRAPPED_BELOW_HEADER_SHARE = 0.75
"""White between lines of one cell at the most, as a share of that between rows."""

# Heads: rows of header cells.

PROSE_WORDS = 6
"""Words from which on a piece is as long as a line of running text."""
NUMERIC_SHARE = 0.5
"""Share of a column's filled cells that are numbers when the column is numeric, and of the
columns when the body is."""
HEAD_ROWS_SHARE = 0.5
"""Share of the rows that may be a head."""

# Sifting: regions that are no tables.

FILLED_SHARE = 0.5
"""Share of places with text, in rows and columns that have any."""
RULED_FILLED_SHARE = 0.4
"""The same between rules."""
EVIDENCE_SHARE, FEWEST_EVIDENCE = 0.5, 3
"""Share of the rows that have text in two columns and more, and their number at the least, of a
table that only alignment tells."""
CHART_WHITE_EMS = 6.0
"""White between rows of text; charts have more."""
CROWDED_ROWS = 4
"""Rows of text in one cell that are too many for a cell."""
CROWDED_SHARE = 0.15
"""Share of cells with as many."""
WRAPPED_TEXT_SHARE = 0.6
"""Share of the line breaks in a cell that are for want of room, in wrapped text."""
WORD_ROOM_HEIGHTS = 0.8
"""Room that a word needs beside the text of its line."""
WORDY_SHARE = 0.4
"""Share of pieces that may be as long as lines of prose."""
LABELS_SHARE = 0.4
"""Share of the rows with a cell that ends in a colon, in a list of keys and values."""
PAIRS_SHARE = 0.5
"""Share of the cells that hold a key and its value, in a list of such pairs."""
SPARSE_SHARE = 0.4
"""A network's structure is not trusted when fewer of its places have text."""

# Places whose text was overlooked.

MOST_BLANKS = 150
"""Most places of one table that are read again."""
SURE_BLANK = 0.5
"""Less probable readings are specks."""
SPECK_EMS = 0.12
"""Ink that is smaller both ways is none."""
TALL_INK_EMS = 1.5
"""Higher ink is no line of text."""
INK_MARGIN_EMS = 0.35
"""White left around the ink for the engine."""
TALLEST_PLACES = 400
"""Heights of a usual place that the tallest one is sought in."""

# Tables that go on over pages.

MOST_NOTES = 2
"""Rows of text between two parts that stand on one of the pages only: "continued on page 2"."""
SAME_TEXT_RATIO = 88.0
"""Texts that are this similar, of 100, are one text that was read twice."""

# How often a structure is right that rules, a header, a network or alignment tells. The first two
# are shares of 90 tables, of public sets and drawn invoices, whose neighbours agree by 95 % and
# more; the others are multiplied by how far both agree.

RULED_CERTAINTY = 0.85
HEADED_CERTAINTY = 0.89
NETWORK_CERTAINTY = 0.65
ALIGNED_CERTAINTY = 0.6
MOST_NETWORK_PLACES = 600
"""Most places of a table that the network is asked about: it has no tokens for more."""
