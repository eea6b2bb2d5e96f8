"""Reads one workbook and writes its cells to standard output; `xlsx_reader` starts it in a process of its own.

It runs without site-packages but for one folder, so it imports nothing of this project.
"""

import pickle
import sys

# Rows that are written at a time, and limits of a sheet: Excel's rows, and cells, twenty times a review workbook's. The
# empty ones before a cell far below count, too.
ROWS, MOST_ROWS, MOST_CELLS = 500, 1_048_576, 5_000_000


def main(folder: str, path: str, name: str, most: str) -> None:
    """Write (sheet, its first column, rows) for each worksheet, in portions; last (None, an error).

    `folder` has the package python_calamine; `name` "" reads all sheets, `most` "0" all rows.
    """
    sys.path.insert(0, folder)
    from python_calamine import CalamineWorkbook, SheetTypeEnum

    out, error = sys.stdout.buffer, ""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib takes longer to import than this to run
            book = CalamineWorkbook.from_filelike(file)
            for each in book.sheets_metadata:
                if each.typ != SheetTypeEnum.WorkSheet or (name and each.name != name):
                    continue
                sheet = book.get_sheet_by_name(each.name)
                column, some = sheet.start[1] if sheet.start else 0, list[object]()
                # These rows begin at row 1, but at the first column with a cell.
                for number, cells in enumerate(sheet.iter_rows() if sheet.start else (), 1):
                    if number > MOST_ROWS or number * len(cells) > MOST_CELLS:
                        raise OverflowError(
                            f"its sheet {each.name} has more than {MOST_ROWS:,} rows or {MOST_CELLS:,} cells"
                        )
                    some.append(cells)
                    if len(some) == ROWS:
                        pickle.dump((each.name, column, some), out)
                        some = []
                    if number == int(most):
                        break
                pickle.dump((each.name, column, some), out)
    except OSError as failure:
        error = failure.strerror or "it can't be opened"
    except OverflowError as failure:
        error = str(failure)
    # The library raises errors of many kinds, and each of them means that the file can't be read.
    except Exception:
        error = "it is damaged or not an Excel file"
    pickle.dump((None, error), out)
    out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
