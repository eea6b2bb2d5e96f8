// A unified diff as elements: lines in their own direction, what is new in a line marked, and nothing hidden.
import { element } from "./shared.js";

// Characters that turn the direction of a text or can't be seen: what is shown must be what is written.
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2028-\u202e\u2060-\u2069\ufeff]/u;

function code(letter) {
  return `U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

// The text with a name in place of each character that can't be seen.
function shown(text) {
  const parts = [];
  let plain = "";
  for (const letter of text) {
    if (UNSEEN.test(letter)) {
      parts.push(plain, element("span", { class: "unseen", dir: "ltr" }, letter === "\r" ? "CR" : code(letter)));
      plain = "";
    } else plain += letter;
  }
  return [...parts, plain].filter((part) => part !== "");
}

// Splits the new line into what the old one has and what was put in; one part if more than that was done.
function insertions(before, after) {
  const [old, now] = [[...before], [...after]];
  let first = 0;
  while (first < old.length && old[first] === now[first]) first += 1;
  let last = 0;
  while (last < old.length - first && old.at(-1 - last) === now.at(-1 - last)) last += 1;
  const parts = [{ text: now.slice(0, first).join(""), fresh: false }];
  let at = first;
  for (const letter of now.slice(first, now.length - last)) {
    const fresh = letter !== old[at] || at >= old.length - last;
    if (!fresh) at += 1;
    if (parts.at(-1).fresh === fresh) parts.at(-1).text += letter;
    else parts.push({ text: letter, fresh });
  }
  if (at < old.length - last) return [{ text: after, fresh: false }];
  return [...parts, { text: last ? now.slice(-last).join("") : "", fresh: false }].filter((part) => part.text);
}

function line(kind, sign, said, ...text) {
  return element(kind === "removed" ? "del" : kind === "added" ? "ins" : "div", { class: kind },
    // Outside of the text, whose own letters decide its direction.
    said ? element("span", { class: "said" }, said) : null, element("span", { class: "sign", "aria-hidden": "true" }, sign),
    element("span", { class: "text", dir: "auto" }, ...text));
}

export function diffOf(text) {
  const lines = text.split("\n");
  const made = [];
  for (let at = 0; at < lines.length;) {
    const blocks = { "-": [], "+": [] };
    for (const sign of ["-", "+"]) {
      while (lines[at]?.startsWith(sign) || (blocks[sign].length && lines[at]?.startsWith("\\"))) {
        if (lines[at].startsWith(sign)) blocks[sign].push(lines[at].slice(1));
        at += 1;
      }
    }
    made.push(...blocks["-"].map((each) => line("removed", "−", "Before: ", ...shown(each))));
    made.push(...blocks["+"].map((each, place) => {
      const parts = blocks["-"][place] === undefined ? [{ text: each }] : insertions(blocks["-"][place], each);
      return line("added", "+", "After: ", ...parts.flatMap((part) => (part.fresh ? element("mark", {}, ...shown(part.text)) : shown(part.text))));
    }));
    if (at >= lines.length || "-+".includes(lines[at][0] || " ")) continue;
    const place = lines[at].match(/^@@ -\d+,\d+ \+(\d+)/);
    if (place) made.push(line("place", "", "", `Line ${place[1]}`));
    else if (!lines[at].startsWith("\\")) made.push(line("same", "", "", ...shown(lines[at].slice(1))));
    at += 1;
  }
  return element("div", { class: "diff" }, ...made);
}
