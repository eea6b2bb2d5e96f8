"""What WordPress removes when a user without the right `unfiltered_html` saves a post."""

import re

# Elements and attributes that its filter keeps for everyone. What else it keeps depends on the site.
_NAMES = (
    "a abbr b blockquote br cite code dd del div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img li mark ol p "
    "pre q s small span strong sub sup table tbody td tfoot th thead tr u ul"
)
_ATTRIBUTE = r' (?:class|id|href|title|rel|target|src|alt|width|height|lang|dir|data-[a-z-]+)="[^"<>&]*"'
_ELEMENT = rf"</?(?:{_NAMES.replace(' ', '|')})(?:{_ATTRIBUTE})*(?: /)?>"
# A block's comment; its attributes only as the filter writes them itself: JSON without spaces and escapes.
_VALUE = r'(?:"[^"\\<>&]*"|-?\d+|true|false)'
_BLOCK = rf'<!-- /?wp:[a-z0-9/-]+ (?:\{{(?:"[\w-]+":{_VALUE}(?:,(?="))?)+\}} )?/?-->'
_ENTITY = r"&(?:amp|lt|gt|quot|nbsp|#\d{2,5});"
_KEPT = re.compile("|".join((_ELEMENT, _BLOCK, _ENTITY)))
# An address with another scheme loses it.
_SCHEME = re.compile(r'="(?!https?:|mailto:|tel:)[^"/?#]*:')


def survives_filter(content: str) -> bool:
    """Return whether a post's content surely stays as it is when such a user saves it."""
    return not (re.search("[<>&\0]", _KEPT.sub("", content)) or _SCHEME.search(content))
