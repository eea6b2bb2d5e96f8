"""Pages that say of themselves that they are deprecated, archived or no longer maintained, in many languages."""

import re
from collections.abc import Sequence

# Letters at the beginning of a text where such a notice stands.
_FIRST_LETTERS = 300
# A label of a title: in brackets, or before or after a colon, a bar or a dash. "Modernizing legacy systems" has none.
_WORDS = (
    "deprecated|obsolete|archived|legacy|retired|discontinued|outdated|"
    "veraltet|archiviert|eingestellt|obsolète|archivé|déprécié|obsoleto|obsoleta|archivado|archiviato|deprecato|"
    "arquivado|descontinuado|verouderd|gearchiveerd|föråldrad|arkiverad|forældet|arkiveret|foreldet|arkivert|"
    "being deleted|to be deleted|(?:marked|scheduled) for deletion|wird gelöscht|à supprimer|"
    "vanhentunut|arkistoitu|przestarzałe|zarchiwizowane|zastaralé|archivováno|устарело|устаревший|застаріло|"
    "kullanımdan kaldırıldı|arşivlendi|elavult|archivált|învechit|arhivat|παρωχημένο|αρχειοθετημένο|"
    "مهمل|مؤرشف|متوقف|منسوخ|بایگانی‌شده|بایگانی شده|已废弃|已弃用|已归档|已过时|非推奨|廃止|アーカイブ済み|"
    "지원 종료|더 이상 사용되지 않음"
)
_LABEL = re.compile(
    rf"[(\[【（]\s*(?:{_WORDS})\s*[)\]】）]|^\s*(?:{_WORDS})\s*(?:[:|–—-]|$)|[:|–—-]\s*(?:{_WORDS})\s*$",
    re.IGNORECASE,
)
_IN_URL = re.compile(r"/(?:deprecated|obsolete|archived|legacy|retired)(?:/|$)", re.IGNORECASE)
_PAGE = r"(?:\w+ )?(?:page|article|post|document|guide|section|feature|service|product|project|package|site)"
_NOTICES = (
    r"\A\W*deprecated\b\W*[:.!–—-]",
    rf"\bthis {_PAGE} (?:is (?:now |currently )?being|will (?:soon )?be|is (?:going|due|about) to be) "
    r"(?:deprecated|deleted|removed|archived|retired|discontinued|shut down)\b",
    rf"\bthis {_PAGE} (?:is|was|has been) (?:scheduled|marked) for (?:deletion|removal)\b",
    r"\bdiese (?:seite|dokumentation) wird (?:bald |demnächst )?(?:gelöscht|entfernt)\b",
    r"\bcette page (?:sera|va être) (?:bientôt )?supprimée\b|\besta página (?:será|va a ser) eliminada\b",
    r"\bquesta pagina (?:sarà|verrà) (?:eliminata|rimossa)\b|\besta página será (?:removida|excluída)\b",
    r"\bdeze pagina wordt (?:binnenkort )?verwijderd\b",
    r"\bno longer (?:being )?(?:actively )?(?:maintained|supported|updated|in use)\b",
    r"\bth(?:is|e) (?:\w+ ){1,3}(?:is|was|has been) (?:now )?(?:deprecated|obsolete|archived|retired|outdated)\b",
    r"\bnicht (?:mehr|länger) (?:gepflegt|unterstützt|aktualisiert|gewartet)\b|\bist (?:veraltet|archiviert)\b",
    r"\bn['’]est plus (?:maintenu|mis à jour|pris en charge|supporté)e?\b|\best (?:obsolète|archivé)e?\b",
    r"\bya no se (?:mantiene|actualiza|admite)\b|\b(?:está|es) (?:obsolet|archivad)[oa]\b",
    r"\bnon (?:è|viene) più (?:mantenut|aggiornat|supportat)[oa]\b",
    r"\bnão é mais (?:mantid|atualizad|suportad)[oa]\b",
    r"\bniet (?:langer|meer) (?:onderhouden|ondersteund|bijgewerkt)\b",
    r"\bбольше не (?:поддерживается|обновляется)\b",
    r"\bartık (?:desteklenmiyor|güncellenmiyor)\b",
    r"لم (?:يعد|تعد) (?:مدعوم|تدعم|يدعم|تحدث)",
    r"دیگر (?:پشتیبانی|به‌روزرسانی|نگهداری) نمی",
    r"不再(?:维护|更新|支持)",
    r"(?:メンテナンス|更新|サポート)されていません",
    r"더 이상 (?:지원|유지|업데이트)되지",
)
_NOTICE = re.compile("|".join(_NOTICES), re.IGNORECASE)
# Each notice has one of these, which most texts lack: to look for them takes a tenth of the time of the expression.
_IN_NOTICES = (
    *(
        "deleted",
        "removed",
        "discontinued",
        "shut down",
        "for deletion",
        "for removal",
        "gelöscht",
        "entfernt",
    ),
    *("supprimée", "eliminada", "eliminata", "rimossa", "removida", "excluída", "verwijderd"),
    *("no longer", "deprecated", "obsolet", "archived", "retired", "outdated", "nicht mehr", "nicht länger"),
    *(
        "veraltet",
        "archiviert",
        "est plus",
        "obsolète",
        "archivé",
        "ya no se",
        "archivad",
        " più ",
        "não é mais",
    ),
    *("niet langer", "niet meer", "больше не", "artık", "لم ", "دیگر", "不再", "されていません", "더 이상"),
)


def is_deprecated(url: str, names: Sequence[str], text: str) -> bool:
    """Return whether a page says that it is deprecated: a folder of its URL, a label of its title or H1, or a notice in
    the first lines of its text.
    """
    if _IN_URL.search(url) or any(_LABEL.search(name) for name in names):
        return True
    beginning = text[:_FIRST_LETTERS]
    lower = beginning.lower()
    return any(words in lower for words in _IN_NOTICES) and bool(_NOTICE.search(beginning))
