// The text of a page with the places of its links, for the page Review.
import { STATUSES } from "./linktable.js";
import { element } from "./shared.js";

// JavaScript counts some signs as two characters, the app as one.
const counted = (text) => (/[\ud800-\udfff]/.test(text) ? [...text] : text);
const joined = (some) => (typeof some === "string" ? some : some.join(""));

// `select` gets the id of a link whose place was clicked.
export function pageText(place, select) {
  let paragraphs = [];

  function show(found) {
    paragraphs = found.map(({ start, text, is_heading: isHeading }) => ({
      start, text: counted(text), drawn: null,
      node: element("p", { dir: "auto", "data-start": start, ...(isHeading ? { role: "heading", "aria-level": 3 } : {}) }),
    }));
    place.replaceChildren(...paragraphs.map((each) => each.node));
  }

  function spot({ row, title, url }, words, current) {
    if (!row) return element("span", { class: "linked", title: `Words of an existing link: leads to ${title || url}` }, words);
    return element("a", {
      href: `#${row.id}`, class: `spot ${row.status}`, draggable: "false", "aria-current": row.id === current ? "true" : null,
      title: `${STATUSES[row.status]}: leads to ${row.target_title || row.target_url}`,
      onclick: (event) => { event.preventDefault(); select(row.id); },
    }, words);
  }

  // Marks places, which are in the order of the text and don't overlap, and the paragraph around `fits`.
  function draw(spots, current, fits) {
    let first = 0;
    for (const each of paragraphs) {
      const end = each.start + each.text.length;
      while (first < spots.length && spots[first].end <= each.start) first += 1;
      const mine = [];
      for (let at = first; at < spots.length && spots[at].start < end; at += 1) mine.push(spots[at]);
      each.node.classList.toggle("fits", fits >= each.start && fits <= end);
      const wanted = mine.map(({ row, ...span }) => [span.start, span.end, row?.id, row?.status, row?.id === current]).join(";");
      if (wanted !== each.drawn) fill(each, mine, current);
      each.drawn = wanted;
    }
  }

  function fill({ start, text, node }, mine, current) {
    const focused = node.contains(document.activeElement) && document.activeElement.getAttribute("href");
    const parts = [];
    let at = 0;
    for (const one of mine) {
      const [from, to] = [Math.max(0, one.start - start), one.end - start];
      parts.push(joined(text.slice(at, from)), spot(one, joined(text.slice(from, to)), current));
      at = to;
    }
    node.replaceChildren(...parts, joined(text.slice(at)));
    if (focused) node.querySelector(`[href="${focused}"]`)?.focus();
  }

  // The words that are selected within a paragraph, and where they begin; null without any.
  function selected() {
    const selection = document.getSelection();
    const range = selection.rangeCount && selection.getRangeAt(0);
    const paragraph = range && place.contains(range.commonAncestorContainer)
      && range.startContainer.parentElement.closest("[data-start]");
    const words = paragraph && paragraph.contains(range.endContainer) ? selection.toString() : "";
    if (!words.trim()) return null;
    const before = document.createRange();
    before.setStart(paragraph, 0);
    before.setEnd(range.startContainer, range.startOffset);
    const near = Number(paragraph.dataset.start) + counted(before.toString()).length + words.length - words.trimStart().length;
    return { words: words.trim(), near };
  }

  const current = () => place.querySelector("[aria-current]") || place.querySelector(".fits");
  return { show, draw, selected, current };
}
