"""Results in files that pages look at again and again: the latest stay in memory until their file changes."""

import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

from starlette.background import BackgroundTask
from starlette.responses import FileResponse

View = TypeVar("View")
# A site of 10,000 pages takes some 30 MB.
_MOST = 4
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


class Views:
    """The results that were looked at last; may be used by several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Path, tuple[int, object]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, path: Path, load: Callable[[], View | None]) -> View | None:
        """Return the result in a file; None if there is none.

        Args:
            path: the file.
            load: reads it.
        """
        try:
            changed = path.stat().st_mtime_ns
        except OSError:
            return None
        with self._lock:
            known = self._kept.get(path)
            if known and known[0] == changed:
                self._kept.move_to_end(path)
                return cast(View, known[1])
        if (view := load()) is not None:
            with self._lock:
                self._kept[path] = changed, view
                if len(self._kept) > _MOST:
                    self._kept.popitem(last=False)
        return view


def download(name: str, write: Callable[[Path], object]) -> FileResponse:
    """Return a workbook as a download.

    Args:
        name: the file's name in the browser.
        write: writes it to a path.
    """
    with tempfile.NamedTemporaryFile(suffix=".xlsx", delete=False) as file:
        path = Path(file.name)
    try:
        write(path)
    except BaseException:
        path.unlink()
        raise
    return FileResponse(path, filename=name, media_type=_XLSX, background=BackgroundTask(path.unlink))
