"""Made-up sites with labelled queries: which are for the site's name, and which merely share a word with it.

The names are invented. A query's kind says how people who type it behave; its figures are drawn accordingly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True, slots=True)
class _Kind:
    """How queries of a kind do.

    Attributes:
        brand: whether they are for the site's name.
        home: the share of them that leads to the home page.
        rate: the least and largest clicks an impression.
        position: the best and worst mean position.
        impressions: the mean of a log-normal number of impressions.
    """

    brand: bool
    home: float
    rate: tuple[float, float]
    position: tuple[float, float]
    impressions: float


KINDS: Mapping[str, _Kind] = {
    # The name alone, a login, the company's address.
    "name": _Kind(True, 0.95, (0.35, 0.8), (1.0, 1.3), 400),
    # What the brand sells.
    "offer": _Kind(True, 0.2, (0.15, 0.5), (1.0, 2.5), 60),
    # Where other sites are before the brand: vouchers, reviews, comparisons.
    "about": _Kind(True, 0.3, (0.03, 0.2), (1.5, 5.0), 60),
    "typo": _Kind(True, 0.95, (0.3, 0.7), (1.0, 1.4), 40),
    # Topics, most of which the site is not first for.
    "topic": _Kind(False, 0.05, (0.003, 0.06), (3.5, 25.0), 1500),
    # Topics that the site is first for.
    "best": _Kind(False, 0.05, (0.15, 0.38), (1.1, 3.0), 600),
    # Queries that share a word, or sound alike, and are about something else.
    "shared": _Kind(False, 0.05, (0.0, 0.05), (4.0, 40.0), 150),
}


@dataclass(frozen=True, slots=True)
class BrandSite:
    """A site with labelled queries.

    Attributes:
        home: its home page.
        brands: the brands at the end of its titles.
        queries: its queries, by kind; of several in a text, one a line.
    """

    home: str
    brands: Sequence[str]
    queries: Mapping[str, str]

    def labelled(self) -> dict[str, bool]:
        """Return whether each query is for the site's name."""
        return {query: KINDS[kind].brand for kind, text in self.queries.items() for query in _lines(text)}

    def rows(self, seed: int) -> pd.DataFrame:
        """Return search data by page and query."""
        dice = np.random.default_rng(seed)
        found = []
        for name, text in self.queries.items():
            kind = KINDS[name]
            for query in _lines(text):
                seen = int(dice.lognormal(np.log(kind.impressions), 0.8)) + 3
                clicks = int(dice.binomial(seen, dice.uniform(*kind.rate)))
                page = self.home if dice.random() < kind.home else f"{self.home}guide/{dice.integers(40)}"
                found.append((page, query, clicks, seen, float(dice.uniform(*kind.position))))
        frame = pd.DataFrame(found, columns=["page", "query", "clicks", "impressions", "position"])
        return frame.astype({"page": "category", "query": "category"})


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


SITES: Mapping[str, BrandSite] = {
    "one invented word": BrandSite(
        "https://www.zalvento.com/",
        ["Zalvento"],
        {
            "name": "zalvento\nzalvento.com\nwww.zalvento.com\nzalvento login\nzalvento online shop\nzalvento contact",
            "offer": "zalvento espresso machine\nzalvento grinder z3\nzalvento z3 descaling\nzalvento spare parts\n"
            "zalvento milk frother cleaning\nbest zalvento machine",
            "about": "zalvento reviews\nzalvento voucher\nzalvento vs other espresso brands\nis zalvento any good\n"
            "zalvento alternatives",
            "typo": "zalvendo\nzalvneto\nsalvento\nzalventto\nzal vento\nzalventos",
            "topic": "espresso machine\nhow to descale a coffee machine\nmilk frother\nbest coffee grinder\n"
            "espresso without machine\ncoffee beans for espresso\nportafilter sizes\nburr grinder or blade grinder",
            "best": "descaling frequency espresso machine\n58 mm basket comparison\nespresso channelling causes",
            "shared": "salento coffee\nsalvetto\nvento coffee\nsal y viento\nsolvent descaler",
        },
    ),
    "two words": BrandSite(
        "https://copperheron.co.uk/",
        ["Copper Heron"],
        {
            "name": "copper heron\ncopperheron\ncopper heron uk\n"
            "copperheron.co.uk\ncopper heron login\nthe copper heron",
            "offer": "copper heron secateurs\ncopper heron spade\n"
            "copper heron gift card\ncopper heron garden tools sale",
            "about": "copper heron reviews\ncopper heron discount code\ncopper heron vs wilder and sons",
            "typo": "cooper heron\ncopper herron\ncoper heron\ncopperherron",
            "topic": "copper garden tools\nsecateurs\nhow to sharpen secateurs\nbest spade for clay soil\ngarden fork\n"
            "copper tools against slugs\nhand trowel",
            "best": "oiling ash handles linseed\nspade tread width\nsecateurs spring replacement",
            "shared": "heron statue copper\ncopper bird bath heron\ngrey heron in garden\nheron copper wind spinner\n"
            "how to keep a heron off the pond with copper wire\ncopper kettle",
        },
    ),
    "a word of the dictionary": BrandSite(
        "https://www.getladder.com/",
        ["Ladder"],
        {
            "name": "ladder\nladder login\nladder app\ngetladder\ngetladder.com\nladder website",
            "offer": "ladder pricing\nladder career coaching\nladder coach sign up\nladder interview practice",
            "about": "ladder reviews\nladder coaching reviews\nladder alternatives",
            "typo": "get lader\ngetlader\ngettladder",
            "topic": "career change at 40\nhow to ask for a raise\ninterview questions\nsalary negotiation script\n"
            "cover letter for promotion\nmentor or coach",
            "best": "thank you note after panel interview\nlateral move meaning at work",
            "shared": "career ladder\nladder of inference\ncorporate ladder\nhow to climb the career ladder\n"
            "engineering ladder example\njob ladder template\ncareer ladder vs lattice\nproperty ladder\n"
            "dual career ladder\nsnakes and ladders\ncareer ladder definition\nrole ladder for designers",
        },
    ),
    "an acronym": BrandSite(
        "https://www.tqv.org/",
        ["The Quiet Valley", "TQV"],
        {
            "name": "tqv\ntqv.org\nthe quiet valley\nquiet valley\ntqv login\ntqv the quiet valley",
            "offer": "tqv membership\ntqv hiking maps\nquiet valley cabins\ntqv trail 4\nthe quiet valley festival",
            "about": "tqv reviews\nquiet valley reviews",
            "typo": "the quite valley\nthe quiet vally\ntqv.og",
            "topic": "hiking maps\nday hikes with children\ncabins in the woods\nhow to pack a rucksack\nmap symbols\n"
            "water filter for hiking",
            "best": "naismith rule calculator\ntrail marking colours meaning",
            "shared": "valley hikes\nquiet places to hike\nsilent valley park\nqvt\ntv guide\nquiet camping stove\n"
            "valley of flowers",
        },
    ),
    "a domain with a hyphen": BrandSite(
        "https://www.nord-faden.de/",
        ["Nord-Faden"],
        {
            "name": "nord faden\nnordfaden\nnord-faden\nnord-faden.de\nnord faden shop\nnordfaden anmelden\n"
            "nord faden startseite",
            "offer": "nord faden wolle\nnordfaden sockengarn\nnord faden anleitung mütze\nnord-faden strickset",
            "about": "nord faden erfahrungen\nnordfaden gutschein\nnord faden bewertung",
            "typo": "nordfarden\nnort faden\nnord faten\nnordfadem",
            "topic": "sockenwolle\nmütze stricken anleitung\nmerinowolle waschen\nnadelstärke tabelle\n"
            "socken stricken ferse\nwas ist lace garn",
            "best": "bumerangferse tabelle\nlauflänge berechnen wolle",
            "shared": "faden im norden\nnordische pullover stricken\nroter faden\nfaden vernähen\nnord süd faden\n"
            "norwegermuster faden führen",
        },
    ),
    "Cyrillic": BrandSite(
        f"https://{'чайград'.encode('idna').decode()}.xn--p1ai/",
        ["Чайград"],
        {
            "name": "чайград\nчайград.рф\nчай град\nчайград сайт\nчайград официальный сайт\nчайград вход",
            "offer": "чайград пуэр\nчайград улун цена\nчайград подарочный набор",
            "about": "чайград отзывы\nчайград промокод",
            "typo": "чайгрод\nчайграт\nчойград\nчайградд",
            "topic": "как заваривать пуэр\nзелёный чай польза\nулун\nчай в подарок\nгайвань\nтемпература воды для чая",
            "best": "сколько проливов у шу пуэра\nкак сломать пуэр",
            "shared": "чай в городе\nград камней\nчай купить\nиван чай\nчайка город\nволгоград чай",
        },
    ),
    "Japanese": BrandSite(
        "https://www.hoshicha.jp/",
        ["星茶堂"],
        {
            "name": "星茶堂\nhoshicha\nほし茶堂 星茶堂\n星茶堂ログイン\n星茶堂 公式\n星茶堂公式サイト\nhoshicha.jp",
            "offer": "星茶堂 抹茶\n星茶堂の煎茶\n星茶堂ギフト\nhoshicha matcha",
            "about": "星茶堂 口コミ\n星茶堂評判",
            "typo": "hosicha\nhoshi cha\nhoshitcha",
            "topic": "抹茶の点て方\n煎茶 温度\nお茶 ギフト\n急須 選び方\n玉露とは\n水出し緑茶",
            "best": "深蒸し茶 抽出時間\n茶葉 保存 冷凍",
            "shared": "星 茶\n茶堂とは\n一保堂\n星座 お茶\n星のお茶 レシピ\nhojicha\nhojicha latte",
        },
    ),
    "a name among ordinary words": BrandSite(
        "https://www.openkitchenlab.org/",
        ["Open Kitchen Lab"],
        {
            "name": "open kitchen lab\nopenkitchenlab\nopen kitchen lab login\n"
            "openkitchenlab.org\nopen kitchen lab blog",
            "offer": "open kitchen lab sourdough\nopen kitchen lab bread calculator\nopen kitchen lab newsletter",
            "about": "open kitchen lab review\nopen kitchen lab cookbook",
            "typo": "open kichen lab\nopen kitchn lab\nopen kitchen labs",
            "topic": "sourdough starter\nhydration of dough\nautolyse\nbread without kneading\nwhat is gluten\n"
            "pizza dough overnight",
            "best": "baker's percentage worksheet\nlevain build ratio",
            "shared": "open kitchen\nopen kitchen design\nkitchen lab equipment\nopen plan kitchen\n"
            "kitchen laboratory\nlab kitchen ideas\nopen kitchen vs closed kitchen",
        },
    ),
    "French words with an apostrophe": BrandSite(
        "https://www.latelier-brume.fr/",
        ["L'Atelier Brume"],
        {
            "name": "atelier brume\nl'atelier brume\nlatelier brume\nlatelier-brume.fr\n"
            "l atelier brume site officiel\natelier brume accueil",
            "offer": "atelier brume bougie figuier\nl'atelier brume diffuseur\natelier brume coffret noël",
            "about": "atelier brume avis\nl'atelier brume code promo\natelier brume ou bougies de charme",
            "typo": "atelier brumme\natellier brume\nlatelier brum",
            "topic": "bougie maison\ncire de soja\nmèche en bois\ncomment couler une bougie\nbougie qui creuse\n"
            "huiles essentielles bougie",
            "best": "dosage parfum cire de soja\ntempérature de coulage cire",
            "shared": "atelier bougie\nbrume d'oreiller\natelier bougie paris\nbrume parfumée\nl'atelier du parfum\n"
            "brume de mer bougie",
        },
    ),
    "a word that is common in the field": BrandSite(
        "https://www.harvest.garden/",
        ["Harvest"],
        {
            "name": "harvest garden\nharvest.garden\nharvest garden login\nwww harvest garden",
            "offer": "harvest garden planner\nharvest planner pricing\nharvest garden app",
            "about": "harvest garden review\nharvest planner review",
            "typo": "harvst garden\nharvest gardn\nharvestgarden",
            "topic": "when to sow carrots\nraised bed soil\ncompanion planting chart\n"
            "blight on tomatoes\nslug control\nfrost dates",
            "best": "square foot spacing leeks\ncrop rotation table four beds",
            "shared": "when to harvest garlic\nharvest\nharvest festival\nharvest moon\nharvest potatoes\n"
            "how to harvest lettuce\nharvest time for pumpkins\nharvest basket\nfirst harvest of rhubarb",
        },
    ),
    "letters and a number": BrandSite(
        "https://k7x.io/",
        ["K7X Labs"],
        {
            "name": "k7x\nk7x labs\nk7x.io\nk7x login\nk7xlabs",
            "offer": "k7x soldering station\nk7x firmware update\nk7x labs oscilloscope",
            "about": "k7x review\nk7x labs vs weller",
            "typo": "k7x lab\nk7 x labs\nkx7 labs",
            "topic": "soldering iron temperature\nlead free solder\noscilloscope for beginners\nflux types\n"
            "hot air rework",
            "best": "tip oxidation cleaning brass\nprobe compensation square wave",
            "shared": "k7 athlon\nx7 mouse\nkx 7 amplifier\nlabs near me\nsolder labs\nk7 soldering kit",
        },
    ),
}
