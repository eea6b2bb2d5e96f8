"""Words by which captions and lists of related pages are known, in the languages of most sites, folded by case."""

# With a number: "Figure 1: ...", "Abb. 3 - ...".
NUMBERED = frozenset(
    """figure fig table listing chart diagram exhibit image photo plate abbildung abb tabelle bild diagramm tableau
    schéma graphique figura tabla cuadro gráfico ilustración imagen foto tabela quadro imagem tabella grafico
    immagine afbeelding figuur tabel grafiek rysunek rys zdjęcie wykres рис рисунок таблица таблиця график şekil
    tablo resim görsel figur tabell kuva taulukko kuvio obrázek obr tabulka ábra táblázat imaginea tabelul
    εικόνα πίνακας σχήμα איור טבלה תמונה شكل الشكل جدول الجدول صورة الصورة شکل تصویر चित्र तालिका gambar hình
    bảng ảnh รูปที่ ภาพที่ ตารางที่ 図 表 图 圖 写真 그림 표 사진""".split()
)
# With a colon: "Source: ...", "Photo: ...".
CREDITED = frozenset(
    """image images photo photos photograph picture illustration source sources credit credits caption screenshot
    bild bilder foto fotos quelle quellen bildquelle bildnachweis bildrechte crédit crédits légende fuente
    fuentes imagen imágenes fotografía crédito créditos fonte fontes imagem imagens fonti immagine immagini bron
    bronnen afbeelding źródło źródła zdjęcie zdjęcia источник источники фото изображение иллюстрация джерело
    джерела зображення світлина kaynak kaynaklar görsel fotoğraf källa källor kilde kilder billede bilde lähde
    lähteet kuva kuvat zdroj zdroje forrás kép sursa πηγή φωτογραφία εικόνα מקור מקורות צילום תמונה المصدر مصدر
    المصادر صورة الصورة منبع منابع تصویر عکس स्रोत चित्र sumber gambar nguồn ảnh ที่มา ภาพ 出典 画像 写真 図
    来源 來源 图片来源 圖片來源 图片 圖片 图 圖 출처 사진 이미지""".split()
) | {
    "photo credit",
    "photo credits",
    "image credit",
    "image credits",
    "image source",
    "crédit photo",
    "crédits photo",
}
# With a name: "Photo by ...", "Foto: ...", "Image courtesy of ...".
PICTURES = frozenset(
    """photo photos photograph image images picture pictures illustration illustrations screenshot graphic graphics
    artwork foto fotos bild bilder grafik imagen fotografía imagem fotografia immagine afbeelding zdjęcie
    фото""".split()
)
MADE_BY = frozenset("by courtesy via © von av af de par di por da do door autor автор".split())
# The heading of a list of related pages, or what stands before it.
SEE_ALSO = frozenset(
    line.strip()
    for line in """see also
    related
    related articles
    related posts
    related pages
    related links
    related content
    related resources
    related reading
    related topics
    related documentation
    related stories
    further reading
    further information
    further resources
    additional resources
    additional reading
    additional links
    more resources
    more information
    more reading
    more articles
    more posts
    other resources
    useful links
    useful resources
    external links
    links
    resources
    references
    bibliography
    footnotes
    recommended reading
    recommended articles
    read more
    read next
    read also
    learn more
    up next
    next step
    next steps
    what's next
    what’s next
    where to go next
    you might also like
    you may also like
    siehe auch
    weiterführende links
    weiterführende informationen
    weiterlesen
    mehr zum thema
    verwandte artikel
    verwandte themen
    ähnliche artikel
    lesen sie auch
    nächste schritte
    quellen
    voir aussi
    à lire aussi
    lire aussi
    articles liés
    articles connexes
    articles similaires
    pour aller plus loin
    en savoir plus
    prochaines étapes
    ressources
    liens utiles
    véase también
    ver también
    lee también
    te puede interesar
    artículos relacionados
    recursos
    recursos adicionales
    más información
    enlaces relacionados
    próximos pasos
    veja também
    leia também
    leia mais
    artigos relacionados
    próximos passos
    vedi anche
    leggi anche
    articoli correlati
    per saperne di più
    zie ook
    lees ook
    lees meer
    gerelateerde artikelen
    zobacz też
    zobacz także
    czytaj też
    czytaj także
    czytaj więcej
    powiązane artykuły
    см. также
    смотрите также
    читайте также
    полезные ссылки
    похожие статьи
    ссылки
    див. також
    дивіться також
    читайте також
    ayrıca bakınız
    ilgili yazılar
    ilgili makaleler
    se även
    läs mer
    läs även
    se også
    les også
    læs også
    katso myös
    lue myös
    viz také
    související články
    lásd még
    kapcsolódó cikkek
    vezi și
    δείτε επίσης
    διαβάστε επίσης
    ראו גם
    קראו גם
    انظر أيضا
    انظر أيضًا
    اطلع أيضا
    اطلع أيضًا
    اقرأ أيضا
    اقرأ أيضًا
    مقالات ذات صلة
    مواضيع ذات صلة
    روابط ذات صلة
    همچنین ببینید
    بیشتر بخوانید
    مطالب مرتبط
    مقالات مرتبط
    لینک‌های مرتبط
    यह भी देखें
    यह भी पढ़ें
    lihat juga
    baca juga
    artikel terkait
    xem thêm
    bài viết liên quan
    ดูเพิ่มเติม
    อ่านเพิ่มเติม
    บทความที่เกี่ยวข้อง
    関連項目
    関連記事
    関連リンク
    関連情報
    関連ページ
    参考
    参考リンク
    参考文献
    参考資料
    次のステップ
    あわせて読みたい
    相关文章
    相关阅读
    相关链接
    相关资源
    延伸阅读
    参见
    另请参阅
    更多资源
    更多阅读
    下一步
    相關文章
    相關閱讀
    相關連結
    延伸閱讀
    參見
    另請參閱
    참고
    참고 자료
    관련 글
    관련 문서
    관련 링크
    더 보기
    다음 단계""".splitlines()
)
