"""Detecting a page's language: only if it is certain, and without splitting one site."""

import pytest

from internal_linker.text.language import detect, detect_among, page_languages, share_of

SENTENCES = {
    "ar": "تساعد الروابط الداخلية القراء على العثور على الصفحات التي يحتاجون إليها وتوجه محركات البحث إلى المهم منها.",
    "bn": "অভ্যন্তরীণ লিংক পাঠকদের প্রয়োজনীয় পৃষ্ঠা খুঁজে পেতে সাহায্য করে এবং সার্চ ইঞ্জিনকে পথ দেখায়।",
    "cs": "Interní odkazy pomáhají čtenářům najít stránky, které potřebují, a ukazují vyhledávačům, co je důležité.",
    "da": "Interne links hjælper læserne med at finde de sider, de har brug for, og viser, hvad der er vigtigt.",
    "de": "Interne Links helfen den Lesern, die passenden Seiten zu finden, und zeigen, welche Seiten wichtig sind.",
    "el": "Οι εσωτερικοί σύνδεσμοι βοηθούν τους αναγνώστες να βρουν τις σελίδες που χρειάζονται.",
    "en": "Internal links help readers find the pages they need and show search engines which pages matter most.",
    "es": "Los enlaces internos ayudan a los lectores a encontrar las páginas que necesitan y guían a los buscadores.",
    "fa": "پیوندهای داخلی به خوانندگان کمک می‌کنند صفحه‌های لازم را پیدا کنند و به موتورهای جستجو راه نشان می‌دهند.",
    "fr": "Les liens internes aident les lecteurs à trouver les pages utiles et montrent aux moteurs ce qui compte.",
    "he": "קישורים פנימיים עוזרים לקוראים למצוא את הדפים שהם צריכים ומראים למנועי החיפוש מה חשוב.",
    "hi": "आंतरिक लिंक पाठकों को ज़रूरी पृष्ठ खोजने में मदद करते हैं और खोज इंजनों को रास्ता दिखाते हैं।",
    "it": "I collegamenti interni aiutano i lettori a trovare le pagine di cui hanno bisogno e guidano i motori.",
    "ja": "内部リンクは、読者が必要なページを見つけるのを助け、どのページが重要かを検索エンジンに伝えます。",
    "ko": "내부 링크는 독자가 필요한 페이지를 찾도록 돕고 어떤 페이지가 중요한지 검색 엔진에 알려 줍니다.",
    "nl": "Interne links helpen lezers de pagina's te vinden die ze nodig hebben en laten zien wat belangrijk is.",
    "no": "Interne lenker hjelper leserne med å finne sidene de trenger, og viser søkemotorene hva som er viktigst.",
    "pl": "Linki wewnętrzne pomagają czytelnikom znaleźć potrzebne strony i pokazują, które z nich są ważne.",
    "ps": "داخلي لینکونه له لوستونکو سره مرسته کوي چې اړین مخونه ومومي او د لټون ماشینونو ته لاره ښيي.",
    "pt": "As ligações internas ajudam os leitores a encontrar as páginas de que precisam e orientam os motores.",
    "ru": "Внутренние ссылки помогают читателям находить нужные страницы и показывают поисковым системам, что важно.",
    "sv": "Interna länkar hjälper läsarna att hitta de sidor de behöver och visar vilka sidor som är viktigast.",
    "ta": "உள் இணைப்புகள் வாசகர்கள் தேவையான பக்கங்களைக் கண்டறிய உதவுகின்றன, தேடுபொறிகளுக்கும் வழி காட்டுகின்றன.",
    "th": "ลิงก์ภายในช่วยให้ผู้อ่านพบหน้าที่ต้องการและบอกเครื่องมือค้นหาว่าหน้าใดสำคัญที่สุด",
    "tr": "İç bağlantılar okuyucuların ihtiyaç duydukları sayfaları bulmasına yardımcı olur ve yol gösterir.",
    "ug": "ئىچكى ئۇلانمىلار ئوقۇرمەنلەرنىڭ ئېھتىياجلىق بەتلەرنى تېپىشىغا ياردەم بېرىدۇ.",
    "uk": "Внутрішні посилання допомагають читачам знаходити потрібні сторінки й показують, що важливо.",
    "ur": "اندرونی روابط قارئین کو مطلوبہ صفحات تلاش کرنے میں مدد دیتے ہیں اور سرچ انجنوں کو راستہ دکھاتے ہیں۔",
    "vi": "Liên kết nội bộ giúp người đọc tìm thấy những trang họ cần và cho biết trang nào quan trọng.",
    "zh": "内部链接帮助读者找到他们需要的页面,并告诉搜索引擎哪些页面最重要。",
}
CODE = (
    "const app = createApp({ setup(props, ctx) { const x = ref(0); watch(x, (n, o) => { log(n, o) }) } });\n"
)
PRODUCTS = (
    "SKU 12345 ABC-123 XL/XXL 12.5mm v1.2.3 DEF-456 https://a.example/c?d=e GHI-789 JKL MNO-PQR STU-99 VWX-0"
)
# The detector takes the menu for partly Italian: surer than a guess, less sure than of Italian sentences.
MENU = "Pizza Margherita Prosciutto Funghi Quattro Formaggi Tiramisu Espresso Cappuccino"


@pytest.mark.parametrize(("language", "sentence"), SENTENCES.items())
def test_one_sentence(language: str, sentence: str) -> None:
    assert detect(sentence) == language


@pytest.mark.parametrize(
    "text",
    [
        *("", "   \n", "Contact", "Kontakt und Impressum", "تماس با ما", "1234 5678 " * 20),
        "Die Leser finden die passenden Seiten bei uns",
        SENTENCES["zh"][:13],
    ],
)
def test_too_short(text: str) -> None:
    assert detect(text) == ""


def test_just_long_enough() -> None:
    assert detect("Die Leser finden die passenden Seiten bei uns sofort") == "de"
    assert detect(SENTENCES["zh"][:14]) == "zh"


@pytest.mark.parametrize(
    "text",
    [
        PRODUCTS,
        "Nike Air Max Adidas Ultraboost Puma Suede Classic Reebok Club Asics Gel Kayano Saucony",
        "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore.",
    ],
)
def test_no_language(text: str) -> None:
    assert detect(text) == ""


@pytest.mark.parametrize("language", ["ar", "fa", "hi", "ja", "ru"])
def test_page_full_of_code(language: str) -> None:
    assert detect(CODE + (SENTENCES[language] + "\n" + CODE) * 3) == language


def test_english_header() -> None:
    assert detect(SENTENCES["en"] + "\n" + SENTENCES["de"] * 10) == "de"


def test_persian_typed_with_arabic_keys() -> None:
    for text in (SENTENCES["fa"], "برای دم کردن چای کتری را پر کنید و یک قاشق چای را در قوری بریزید"):
        assert detect(text.replace("ی", "ي").replace("ک", "ك")) == "fa"


def test_arabic_typed_with_persian_keys() -> None:
    for text in (SENTENCES["ar"], "يمكن تحضير القهوة في البيت بطريقة سهلة وسريعة من دون آلة"):
        assert detect(text.replace("ي", "ی").replace("ك", "ک")) == "ar"


def test_broken_text() -> None:
    assert detect("\ud800 " + SENTENCES["en"]) == "en"


def test_given_language_is_kept() -> None:
    """A given language stays, even against the text; only missing languages are detected."""
    texts = [SENTENCES["en"], SENTENCES["en"], SENTENCES["fa"], "Contact"]
    assert page_languages(texts, ["de", "", "", "fr"]) == ["de", "en", "fa", "fr"]


def test_no_language_column() -> None:
    texts = [SENTENCES["fa"]] * 5 + [SENTENCES["ar"]] * 5 + ["404"]
    assert page_languages(texts, [""] * 11) == ["fa"] * 5 + ["ar"] * 5 + [""]


def test_doubtful_page_does_not_split_the_site() -> None:
    """A single half-Italian page doesn't become Italian; many such pages do."""
    assert detect(MENU) == "it"
    assert page_languages([SENTENCES["en"]] * 9 + [MENU], [""] * 10) == ["en"] * 9 + [""]
    assert page_languages([SENTENCES["en"]] * 9 + [MENU] * 3, [""] * 12) == ["en"] * 9 + ["it"] * 3


def test_single_page_beyond_doubt() -> None:
    assert page_languages([SENTENCES["en"]] * 300 + [SENTENCES["fr"]], [""] * 301)[-1] == "fr"


@pytest.mark.parametrize(("language", "code"), [("no", "nb"), ("no", "nn"), ("en", "eng"), ("en", "en")])
def test_detected_language_is_called_as_the_site_calls_it(language: str, code: str) -> None:
    assert page_languages([SENTENCES[language]] * 3, [code, code, ""]) == [code] * 3


def test_common_code_wins_over_a_rare_one() -> None:
    assert page_languages([SENTENCES["en"]] * 3, ["eng", "en", ""])[-1] == "en"


def test_no_pages() -> None:
    assert page_languages([], []) == []


@pytest.mark.parametrize(
    ("title", "languages", "found"),
    [
        ("قهوه در خانه", ("ar", "en", "fa"), "fa"),
        ("طريقة تحضير القهوة", ("ar", "fa"), "ar"),
        ("Kaffee kochen wie im Café", ("de", "en", "fr"), "de"),
        ("espresso", ("de", "en", "it"), ""),
        ("V60", ("de", "en"), ""),
        ("Kaffee", ("xx",), ""),
        ("", (), ""),
    ],
)
def test_a_title_is_told_among_few_languages(title: str, languages: tuple[str, ...], found: str) -> None:
    """A few words are enough if a site's languages are known; ambiguous words give no language."""
    assert detect_among(title, languages) == found


def test_without_a_known_language_every_share_is_0() -> None:
    assert share_of(SENTENCES["en"], [], []) == 0.0
