"""Text that is not UTF-8 is read in the encoding of its language, and Western European text in none but its own."""

import io
import re
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from internal_linker.model.errors import InputError
from internal_linker.store.files.encodings import guess, recognise, recognise_open

# What people search for in each language, and the encoding that Excel saves it in there.
QUERIES = {
    "Polish": ("cp1250", "jak parzyć zieloną herbatę", "najlepsze młynki do kawy", "książki o podróżach"),
    "Czech": ("cp1250", "jak připravit zelený čaj", "nejlepší mlýnek na kávu", "příběhy z cest"),
    "Slovak": ("cp1250", "ako pripraviť zelený čaj", "najlepšie mlynčeky na kávu", "príbehy z ciest"),
    "Hungarian": ("cp1250", "zöld tea készítése otthon", "a legjobb kávédarálók", "erdőben tett hosszú séták"),
    "Romanian": ("cp1250", "cum se prepară ceaiul verde", "râşniţe de cafea bune", "cărţi despre călătorii"),
    "Slovenian": ("cp1250", "kako pripraviti zeleni čaj", "najboljši mlinčki za kavo", "knjige o življenju v naravi"),
    "Russian": ("cp1251", "как заварить зелёный чай", "лучшие кофемолки", "книги о путешествиях"),
    "Ukrainian": ("cp1251", "як заварити зелений чай", "найкращі кавомолки", "книжки про подорожі"),
    "Bulgarian": ("cp1251", "как се приготвя зелен чай", "най-добрите кафемелачки", "книги за пътувания"),
    "Greek": ("cp1253", "πώς φτιάχνω πράσινο τσάι", "οι καλύτεροι μύλοι καφέ", "βιβλία για ταξίδια"),
    "Turkish": ("cp1254", "yeşil çay nasıl demlenir", "en iyi kahve değirmenleri", "gezi kitapları ve öyküler"),
    "Turkish of Unix": ("iso8859-9", "yeşil çay nasıl demlenir", "en iyi kahve değirmenleri", "kış için çorbalar"),
    "Hebrew": ("cp1255", "איך מכינים תה ירוק בבית", "מטחנות הקפה הטובות ביותר", "ספרים על טיולים בעולם"),
    "Arabic": ("cp1256", "طريقة تحضير الشاي الأخضر", "أفضل مطاحن القهوة", "كتب عن السفر"),
    "Persian": ("cp1256", "طرز تهيه چاي سبز", "بهترين آسياب‌هاي قهوه", "کتاب‌هايي درباره سفر"),
    "Lithuanian": ("cp1257", "kaip paruošti žaliąją arbatą", "geriausios kavos malūnėlės", "knygos apie keliones"),
    "Latvian": ("cp1257", "kā pagatavot zaļo tēju", "labākās kafijas dzirnaviņas", "grāmatas par ceļojumiem"),
    "Thai": ("cp874", "วิธีชงชาเขียวที่บ้าน", "เครื่องบดกาแฟที่ดีที่สุด", "หนังสือเกี่ยวกับการเดินทาง"),
    "Japanese": ("cp932", "緑茶のおいしい淹れ方", "おすすめのコーヒーミル", "旅についての本"),
    "Korean": ("cp949", "녹차를 맛있게 우리는 방법", "가장 좋은 커피 그라인더", "여행에 관한 책"),
    "Chinese": ("gb18030", "怎样在家里冲泡绿茶", "最好的咖啡研磨机推荐", "关于旅行的书籍"),
    "Chinese of Taiwan": ("cp950", "怎樣在家裡沖泡綠茶", "最好的咖啡研磨機推薦", "關於旅行的書籍"),
    "Russian of Unix": ("koi8-r", "как заварить зелёный чай", "лучшие кофемолки", "книги о путешествиях"),
}  # fmt: skip
# As a remark names them; the rest is called Windows-125x.
NAMES = {
    "iso8859-9": "Windows-1254",
    "cp874": "Windows-874",
    "cp932": "Shift_JIS",
    "cp949": "EUC-KR",
    "gb18030": "GB18030",
    "cp950": "Big5",
    "koi8-r": "KOI8-R",
}
WESTERN = {
    "German": ("grüner Tee für Anfänger", "die schönsten Kaffeemühlen", "Bücher über das Reisen"),
    "French": ("comment préparer le thé vert", "les meilleurs moulins à café", "où voyager en été"),
    "Spanish": ("cómo preparar té verde", "los mejores molinillos de café", "viajar con niños en España"),
    "Portuguese": ("como preparar chá verde", "os melhores moinhos de café", "não viajar sem relógio"),
    "Italian": ("come si prepara il tè verde", "qualità del caffè", "perché viaggiare in città"),
    "Dutch": ("groene thee voor één persoon", "ideeën voor koffie", "reizen door België"),
    "Swedish": ("så gör du grönt te", "de bästa kaffekvarnarna", "böcker om att resa"),
    "Danish": ("sådan laver du grøn te", "de bedste kaffekværne", "bøger om at rejse"),
    "Norwegian": ("slik lager du grønn te", "de beste kaffekvernene på nett", "bøker om å reise"),
    "Finnish": ("näin teet vihreää teetä", "parhaat kahvimyllyt", "kirjoja matkustamisesta ympäri maailmaa"),
    "Icelandic": ("hvernig á að laga grænt te", "bestu kaffikvarnirnar", "bækur um ferðalög og þjóðsögur"),
    "Catalan": ("com es prepara el te verd", "els millors molins de cafè", "què fer a l’estiu"),
    "Irish": ("conas tae glas a dhéanamh", "na muilte caife is fearr", "leabhair faoi thaisteal"),
    "English with signs": ("tea for £5 – today’s offer", "a “good” grinder… 5 °C", "café près de Zürich"),
    "names": ("Citroën", "Müller & Söhne GmbH", "São Tomé"),
    "three letters": ("lúó", "", ""),
}


def table(queries: tuple[str, ...], repeat: int = 1) -> str:
    rows = [
        f"https://www.example.com/page-{number}/;{query}" for number, query in enumerate(queries * repeat)
    ]
    return "\r\n".join(["URL;Main Query", *rows, ""])


@pytest.mark.parametrize("language", QUERIES)
def test_each_language_is_read_in_its_encoding(tmp_path: Path, language: str) -> None:
    encoding, *queries = QUERIES[language]
    name = NAMES.get(encoding, f"Windows-{encoding[2:]}")
    text = table(tuple(queries))
    path = tmp_path / "queries.csv"
    path.write_bytes(text.encode(encoding))
    found = recognise(path)
    assert path.read_bytes().decode(found.encoding) == text
    (remark,) = found.remarks
    assert f"queries.csv is not UTF-8; it was read as {name}. Are some letters wrong? Open it in" in remark


@pytest.mark.parametrize("language", WESTERN)
def test_western_european_text_stays_windows_1252(language: str) -> None:
    """However short and in whatever case."""
    for count in (1, 2, 3):
        text = table(WESTERN[language][:count])
        for written in (text, text.upper()):
            assert guess(written.encode("cp1252", "replace")) == "cp1252", written


# A byte that the encoding lacks, or half a letter.
DAMAGED = {"Polish": b"\x81", "Greek": b"\xff", "Japanese": b"\x88", "Chinese": b"\xb0"}


@pytest.mark.parametrize("language", DAMAGED)
def test_a_damaged_byte_costs_one_letter(tmp_path: Path, language: str) -> None:
    encoding, *queries = QUERIES[language]
    text = table(tuple(queries), 20)
    path = tmp_path / "queries.csv"
    path.write_bytes(text.encode(encoding) + b"https://www.example.com/cut/;" + DAMAGED[language] + b"\r\n")
    found = recognise(path)
    lines = path.read_bytes().decode(found.encoding, "replace").splitlines()
    assert lines == [*text.splitlines(), "https://www.example.com/cut/;\ufffd"]
    assert ", and \ufffd replaces 1 unknown characters" in found.remarks[0]


def test_letters_and_languages_may_lie_anywhere() -> None:
    """A letter of two bytes across two blocks, and a language that begins late."""
    text = "https://www.example.com/;緑茶のおいしい淹れ方とコーヒーミルについての長い文章\r\n" * 15_000
    for shift in range(3):
        raw = b"x" * shift + text.encode("cp932")
        assert recognise_open("pages.csv", io.BytesIO(raw)).encoding == "cp932"
    russian = table(tuple(QUERIES["Russian"][1:]), 5_000).encode("cp1251")
    english = b"https://www.example.com/;plain words\r\n" * 30_000
    assert recognise_open("pages.csv", io.BytesIO(english + russian)).encoding == "cp1251"


@pytest.mark.long
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Of a file of 30 MB a few are in memory at a time."""
    path = tmp_path / "pages.csv"
    row = table(tuple(QUERIES["Russian"][1:])).encode("cp1251")
    path.write_bytes(row * (30_000_000 // len(row)))
    guess(row)  # loads the model of languages
    tracemalloc.start()
    found = recognise(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.encoding == "cp1251"
    assert peak < 20_000_000


def office(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as parts:
        for name in names:
            parts.writestr(name, "application/vnd.oasis.opendocument.spreadsheet" * (name == "mimetype"))
    return content.getvalue()


OPEN, EXPORT, UNPACK = "Open it in a spreadsheet", "Export the table as", "Unpack it"


@pytest.mark.parametrize(
    ("contents", "kind", "remedy"),
    [
        ([b"%PDF-1.4 \n1 0 obj"], "a PDF", EXPORT),
        (
            [
                b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
                b"\xff\xd8\xff\xe0\0\x10JFIF",
                b"GIF89a",
                b"RIFF\x24\0\0\0WEBPVP8 ",
                b"BM\x36\0\0\0\0\0\0\0\x36\0",
                b"\0\0\0\x18ftypheic",
            ],
            "a picture",
            EXPORT,
        ),
        ([b"{\\rtf1\\ansi"], "a rich text document (.rtf)", EXPORT),
        (
            [
                office("[Content_Types].xml", "_rels/.rels", "word/document.xml"),
                office("word/numbering.xml", "word/document.xml"),
            ],
            "a Word document (.docx)",
            EXPORT,
        ),
        (
            [office("[Content_Types].xml", "ppt/presentation.xml")],
            "a PowerPoint presentation (.pptx)",
            EXPORT,
        ),
        ([office("[Content_Types].xml", "xl/workbook.xml")], "an Excel workbook (.xlsx)", OPEN),
        ([office("blog/word/a.html", "blog/xl/b.html")], "a zip archive", UNPACK),
        ([b"\x1f\x8b\x08"], "a gzip archive", UNPACK),
        ([b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)], "an old Excel workbook (.xls), another", OPEN),
    ],
)
def test_another_format_is_named_with_its_own_remedy(
    tmp_path: Path, contents: list[bytes], kind: str, remedy: str
) -> None:
    """A spreadsheet program opens no PDF."""
    path = tmp_path / "table.csv"
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(InputError, match=rf"table\.csv is {re.escape(kind)}.*not a CSV file\. {remedy}"):
            recognise(path)


@pytest.mark.parametrize("text", ["BM;Titel\n1;2\n", "PK,Name\n1,2\n", "II*,b\n", "RIFF,WEBP\n", "%PDF,a\n"])
def test_letters_that_begin_other_formats_may_begin_a_table(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    assert recognise(path).encoding == "utf-8-sig"
