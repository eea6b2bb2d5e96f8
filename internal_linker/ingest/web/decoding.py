"""The bytes of an HTML page -> its text, by the encoding that it or its server names, or by the look of it."""

import codecs
import re

# Names of encodings that browsers know; Python knows others, too, that are no encodings of text.
_KNOWN = re.compile(
    r"utf-?8|utf-?16(le|be)?|us-ascii|iso-?8859-\d{1,2}|latin-?\d|windows-\d{3,4}|cp-?\d{3,4}|koi8-[ru]|shift[-_]jis"
    r"|sjis|euc-(jp|kr)|iso-2022-jp|gb2312|gbk|gb18030|big5(-hkscs)?|tis-620|macintosh",
    re.IGNORECASE,
)
# Browsers read the smaller ones as the larger ones that hold them.
_LARGER = {"us-ascii": "cp1252", "iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252"}
_LARGER |= {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-9": "cp1254", "shift_jis": "cp932"}
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_META = re.compile(rb"<meta\b[^>]{0,500}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
# Bytes in which a page must name its encoding; many do so too late.
_HEAD = 4096


def decoded(data: bytes, content_type: str = "") -> str:
    """The text: by its byte order mark, its server's word, its own, else UTF-8 or Windows-1252; never an error.

    Args:
        data: the page.
        content_type: the header of that name, "" without one.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _text(data.removeprefix(codecs.BOM_UTF8), encoding)
    told = re.search(r"charset\s*=\s*[\"']?([^\s;\"']+)", content_type, re.IGNORECASE)
    meta = _META.search(data[:_HEAD])
    for name in (told[1] if told else "", meta[1].decode("ascii") if meta else ""):
        if encoding := _python_name(name, of_meta=not told or name != told[1]):
            return _text(data, encoding)
    try:
        return _text(data, "utf-8", "strict")
    except UnicodeDecodeError:
        return _text(data, "cp1252")


def _python_name(name: str, *, of_meta: bool) -> str:
    """What Python calls it; "" for none that is known."""
    low = name.lower()
    if not _KNOWN.fullmatch(low):
        return ""
    if of_meta and low.startswith("utf-16"):
        # Whoever could read that in the page was not reading UTF-16.
        return "utf-8"
    try:
        return codecs.lookup(_LARGER.get(low, low)).name
    except LookupError:
        return ""


def _text(data: bytes, encoding: str, errors: str = "replace") -> str:
    return data.decode(encoding, errors).replace("\0", "")
