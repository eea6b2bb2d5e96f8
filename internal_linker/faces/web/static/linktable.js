// The table of links with its filters, for the pages Links and Review.
import { element, number, projectApi, project, showProblem, sited } from "./shared.js";
import { TabulatorFull as Tabulator } from "./vendor/tabulator/tabulator_esm.min.mjs";

export const TIERS = { inline: "in the text", sidebar: "related box", review: "needs a look" };
export const STATUSES = {
  proposed: "waiting", accepted: "accepted", edited: "edited", rejected: "rejected", live: "live", withdrawn: "withdrawn",
};
export const ON_SITE = { "": "", missing: "not yet", undone: "taken back", applied: "applied", live: "live" };
const FIELDS = ["text", "status", "section", "tier", "origin", "on_site", "include", "exclude"];
const form = document.getElementById("filters");

export function badge(status) {
  return element("span", { class: `badge ${status}` }, STATUSES[status]);
}

export function score(value) {
  return value === null ? "–" : String(value);
}

export function shortPath(url) {
  try {
    const { pathname, search } = new URL(url);
    return decodeURI(pathname) + search;
  } catch {
    return url;
  }
}

// A page of the site: its title, and its path below.
export function pageName(title, url) {
  return element("span", { class: "pagename" },
    sited("span", title || shortPath(url), { class: "title" }),
    title ? element("span", { class: "path", dir: "ltr" }, shortPath(url)) : null);
}

// A paragraph with the sentence and the anchor in it.
export function marked({ before, lead, anchor: words, rest, after }) {
  return words
    ? [before, element("span", { class: "sentence" }, lead, element("mark", {}, words), rest), after]
    : [element("span", { class: "sentence" }, before, lead, rest, after)];
}

// A suggested wording: its sentence, with the words that would be added.
export function worded(wording) {
  const at = [wording.indexOf("["), wording.lastIndexOf("]")];
  return [wording.slice(0, at[0]), element("ins", {}, wording.slice(at[0] + 1, at[1])), wording.slice(at[1] + 1)];
}

export function between(row) {
  return [sited("span", row.source_title || row.source_url), sited("span", `→ ${row.target_title || row.target_url}`)];
}

export function warned(warning) {
  return `Warning: ${warning}. Add the words to the page's text, or choose others.`;
}

function paths(name) {
  return form.elements[name].value.split(",").map((path) => path.trim()).filter(Boolean);
}

// What the filters say, as the API takes it in an address and in a body.
export function filter() {
  const plain = Object.fromEntries(FIELDS.slice(0, -2).map((name) => [name, form.elements[name].value]));
  return { ...plain, include: paths("include"), exclude: paths("exclude") };
}

export function query(more = {}) {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filter(), ...more })) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== "" && each !== false) found.append(name, each);
    }
  }
  return found.toString();
}

// Calls `changed` soon after a filter changes, and keeps the filters in the page's address.
export function watchFilters(changed) {
  const given = new URLSearchParams(location.search);
  let waiting = 0;
  const told = () => {
    const address = new URLSearchParams(location.search);
    for (const name of FIELDS) {
      if (form.elements[name].value !== form.elements[name].dataset.usual) address.set(name, form.elements[name].value);
      else address.delete(name);
    }
    history.replaceState(null, "", `?${address}`);
    changed();
  };
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(told, 250);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const name of FIELDS) form.elements[name].dataset.usual = form.elements[name].value;
  const chosen = given.get("section");
  if (chosen) form.elements.section.append(element("option", { value: chosen }, chosen));
  for (const name of FIELDS) if (given.has(name)) form.elements[name].value = given.get(name);
  showFacets(chosen).catch(showProblem);
  if (["origin", "on_site", "include", "exclude"].some((name) => given.has(name))) form.querySelector("details").open = true;
}

async function showFacets(chosen) {
  const { sections } = await projectApi("links/facets");
  const select = form.elements.section;
  for (const [name, count] of Object.entries(sections)) {
    const text = `${name || "queries without a page"} (${number(count)})`;
    if (name === chosen) select.selectedOptions[0].textContent = text;
    else select.append(element("option", { value: name }, text));
  }
}

// The table, filled from the server part by part.
export function linkTable(place, { columns, rowFormatter, loaded }) {
  const table = new Tabulator(place, {
    paginationElement: document.getElementById("pager"), columns, rowFormatter, layout: "fitColumns", responsiveLayout: "hide", index: "id", height: "auto",
    placeholder: "", pagination: true, paginationMode: "remote", paginationSize: 50, paginationSizeSelector: [25, 50, 100, 250],
    paginationCounter: "rows", sortMode: "remote", headerSortTristate: true, ajaxURL: "links", renderVertical: "basic",
    columnDefaults: { headerHozAlign: "left", vertAlign: "top", resizable: false },
    dataLoader: false,
    ajaxRequestFunc: async (url, config, params) => {
      const [sort] = params.sort || [];
      const order = sort ? { order: sort.field, descending: sort.dir === "desc" } : {};
      try {
        const found = await projectApi(`links?${query({ ...order, offset: (params.page - 1) * params.size, limit: params.size })}`);
        showProblem(null);
        loaded(found);
        return { data: found.rows, last_page: Math.max(1, Math.ceil(found.total / params.size)), last_row: found.total };
      } catch (error) {
        showProblem(error);
        loaded({ total: 0, rows: [], statuses: {}, problem: "" });
        return { data: [], last_page: 1, last_row: 0 };
      }
    },
    langs: { default: { pagination: { counter: { showing: "Links", of: "of", rows: "", pages: "" } } } },
  });
  table.on("tableBuilt", () => {
    // A grid may have rows only; this part can't be scrolled, so that nobody needs to reach it by keyboard.
    place.querySelector(".tabulator-tableholder").removeAttribute("tabindex");
    place.setAttribute("aria-label", "Links");
  });
  return table;
}

export function fileAddress(kind) {
  return `/api/projects/${project}/links/file?${query({ kind })}`;
}
