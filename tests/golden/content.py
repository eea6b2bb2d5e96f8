"""The pages of the golden projects, written or generated for them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

BREAD = "https://www.crumb.example"
# By path: the language, the title and the text. Some pages of one language have a page of the same topic in the other.
BAKERY: dict[str, tuple[str, str, str]] = {
    "en/sourdough-starter": (
        "en",
        "How to Keep a Sourdough Starter Alive",
        "A sourdough starter is flour and water in which wild yeast lives. Feed it once a day if it stands in the "
        "kitchen, and once a week if it stands in the fridge.\nUse rye flour when it gets tired: it holds more of the "
        "minerals that yeast likes. A dutch oven is no help here, but a warm place is. After four hours a strong "
        "starter has doubled, and a spoonful of it floats in water.",
    ),
    "en/rye-flour": (
        "en",
        "What Rye Flour Does to Bread",
        "Rye flour has little gluten and drinks a lot of water. Dough made of it sticks to the hands and hardly "
        "rises, yet the bread stays moist for a week.\nMost bakers mix it with wheat, and lift it with a sourdough "
        "starter, because the acid keeps the crumb from turning to glue. Whole grains taste strongest.",
    ),
    "en/dutch-oven": (
        "en",
        "Baking in a Dutch Oven",
        "A dutch oven catches the steam of the loaf, so that the crust stays soft until the bread has risen. Heat it "
        "for half an hour, drop the dough in on a sheet of paper, and put on the lid.\nTake the lid off after twenty "
        "minutes. Without a pot, a baking stone and a tray of boiling water do nearly the same.",
    ),
    "en/baking-stone": (
        "en",
        "A Baking Stone and How to Clean It",
        "A baking stone stores heat and gives it to the bottom of the loaf at once. Let it warm up with the oven, "
        "and never wash it with soap.\nScrape off what has burnt. Pizza likes the stone even more than bread does, "
        "and needs the oven as hot as it gets.",
    ),
    "en/proofing-basket": (
        "en",
        "Which Proofing Basket Fits Your Loaf",
        "A proofing basket holds soft dough while it rises for the last time, and draws rings of flour on it. Dust "
        "it with rice flour, since wheat sticks.\nAn oval one of a kilogram suits most loaves that are later baked "
        "in a dutch oven. Cane dries fast; wood pulp is softer.",
    ),
    "en/pizza-dough": (
        "en",
        "Pizza Dough That Rests for Two Days",
        "Two days in the fridge give pizza dough more taste than any spice. Mix flour, water, salt and a pinch of "
        "yeast, and shape balls in the evening.\nBake each on a hot baking stone for a few minutes. The dough may "
        "also be lifted with a sourdough starter, if you use half as much salt at first.",
    ),
    "en/scoring-bread": (
        "en",
        "Scoring Bread with a Razor Blade",
        "A cut tells the loaf where to open. Hold the blade flat, cut quickly, and do it right after the dough has "
        "left the proofing basket.\nDeep cuts need strong dough. Cold dough, straight from the fridge, is far easier "
        "to cut than warm one.",
    ),
    "en/stale-bread": (
        "en",
        "Seven Uses for Stale Bread",
        "Stale bread thickens soups, becomes crumbs, and makes dumplings. Dry it slowly, so that it doesn't mould.\n"
        "Bread made with rye flour is best as crumbs for a new dough: soaked overnight, it gives colour and taste. "
        "Hens like it, too.",
    ),
    "de/sauerteig": (
        "de",
        "Sauerteig ansetzen und füttern",
        "Ein Sauerteig besteht aus Mehl und Wasser, in dem wilde Hefe lebt. In der Küche wird er täglich gefüttert, im "
        "Kühlschrank einmal in der Woche.\nWenn er müde wird, hilft Roggenmehl, denn es bringt Mineralien mit. "
        "Nach vier Stunden hat sich ein kräftiger Sauerteig verdoppelt.",
    ),
    "de/roggenmehl": (
        "de",
        "Was Roggenmehl im Brot bewirkt",
        "Roggenmehl enthält wenig Kleber und bindet viel Wasser. Der Teig klebt an den Händen und geht kaum auf, aber "
        "das Brot bleibt eine Woche lang saftig.\nMeist wird es mit Weizen gemischt und mit Sauerteig gelockert, weil "
        "die Säure die Krume schützt.",
    ),
    "de/gusseisentopf": (
        "de",
        "Brot im Gusseisentopf backen",
        "Der Gusseisentopf hält den Dampf des Brotes fest, so dass die Kruste weich bleibt, bis der Laib aufgegangen "
        "ist. Er wird eine halbe Stunde lang vorgeheizt.\nNach zwanzig Minuten kommt der Deckel herunter. Wer keinen "
        "Topf hat, nimmt einen Backstein und ein Blech mit kochendem Wasser.",
    ),
    "de/backstein": (
        "de",
        "Der Backstein und seine Pflege",
        "Ein Backstein speichert Hitze und gibt sie sofort an den Boden des Laibes ab. Er wird mit dem Ofen warm und "
        "nie mit Seife gewaschen.\nAngebranntes wird abgekratzt. Pizza mag den Stein noch lieber als Brot.",
    ),
    "de/gaerkorb": (
        "de",
        "Welcher Gärkorb zum Laib passt",
        "Der Gärkorb hält weichen Teig, während er zum letzten Mal geht, und zeichnet Ringe aus Mehl. Reismehl "
        "verhindert, dass der Teig klebt.\nEin ovaler Korb für ein Kilo passt zu den meisten Broten, die später im "
        "Gusseisentopf gebacken werden.",
    ),
    "de/altes-brot": (
        "de",
        "Was man aus altem Brot macht",
        "Altes Brot bindet Suppen und wird zu Bröseln oder Knödeln. Es muss langsam trocknen, sonst schimmelt es.\n"
        "Brot mit Roggenmehl ist in neuem Teig am besten: Über Nacht eingeweicht gibt es Farbe und Geschmack.",
    ),
}


def bakery_tables() -> dict[str, list[list[str]]]:
    """Return the tables of the bakery, with a redirect, an error, a copy and pages without index."""
    header = "URL,Title,Main Content,Lang,Status Code,Indexability,Canonical,Redirect URL".split(",")
    pages = [
        [f"{BREAD}/{path}/", title, text, lang, "200", "Indexable", "", ""]
        for path, (lang, title, text) in BAKERY.items()
    ]
    rye = f"{BREAD}/en/rye-flour/"
    text = BAKERY["en/rye-flour"][2]
    none = "Non-Indexable"
    pages += [
        [f"{BREAD}/en/rye/", "", "", "en", "301", none, "", rye],
        [f"{BREAD}/en/oats/", "Oats", "Not found", "en", "404", none, "", ""],
        [f"{BREAD}/en/rye-flour/print/", "What Rye Flour Does to Bread", text, "en", "200", none, rye, ""],
        [f"{BREAD}/en/thanks/", "Thank You", "Thank you for your order.", "en", "200", none, "", ""],
        [f"{BREAD}/en/rye-bread-flour/", "What Rye Flour Does", text, "en", "200", "Indexable", "", ""],
        ["not a url", "Odd", "Odd", "en", "200", "Indexable", "", ""],
    ]
    queries = [
        [f"{BREAD}/{path}/", title.split(" and ")[0].lower()] for path, (_, title, _) in BAKERY.items()
    ]
    links = [
        ("en/sourdough-starter", "en/rye-flour", "rye flour"),
        ("en/dutch-oven", "en/baking-stone", "baking stone"),
        ("en/pizza-dough", "en/baking-stone", "hot baking stone"),
        ("en/stale-bread", "en/rye", "rye flour"),
        ("en/scoring-bread", "en/oats", "oats"),
        ("de/sauerteig", "de/roggenmehl", "Roggenmehl"),
        ("de/gaerkorb", "de/gusseisentopf", "Gusseisentopf"),
    ]
    return {
        "urls_rawdata.csv": [header, *pages],
        "main_queries.csv": [["URL", "Main Query"], *queries, ["", "bread without yeast"]],
        "existing_links.csv": [
            ["Source", "Destination", "Anchor"],
            *([f"{BREAD}/{source}/", f"{BREAD}/{target}/", anchor] for source, target, anchor in links),
        ],
    }


# The generated pages: each is about one of these things and mentions others.
_THINGS = (
    "clay pots;garden bees;rain barrels;apple grafting;stone paths;compost heaps;seed trays;garden forks;cold frames;"
    "bean poles;herb spirals;leaf mould;bird boxes;watering cans;pond plants;fruit cages;hose reels;potting soil;"
    "wool mulch;hand trowels;climbing roses;tool sheds;rock gardens;slug fences;plant labels;bark chips;green manure;"
    "hedge shears;lawn edges;tomato cages;worm farms;bulb planters;window boxes;gravel beds;garden gloves;soil tests;"
    "berry nets;pruning saws;drip hoses;root cellars;wild flowers;moss walls;bamboo canes;garden lamps;fern shade;"
    "trellis panels;flower presses;hanging baskets"
).split(";")
_OPENINGS = (
    "Nobody needs {0} in the first year, but sooner or later every gardener asks for them.",
    "For {0}, the best time is early spring, when the ground is cold and there is little else to do.",
    "There are cheap {0} and good ones, and the difference shows after the first winter.",
    "We have tried {0} on clay, on sand and on chalk, and wrote down what lasted.",
)
_MENTIONS = (
    "Keep {1} close by, because {0} alone will not do.",
    "If there is room left, combine them with {1}.",
    "Many people start with {1} and find out later that {0} would have been easier.",
    "What holds for {1} in summer holds for {0} in autumn.",
    "A neighbour swears by {1}, and her beds look better than ours.",
)
_CLOSINGS = (
    "Store {0} dry in winter, and look at them once before the frost is gone.",
    "After three seasons {0} have paid for themselves.",
    "Measure twice before you order {0}: most shops take nothing back.",
)


@dataclass(frozen=True)
class GardenPage:
    """A generated page at /section/slug/; `links` are the slugs of pages that it links to."""

    section: str
    slug: str
    title: str
    paragraphs: Sequence[str]
    links: Sequence[str]


def garden_pages(count: int, seed: int) -> list[GardenPage]:
    """Return pages that mention each other, the same ones for the same seed."""
    dice = random.Random(seed)
    slugs = [thing.replace(" ", "-") for thing in _THINGS[:count]]
    return [_garden_page(number, slugs, dice) for number in range(count)]


def _garden_page(number: int, slugs: Sequence[str], dice: random.Random) -> GardenPage:
    thing, others = _THINGS[number], [(number + step * step) % len(slugs) for step in (1, 2, 3, 4)]
    words = [f"{dice.choice('bdfgklmnprst')}{dice.choice('aeiou')}{dice.choice('lmnrs')}um" for _ in range(8)]
    sentences = [
        sentence.format(thing, _THINGS[other]) for sentence, other in zip(_MENTIONS, others, strict=False)
    ]
    dice.shuffle(sentences)
    # Each page has names of its own, without which the sentences would be those of its neighbours.
    kinds = " and ".join(words[:4])
    own = f"The kinds called {kinds} are sold near {words[4].title()}, those called {words[5]} are not."
    return GardenPage(
        section=("beds", "tools", "water")[number % 3],
        slug=slugs[number],
        title=f"{thing.capitalize()} {dice.choice(('for Beginners', 'in Small Gardens', 'Through the Year'))}",
        paragraphs=[
            f"{dice.choice(_OPENINGS).format(thing)} {own}",
            " ".join(sentences),
            dice.choice(_CLOSINGS).format(thing),
        ],
        links=[slugs[(number + 1) % len(slugs)]] if number % 2 else [],
    )
