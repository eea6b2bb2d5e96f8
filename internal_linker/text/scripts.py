"""The scripts of the world -> classes of characters, for patterns that find where words begin and end."""

import re

# Signs that are part of a word and that `\w` leaves out: vowel and accent marks, Indic vowel signs, (non-)joiners.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0dff\u200c\u200d"
)
# Scripts in which words stand without a space between: Thai to Tibetan, Burmese, Khmer, kana, Han.
UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u3190-\u31ff\u3400-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Hangul: words have spaces, and particles are written onto them.
HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc"
# Scripts in which a word ends without a space.
RUN_ON = UNSPACED + HANGUL
# A place between two characters of one word.
INSIDE = re.compile(rf"(?<=[\w{MARKS}])(?=[\w{MARKS}])(?<![{RUN_ON}])(?![{RUN_ON}])")
