"""Thresholds for finding tables: lengths, fractions and counts.

Units by the end of the name: `_EMS` are multiples of the usual line height of the page, `_HEIGHTS`
multiples of the height of the compared text, `_PIXELS` pixels of the raster as read. Fractions are
0 to 1. `make bench-ocr ARGS="--only table"` and `--only documents` measure the effect of a change.
"""

from __future__ import annotations

# Pieces of text: where a line is cut into the texts of several cells.

# White gaps of this share of a line's height part two cells.
CELL_GAP_HEIGHTS = 0.6
# A gap this wide always parts cells.
SURE_CELL_GAP_HEIGHTS = 1.2
# A gap that parts cells is this many times wider than the usual space of its line.
GAP_TO_WORD_SPACE = 1.6
# Fewer spaces do not show the distance between words.
FEWEST_SPACES = 8
# Of the spaces between words, this share is narrower than the usual one.
NARROW_SPACES_SHARE = 0.4
# Lines without tall letters count as this share of the usual height.
LOW_LINE_HEIGHTS = 0.8
# By how much a gap looks wider in small pictures.
GAP_BLUR_PIXELS = 1.0
# By how much a vertical rule may reach into the box of a text that it ends.
RULE_NEXT_TO_TEXT_HEIGHTS = 0.25
# By how much a vertical rule may be shorter than a text that it cuts, at either end.
RULE_SHORTER_HEIGHTS = 0.3
# Least height of a usual line, and its height on a page without lines.
LEAST_TEXT_PIXELS, UNKNOWN_TEXT_PIXELS = 4.0, 20.0
# Lines that are cut between two looks at the deadline.
LINES_A_CHECK = 50

# Rules: long straight edges.

# Least difference of two pixels on both sides of an edge; the lightest zebra stripes have 10.
MIN_CONTRAST = 7
# An edge is this many times stronger than half of all differences of the page.
NOISE_SHARE = 4.0
# A horizontal rule is at least this long: longer than a dash.
HORIZONTAL_RULE_EMS = 2.5
# A vertical rule is at least this long: longer than a letter.
VERTICAL_RULE_EMS = 1.5
# Edges this near are those of one rule.
RULE_THICKNESS_EMS = 0.45
# Least length of a part of a rule: strokes of letters are shorter.
RULE_PART_EMS = 0.7
# Edges this far inside a text are those of letters.
TEXT_MARGIN_HEIGHTS = 0.06
# Most runs of edge pixels that are looked at, the longest first: bounds hostile pages.
MAX_RUNS = 12_000
# Most rulings of one direction, the longest first.
MAX_RULINGS = 600

# Lattices: rules that meet.

# How far a ruling may end before the one that it meets.
MEETING_EMS = 0.3
# Rulings this near are one boundary.
SAME_RULE_EMS = 0.4
# Share of a place's side that is drawn when there is a border.
BORDER_SHARE = 0.5
# By how much the middles of texts of one row differ.
LEVEL_HEIGHTS = 0.3
# By how much a text may reach over the boundary of its place.
ACROSS_RULE_HEIGHTS = 0.2
# Most places of a lattice; a finer mesh is a pattern, not a table.
MAX_PLACES = 12_000

# Gutters: white that parts columns.

# Least width of a gutter.
GUTTER_EMS = 0.35
# Share of the rows that may cross a gutter: heads and notes that span columns.
GUTTER_CROSSING_SHARE = 0.12
# How far a text can reach into a gutter: relative to its height, and at most to its width.
GUTTER_SLACK_HEIGHTS, GUTTER_SLACK_SHARE = 0.4, 0.3
# Lines of one cell are nearer to each other than this share of the usual distance of rows.
WRAPPED_TO_ROW_SPACE = 0.55
# Fraction of rows in separate bands that shows that rules or shades separate rows.
BANDED_SHARE = 0.34
# Share of a piece's width that a rule below it covers when the rule is a cell's.
RULED_OFF_SHARE = 0.7

# Regions: where a table begins and ends on a page without a lattice.

# Ends of rules of one table differ by at most this.
SAME_RULE_END_EMS = 1.5
# A rule this far above or below a region belongs to it.
RULE_TO_TEXT_EMS = 1.5
# By how much a region's rule may reach beyond its text on the left and on the right.
RULE_BEYOND_EMS = 3.0
# Letters this many times as high as usual are those of a letterhead or a title.
HEADLINE_TIMES = 1.4
# Least white between two columns of a region.
REGION_GUTTER_EMS = 0.8
# Most white between the first two rows.
FIRST_ROW_EMS = 3.0
# Most white between two later rows, as a multiple of the usual one.
LATER_ROW_TIMES = 2.0
# White that never ends a table.
TOUCHING_ROW_EMS = 1.2
# A row without columns continues the last one if the white above it is less than this fraction of
# the usual one.
NEAR_ROW_SHARE = 0.7
# A gutter between two tables is this many times wider than the next one, and this wide.
PARTING_GUTTER_TIMES, PARTING_GUTTER_EMS = 2.2, 4.0
# Rows without columns of their own that may follow one after the other.
MOST_PENDING_ROWS = 3
# Rows of a region that define its columns for rows outside.
KNOWN_ROWS = 24
# White above a rule that parts what is below it from what is above.
BAND_EMS = 4.0
# Greatest white between lines of a block of prose, and greatest difference of their left edges.
PROSE_LINE_EMS, PROSE_EDGE_EMS = 1.2, 0.6
# Share of a block's lines that are as long as lines of prose.
PROSE_SHARE = 0.6

# Headers: a row of column names that identifies the table below it.

# Two words next to each other are as often two addresses or signatures.
FEWEST_HEADERS = 3
# Headers side by side on one page; more are a pattern.
MOST_HEADERS = 60
# Rows that are tried as the header of the same text: bounds pages that look like one.
HEADER_TRIES = 4
# How far text can reach under the next header, also as a fraction of its own width.
UNDER_NEXT_HEADER_EMS, UNDER_NEXT_HEADER_SHARE = 0.4, 0.3
# Greatest white between lines of one header.
HEADER_LINE_EMS = 0.5
# Greatest difference of the left edges of words in one column.
HEADER_ASIDE_EMS = 0.5
# Greatest white between the header and the first row.
BELOW_HEADER_EMS = 2.5
# Greatest white between later rows, as a multiple of the usual one.
BELOW_HEADER_ROW_TIMES = 1.7
# Greatest white between lines of one cell, as a fraction of that between rows.
WRAPPED_BELOW_HEADER_SHARE = 0.75

# Heads: rows of header cells.

# Words from which on a piece is as long as a line of running text.
PROSE_WORDS = 6
# Share of a column's filled cells that are numbers when the column is numeric, and of the columns
# when the body is.
NUMERIC_SHARE = 0.5
# Share of the rows that may be a head.
HEAD_ROWS_SHARE = 0.5

# Sifting: regions that are not tables.

# Share of places with text, in rows and columns that have any.
FILLED_SHARE = 0.5
# The same between rules.
RULED_FILLED_SHARE = 0.4
# Least fraction and number of rows with text in two or more columns, for a table found only by
# alignment.
EVIDENCE_SHARE, FEWEST_EVIDENCE = 0.5, 3
# White between rows of text; charts have more.
CHART_WHITE_EMS = 6.0
# Rows of text in one cell that are too many for a cell.
CROWDED_ROWS = 4
# Share of cells with as many.
CROWDED_SHARE = 0.15
# Share of the line breaks in a cell that are for want of room, in wrapped text.
WRAPPED_TEXT_SHARE = 0.6
# Space that a word needs next to the text of its line.
WORD_ROOM_HEIGHTS = 0.8
# Share of pieces that may be as long as lines of prose.
WORDY_SHARE = 0.4
# Share of the rows with a cell that ends in a colon, in a list of keys and values.
LABELS_SHARE = 0.4
# Share of the cells that hold a key and its value, in a list of such pairs.
PAIRS_SHARE = 0.5
# A network's structure is not trusted when fewer of its places have text.
SPARSE_SHARE = 0.4

# Places whose text was overlooked.

# Most places of one table that are read again.
MOST_BLANKS = 150
# Less probable readings are specks.
SURE_BLANK = 0.5
# Ink that is smaller both ways is none.
SPECK_EMS = 0.12
# Higher ink is not a line of text.
TALL_INK_EMS = 1.5
# White left around the ink for the engine.
INK_MARGIN_EMS = 0.35
# Heights of a usual place that the tallest one is sought in.
TALLEST_PLACES = 400

# Tables that continue over pages.

# Rows of text between two parts that stand on one of the pages only: "continued on page 2".
MOST_NOTES = 2
# Texts that are this similar, of 100, are one text that was read twice.
SAME_TEXT_RATIO = 88.0

# Structures: proposed and chosen.

# Fewest texts of a ruled table.
FEWEST_PIECES = 4
# Rules between groups of rows leave at least this multiple of their number of rows of text.
SPLIT_ROWS_TIMES = 1.5
# A structure with this probability is taken without the network.
SURE_STRUCTURE = 0.75
# White between lines of one row that is as much as that between rows.
NEAR_TO_ROW_SPACE = 0.9
# How often text outside the tables that were found is searched for others.
MOST_ROUNDS = 3
# Fewest sideways lines that may be a table on an upright page.
FEWEST_SIDEWAYS = 6
# Most rows of a header without numbers, and the largest part of the table they may be.
MOST_HEADER_ROWS, HEADER_ROWS_SHARE = 3, 0.25
# Most places of a table that the network is asked about: it has no tokens for more.
MOST_NETWORK_PLACES = 600
