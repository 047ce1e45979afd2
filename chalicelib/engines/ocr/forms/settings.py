"""Thresholds and weights for finding keys and values of forms, relative to the text height.

The end of a name shows the unit. `_HEIGHTS` are multiples of the height of the compared text.
`_PIXELS` are pixels of the raster as read. Fractions and weights are 0 to 1, counts are whole
numbers. The weight of each direction from key to value is in values/candidates.py. `make bench-ocr
ARGS="--only form"` and `--only documents` measure the effect of a change.
"""

from __future__ import annotations

# Lines and columns of the whole page.

# Minimum overlap of two texts in one line, as a fraction of the smaller height. Also the minimum
# overlap of two boxes of the same text, as a fraction of the smaller box.
SAME_LINE_SHARE = 0.5
# Minimum ratio of the heights of two texts that belong together: lines of one key or of one value,
# keys of one row.
SAME_SIZE = 0.65
# Minimum ratio of the heights of two lines in the same print: two lines of an address, but not a
# small caption and its value.
SAME_PRINT = 0.9
# Maximum distance between the middles of centred lines, of a column's numbers, of a row's keys.
SAME_MIDDLE_HEIGHTS = 0.6
# Maximum number of words in a column's caption. Also before a date or an amount that is a value.
COLUMN_CAPTION_WORDS = 2
# A page with a smaller angle is not rotated.
LEAST_TILT_RADIANS = 0.002
# The boxes of two consecutive texts, or lines of one text, may overlap by this much.
OVERLAP_HEIGHTS = 0.6
# Maximum number of texts of one kind on a page (sentences, towns, headers, leading numbers, spaced
# digits, matches of a key). With more, the page is not a form, or further ones are ignored.
MOST_ALIKE = 400

# Ruled lines.

# A ruled line may reach this far into the rectangle of a text.
IN_RULE_HEIGHTS = 0.3
# A ruled line that separates two texts is this much longer than both. An underline is shorter.
RULE_BEYOND_HEIGHTS = 1.5
# A vertical line that splits a text extends this far above and below it.
RULE_OVER_TEXT_HEIGHTS = 0.5
# Maximum gap between two parts of one drawn line.
RULE_JOINT_PIXELS = 3.0

# Spelling: how a key may be misread.

# Keys up to this length must be read without error, as whole words.
EXACT_KEY_CHARACTERS = 3
# LEAST_RATIO is the minimum similarity, 0 to 100, of a read text and its key. For longer keys, it
# is 100 minus ONE_ERROR_RATIO divided by the number of letters, so that one letter may be wrong.
# LONG_RATIO is enough for texts of any length.
LEAST_RATIO, ONE_ERROR_RATIO, LONG_RATIO = 82.0, 110.0, 95.0

# Keys: texts of the template that are printed on the page.

# Maximum number of lines of one key, and of lines that continue a printed sentence.
KEY_LINES = 3
# Maximum difference between the left edges of the lines of one key. If it is larger, the middles or
# right edges may differ by at most the second value.
KEY_SAME_START_HEIGHTS, KEY_SAME_MIDDLE_HEIGHTS = 2.0, 1.5
# Number of following segments among which the next line of a key is searched.
KEY_REACH = 40
# If one segment has a higher fraction of a key's letter pairs, it contains the whole key.
WHOLE_KEY_SHARE = 0.97
# Minimum fraction of a key's letter pairs in a text: two errors in ten letters affect four of nine
# pairs.
LETTER_PAIRS_SHARE = 0.45
# Maximum difference between the similarities of an alignment and of whole words, 0 to 100 each.
ALIGNMENT_SLACK = 10.0
# Keys over several lines are searched only if keys times units is at most this number.
MOST_KEYS_TIMES_UNITS = 50_000_000
# MOST_KEY_MATCHES is the maximum number of pairs of key and line to compare, the likeliest first,
# and of matches of all keys. MOST_LETTERS_LOOKED_AT limits the time for long texts: it is the
# maximum of the letters of key times letters of line, summed over all pairs.
MOST_KEY_MATCHES, MOST_LETTERS_LOOKED_AT = 20_000, 30_000_000
# Maximum number of searches for one key in one line. Also the maximum number of rounds in which the
# keys found so far help to find others.
KEY_REPEATS = 6
# Minimum score of a match; below it, texts are similar by chance. A field with a lower fit may be
# replaced by a name or address that was found without a caption.
KEY_SCORE = 0.4
# Maximum number of words after a key that is not part of a sentence; before it, half as many. Also
# the maximum number of words in a label.
FEW_WORDS_AROUND_KEY = 6
# KEY_BEHIND_SENTENCE is the factor of a key after the end of a sentence, or of a key with a colon
# after any text. KEY_BEHIND_OTHER_TEXT is the factor of a short key after any other text.
KEY_BEHIND_SENTENCE, KEY_BEHIND_OTHER_TEXT = 0.85, 0.3
# Factor of a longer key after many words.
KEY_BEHIND_MANY_WORDS = 0.45
# Factor of a key before few words, and of a short key whose upper and lower case differ from the
# template. Also of words right after a key without a colon, which may be the rest of a heading.
# The square is the similarity of a caption that lacks a word of its key, and the highest
# probability of the caption's value.
KEY_BEFORE_FEW_WORDS = 0.93
# Factor for each further line of a key, because texts below each other may be separate.
KEY_LINE_FACTOR = 0.98
# Factor of a key before a verb, because a sentence mentions the key. Also of a key in the middle of
# a name, and of a longer key after few words.
KEY_IN_PROSE = 0.6
# Factor of a text in small letters if the template has a capital, as in running text. Also of a key
# before many words, or before a label.
KEY_IN_SMALL_LETTERS = 0.8
# Of equally similar keys, longer ones get a higher score, up to this number of letters.
LONG_KEY_CHARACTERS, LONG_KEY_BONUS = 20, 0.1
# Maximum number of additional matches of a key, from which its value is chosen.
SPARE_KEY_PLACES = 8

# Texts that are neither keys nor values: labels, captions, sentences.

# Minimum number of captions with the same feature, such as a number or a value in their box, that
# show a rule of the form. Also the number of nearest other values whose directions are compared.
FEWEST_CAPTIONS = 4
# Minimum fraction of the texts next to keys that may be second captions, as they have no digits.
SECOND_CAPTION_SHARE = 0.8
# Minimum confidence that a text is a street or another part of an address: in a value, above a
# town, and after the number of a caption.
STREET_CERTAINTY = 0.8
# Number of first rows of a table that may be column headers according to the template.
HEADER_ROWS = 3

# Types of values.

# Number of characters of a text that are searched for its type.
LONGEST_TYPED_CHARACTERS = 400
# MISFIT is the factor of a text without the type, and of an address without a number. FIT is the
# factor of a text that contains the type, and NAME_FIT that of a text that may be a name.
MISFIT, FIT, NAME_FIT = 0.25, 1.15, 1.05
# Maximum number of words in a name.
NAME_WORDS = 8
# Minimum number of digits of a number in one-character boxes.
COMB_DIGITS = 4

# Positions of values relative to their keys.

# Maximum gap between a key or a header and the text below it; between the end of a key and the
# start of a value below; after a colon; and between characters in one-character boxes. Also the
# maximum height of a text in the line of a key.
BELOW_HEIGHTS = 3.0
# Maximum gap between a key and the text above it.
ABOVE_HEIGHTS = 1.5
# The distances from a key to the texts of one row below it differ by at most this much.
SAME_ROW_HEIGHTS = 0.8
# Distances at which the factor for nearness falls to a third.
DECAY_RIGHT_HEIGHTS, DECAY_BELOW_HEIGHTS, DECAY_ABOVE_HEIGHTS = 60.0, 2.5, 1.2
# A gap of this height below or above a key is normal, and does not lower the factor for nearness.
LINE_SPACE_HEIGHTS = 0.4
# OUT_OF_LINE is the factor of a value below or above a key that is not aligned with the key.
# BEHIND_KEY is the factor of one that begins right of the end of the key.
OUT_OF_LINE, BEHIND_KEY = 0.8, 0.65
# PLACE_WEIGHT is the factor of directions that values/candidates.py does not name.
# LABEL_LIKE_FACTOR is the factor of a text of caption words, of a text next to a key if both have a
# number below, and of a number in one-character boxes that skips a box.
PLACE_WEIGHT, LABEL_LIKE_FACTOR = 0.95, 0.4

# Boxes that contain a value.

# BOX_ROOM_HEIGHTS is the minimum space for a value below the key of a box. TALLEST_BOX_HEIGHTS is
# the maximum height of such a box, and the maximum gap between two digits in one-character boxes.
BOX_ROOM_HEIGHTS, TALLEST_BOX_HEIGHTS = 0.7, 12.0
# A horizontal distance is divided by this to compare it with a vertical distance.
WIDE_BOX_TIMES = 4.0

# Digits in one-character boxes.

# Minimum and maximum distance from one box to the next. Digits of normal text are half as wide as
# the minimum.
BOX_PITCHES_HEIGHTS = (0.9, 2.4)
# Maximum offset of a digit from the middle of its box, as a fraction of the distance between boxes.
# Also the maximum difference between width and height of a tick box, or between the widths of two,
# and the space next to one, where letters have their neighbours, as fractions of the width.
BOX_OFF_SHARE = 0.25
# Maximum distance between two rows of boxes, in distances from box to box.
BOX_ROWS_APART = 2.0
# FEWEST_BOXED_DIGITS is the minimum number of digits that show where the other boxes are, and of
# repeated numbers that show a column of line numbers. MOST_BOXES is the maximum in a row.
FEWEST_BOXED_DIGITS, MOST_BOXES = 2, 24
# Maximum number of rows of boxes that are read again. Also of equal row labels of a pay statement,
# and of lines of a value.
MOST_BOX_ROWS = 20
# Width of a box without the ticks at its sides; minimum ink of a digit, as a fraction of that of
# other digits; maximum variation of the brightness of the paper.
BOX_CORE_SHARE, LEAST_BOX_INK_SHARE, BOX_PAPER_NOISE = 0.66, 0.3, 48
# Maximum number of digits that may be read differently as part of the whole number.
MOST_BOX_DIFFERENCES = 1

# Choice of a value.

# Votes for right, below and above before any key has voted.
DIRECTION_PRIOR = (1.0, 0.8, 0.1)
# Weight of a vote between a key with and a key without colon, and between keys in the same row.
STRANGER_VOTE, NEIGHBOUR_VOTE = 0.3, 4.0
# Factor of a candidate in a direction for which no key voted.
DIRECTION_FLOOR = 0.25
# Minimum score of a value; below it, the key counts as empty.
VALUE_SCORE = 0.26
# A distance between characters in boxes that is this many times the usual distance skips a box.
COMB_GAP_STEPS = 1.5
# Score of a number that is found by its row and its column.
CROSSED_CERTAINTY = 0.9

# Probability of a value.

# Minimum probability that is assumed for a line; maximum number of misread characters that counts.
LEAST_LINE_PROBABILITY, MOST_MISREAD = 0.01, 2.0
# FEWEST_AMOUNTS is the minimum number of amounts with (or without) cents that show the notation of
# a page. Also of captions above or left of values that show a table. There must be
# USUAL_AMOUNT_TIMES as many amounts in this notation as in the other.
FEWEST_AMOUNTS, USUAL_AMOUNT_TIMES = 3, 4
# Maximum probability of an amount in another notation: on worn forms, 3 of 20 were right.
ODD_AMOUNT_CERTAINTY = 0.2

# Values of several words and lines.

# Maximum number of fragments that are joined in one line.
VALUE_FRAGMENTS = 50
# The upper edges of texts in the same line may differ by this much.
HIGHER_UP_HEIGHTS = 4.0
# Maximum gap between two parts of a key or value in one line. A space is a third of this; on
# typewriters it is two thirds.
WORD_GAP_HEIGHTS = 1.25
# Minimum gap to a caption word; closer words continue a value.
CAPTION_GAP_HEIGHTS = 0.4
# Larger letters whose vertical offset is at least this are a separate text.
OFF_LEVEL_HEIGHTS = 0.3
# Maximum gap between values of one key in several columns, and before unassigned text that may be
# the rest of a value. FAR_GAP_SHARE is a fraction of the gap between key and value.
FAR_GAP_HEIGHTS, FAR_GAP_SHARE = 8.0, 0.5
# Maximum gap between two lines of a value or a sentence; and of a key, or of a name and an address.
LINE_GAP_HEIGHTS, PRINTED_LINE_GAP_HEIGHTS = 0.75, 1.0
# Minimum probability of a single character that certainly is one.
CLEAR_CHARACTER = 0.85
# A line is full, so that its text may continue below, if it ends at FULL_LINE_SHARE of the page's
# text or further right, and FULL_LINE_HEIGHTS from the beginning of the key. FULL_LINE_SHARE is
# also the fraction of a text that an underline covers, and the fraction of the best score of a key
# that further matches have.
FULL_LINE_SHARE, FULL_LINE_HEIGHTS = 0.85, 15.0

# Numbered lines and pay statements.

# Minimum fraction of a column's numbers that are larger than the number above.
GROWING_SHARE = 0.8
# Maximum horizontal distance between a number and its column's header, and between the left ends
# of the lines of an address.
HEADER_OFFSET_HEIGHTS = 1.0

# Blocks of a name and an address without a caption.

# Maximum number of lines of the name in a block.
HOLDER_NAME_LINES = 2
# Minimum confidence that a line is the name of a firm.
FIRM_CERTAINTY = 0.5

# Tick boxes.

# Smallest and largest side of a tick box; also the smallest one in pixels.
TICK_BOX_HEIGHTS, LEAST_TICK_BOX_PIXELS = (0.55, 1.7), 9
# Minimum fraction of ink inside a ticked box, and maximum fraction; pictures have more.
TICK_INK_SHARES = (0.07, 0.6)
