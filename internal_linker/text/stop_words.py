"""Stop words by language: no anchor begins or ends with one, and none of them is matched."""

from collections.abc import Set
from functools import cache

from internal_linker.text.words import normalise

_LISTS = {
    "ar": "من في على إلى الى عن مع هذا هذه ذلك تلك هو هي هم هن أنا نحن أنت أن ان إن كان كانت يكون "
    "تكون لا لم لن ما ليس ليست قد لقد كل بعض أي أو او ثم حتى إذا اذا لو بل لكن التي الذي الذين "
    "اللاتي كما عند عندما بعد قبل بين حيث منذ غير فقط أيضا ايضا له لها لهم به بها فيه فيها منه "
    "منها عليه عليها إليه ال هناك هنا كيف متى أين لماذا ماذا مثل هل يمكن يتم تم سوف لدى لدينا نفس "
    "وهو وهي ولا وما ومن وفي وقد كذلك حول دون خلال ضمن عبر ذات لأن لأنه بدون و يا",
    "cs": "a aby ale ani ano asi až bez bude by byl byla bylo být co další do ho i já jak jako je "
    "jeho jejich její jen ještě ji již jsem jsme jsou k kde když kdo která které který mezi mi "
    "mít na nad ne nebo než o od on ona oni po pod podle pro proto před přes při s se si své svůj "
    "ta tak také tam tedy ten tento této to tohoto tu ty u už v vám váš ve více však z za zde že",
    "da": "af alle alt at blev blive bliver da de dem den denne der deres det dette dig din dit "
    "dog du efter eller en end er et for fra få ham han hans har havde have hende hendes her hos "
    "hun hvad hvis hvor hvordan hvorfor i ikke ind jeg jer jo kan kunne man mange med meget men "
    "mig min mit mod må når nogle noget nu og også om op os over på sig sin sit skal skulle som "
    "så til ud under var ved vi vil ville vor være været",
    "de": "aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei "
    "beim bin bis bist da dabei damit dann das dass dein dem den denn der des dich die dies diese "
    "diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es "
    "etwas euch für gegen hab habe haben hat hatte hier hin ich ihm ihn ihnen ihr ihre ihrem "
    "ihren ihrer im in ins ist ja jede jedem jeden jeder jedes kann kein keine können könnte man "
    "mehr mein mich mir mit muss müssen nach nicht noch nun nur ob oder ohne schon sehr sein "
    "seine seinem seinen seiner sich sie sind so soll sollte sondern sowie über um und uns unser "
    "unsere unter viel vom von vor war waren was weil welche welcher wenn wer werden wie wieder "
    "will wir wird wo wurde wurden zu zum zur zwischen",
    "el": "ο η το οι τα του της των τον την και κι ή αλλά αν ως από για με σε στο στη στην στον "
    "στα στις στους να θα δεν μη μην που πως πώς τι ότι όταν όπως αυτό αυτή αυτός αυτά αυτές "
    "είναι ήταν έχει έχουν ένα μια ένας μας σας τους τις μου σου πιο πολύ κάθε όλα όλες",
    "en": "a about above across after again against all almost along already also although always "
    "am among an and any are around as at be because been before being below between both but by "
    "can could did do does doing don done down during each either else ever every few for from "
    "further get got had has have having he her here hers herself him himself his how however i "
    "if in into is it its itself just let ll may me might more most much must my myself neither "
    "no nor not now of off on once one only onto or other others our ours ourselves out over own "
    "per rather re s same shall she should since so some still such t than that the their theirs "
    "them themselves then there these they this those though through thus to too toward towards "
    "under until up upon us ve very was we well were what when where whether which while who whom "
    "whose why will with within without would yet you your yours yourself yourselves d m",
    "es": "a al algo algunas algunos ante antes aquel aquella aquí así aun aunque bien cada como "
    "con contra cual cuando cómo de del desde donde dos durante e el él ella ellas ellos en entre "
    "era es esa ese eso esta está están estas este esto estos fue ha han hasta hay la las le les "
    "lo los más me mi mis mucho muy nada ni no nos nosotros nuestra nuestro o otra otras otro "
    "otros para pero poco por porque puede pueden que qué quien se según ser si sí sido sin sobre "
    "son su sus también tan tanto te tener tiene tienen todo todos tu tus u un una uno unos usted "
    "y ya yo",
    "fa": "از به در با برای تا را که و یا اما ولی اگر هم این آن ان همین همان چه چون چرا چگونه "
    "چطور کجا کی هر هیچ همه بعضی برخی خود خودش من ما تو شما او آنها انها ایشان است هست هستند "
    "هستیم بود بودند باشد باشند شود شوند می نمی شده شد شدن کرد کرده کند کنند کنید کنیم کردن کن "
    "دارد دارند دارید داریم داشت داشته داشتن خواهد خواهید توان تواند توانید توانیم باید نباید بر "
    "بی پس پیش بین روی زیر نیز دیگر یک یکی ها های هایی ای اند ام ات اش بسیار خیلی فقط تنها البته "
    "بلکه زیرا وقتی هنگامی جایی چنین مانند مثل نه بله آیا ایا حتی حال اینجا آنجا طور کنار درباره "
    "توسط هنوز سپس نیست",
    "fr": "a à ai ainsi alors au aucun aussi autre autres aux avant avec avoir c car ce ceci cela "
    "celle celles celui ces cet cette ceux chaque chez comme comment d dans de depuis des donc "
    "dont du elle elles en encore entre est et étaient était étant être eu eux fait faire il ils "
    "j je l la là le les leur leurs lors lui m ma mais me même mes moi moins mon n ne ni nos "
    "notre nous on ont ou où par parce pas pendant peu peut peuvent plus pour pourquoi qu quand "
    "que quel quelle quelles quels qui quoi s sa sans se selon ses si son sont sous sur t ta "
    "tandis te tes toi ton tous tout toute toutes très tu un une vers vos votre vous y",
    "he": "של את על אל עם או אם כי לא גם רק כל זה זאת זו הוא היא הם הן אני אנחנו אתה היה היו יש "
    "אין מה מי איך כמו אבל בין עד אז יותר לפני אחרי",
    "hi": "का की के को में से पर ने और या है हैं था थे थी हो होता होती होते कि जो यह वह ये वे इस "
    "उस इन उन तो भी ही नहीं एक कर करने करना किया लिए साथ तक अपने आप हम मैं कुछ सब जब तब क्या कैसे",
    "hu": "a abban ahol aki amely ami az azok azon azt be csak de e egy ehhez ez ezek ezt fel "
    "hanem hogy hogyan ha is itt jól ki le lehet lesz majd meg mert mi mint most már még minden "
    "nagy ne nem nincs ott pedig s se sem sok szerint után vagy van vannak volt át és így úgy",
    "id": "ada adalah agar akan anda antara apa atau bagi bahwa banyak beberapa bisa dalam dan "
    "dapat dari dengan di hanya harus ia ini itu jika juga kami karena ke kita lagi lebih mereka "
    "oleh pada para saat saja sangat saya sebagai secara seperti serta setiap sudah telah tentang "
    "tersebut tidak untuk yang",
    "it": "a ad agli ai al alla alle allo anche avere c che chi ci come con contro cosa così cui "
    "d da dagli dai dal dalla dalle dallo degli dei del della delle dello di dopo dove due e è ed "
    "erano essere fa fra gli ha hanno i il in io l la le lei li lo loro lui ma me mentre mi mia "
    "mio molto ne negli nei nel nella nelle nello noi non nostra nostro o ogni per perché più può "
    "prima qual quale quando quanto quella quelle quelli quello questa queste questi questo qui "
    "se senza si sia sono sta su sua sue sugli sui sul sulla sulle suo suoi tra tu tutte tutti "
    "tutto un una uno vi voi",
    "ja": "の は が を に へ と で も や か な ね よ から まで より など これ それ あれ この その "
    "あの ここ そこ する した して です ます ある いる なる こと もの ため よう",
    "ko": "이 그 저 것 수 등 및 또는 그리고 하지만 그러나 더 매우 있는 있다 하는 한다 합니다 "
    "있습니다 대한 위한 통해 때 우리 그것 이것 모든",
    "nl": "aan al alle als altijd andere ben bij daar dan dat de der deze die dit doen door dus "
    "een en er ge geen had heb hebben heeft het hier hij hoe hun iemand iets ik in is ja je jouw "
    "kan kon kunnen maar me meer men met mij mijn moet na naar niet nog nu of om omdat onder ons "
    "onze ook op over te tegen toch toen tot u uit uw van veel voor want waren was wat we wel "
    "werd wie wij wil worden wordt zal ze zei zelf zich zij zijn zo zonder zou",
    "no": "alle at av bare ble blir både da de dem den denne der deres det dette din disse du "
    "eller en enn er et ett etter for fra få ha hadde han har hun hva hvis hvor hvordan hvorfor i "
    "ikke inn jeg kan kunne man med meg mellom men mer min mot må noe noen nå når og også om opp "
    "oss over på seg selv sin skal som så til ut var ved vi vil ville være vært",
    "pl": "a aby ale albo ani bez bo by być był była było były ci co czy dla do gdy gdzie go i "
    "ich ile im inne ja jak jako je jego jej jest jeszcze jeśli już każdy kiedy kto która które "
    "którego której który których lub ma mają mnie może można mu na nad nam nas nie niż o od on "
    "ona one oni oraz pod po poza przed przez przy się są ta tak także tam te tego tej ten też to "
    "tu tych tylko tym u w we więc wszystko z za ze że",
    "pt": "a à ao aos aquela aquele as às até com como da das de dela dele depois do dos e é ela "
    "elas ele eles em entre era essa esse esta está estão este eu foi há isso isto já lhe mais "
    "mas me mesmo meu minha muito na não nas nem no nos nós nossa nosso num numa o os ou para "
    "pela pelas pelo pelos por porque qual quando que quem se sem ser seu seus são só sobre sua "
    "suas também te tem têm ter tu tudo um uma você vocês",
    "ro": "a acea această acest aceste aceștia ai al ale am ar are as au avea ca că care către ce "
    "cea cei cel cele cu cum da dacă dar de deci despre din după e ea ei el ele este eu fi fie "
    "fost foarte i în între îi își la le lor lui mai mult ne nici noi nu o oricare pe pentru prin "
    "s sa sau să se sunt și te toate tot tu un una unde unei unor unui vă voi",
    "ru": "а без более больше будет будут бы был была были было быть в вам вас ваш ведь во вот "
    "все всех вы где да даже для до его ее если есть еще же за здесь и из или им их к как какая "
    "какой ко когда кто ли либо между меня мне может можно мой мы на над надо нам нас наш не него "
    "нее нет ни них но ну о об однако он она они оно от очень по под после потому почти при про с "
    "сам свой себя со так также такой там те тем то того тоже только том тот ту ты у уже хотя "
    "чего чей чем что чтобы эта эти это этого этой этом этот я",
    "sv": "alla allt att av bara blev bli blir då de dem den denna deras dess det detta dig din "
    "dina ditt du där efter ej eller en er ett från för ha hade han hans har henne hon hos hur "
    "här i icke inom inte jag kan kunde man med mellan men mer mig min mot mycket ni nu när någon "
    "något några och också om oss på sedan sig sin sina sitt ska skulle som så till under upp ut "
    "utan vad var vara varför varit vem vi vid vilka vilken vill är över",
    "tr": "acaba ama ancak artık az bana bazı belki ben beni benim bile bir biraz birçok biz bize "
    "bu buna bunu bunun da daha de değil diye en gibi göre hem hep her hiç için ile ise işte "
    "kadar kendi ki kim mı mi mu mü nasıl ne neden nerede o olan olarak oldu olduğu olur ona "
    "onlar onu onun sadece sen siz sonra şey şu tüm var ve veya ya yani yok çok çünkü",
    "uk": "а але без більш бо буде був була були було бути в вам вас ви від він вона вони все всі "
    "вже для до з за зі і її їх їм й його коли ми мене мій може на над нам нас наш не нею ні ніж "
    "о об однак от по під після при про с свій себе так також там те того тоді той тому та ти "
    "тільки у хто це цей ця ці чи чого що щоб як яка який які якщо я є",
    "vi": "và của là có trong cho với các những một được không này đó khi để từ đến hay hoặc "
    "nhưng cũng thì mà như về ra vào tại bởi vì nếu đã đang sẽ rất bạn tôi chúng",
    "zh": "的 了 和 是 在 有 与 及 或 也 都 就 而 但 对 从 到 把 被 这 那 我 你 他 她 它 们 吗 吧 "
    "呢 啊 着 过 地 得 很 还 又 不 没 一 个 以 于 其 之 将 为 为了 这个 那个 和 與 從 對 這 個 們 "
    "還 沒 過 將 於 為",
}
# Sisters, by their codes on the web.
_LISTS |= {"nb": _LISTS["no"], "nn": _LISTS["no"]}


@cache
def stop_words(language: str) -> Set[str]:
    """Return the stop words in lower case; the English ones for a language without a list."""
    return frozenset(_LISTS.get(language.lower()[:2], _LISTS["en"]).split())


@cache
def folded_stop_words(language: str) -> Set[str]:
    """Return the stop words as `text.words` folds them: Arabic ones are spelled differently then."""
    return frozenset(map(normalise, stop_words(language)))
