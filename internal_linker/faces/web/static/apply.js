// The page Apply: where links go, what would change, writing it, and taking it back.
import { diffOf } from "./diff.js";
import { counted, element, number, onSubmit, outward, projectApi, say, showProblem, sited } from "./shared.js";
import { follow } from "./tasks.js";

const ROWS = 100;
const PAGES = 20;
const get = (id) => document.getElementById(id);
// What is said for the command line, in words that fit the page.
const WORDS = {
  "the page has as many new links as --max-per-page allows": "the page has as many new links as a page may get",
  "the text changed while links were applied: run the command again": "the text changed while links were applied: show the changes again",
  "as many posts as --max-writes allows come first: run the command again": "as many posts as can be changed at once come first: apply them, then show the changes again",
  "the site stopped answering, so nobody knows whether it saved the post: run the command again": "the site stopped answering, so nobody knows whether it saved the post: show the changes again",
  "the site stopped answering, or refused the password: run the command again": "the site stopped answering, or refused the password: show the changes again",
  "the site stopped answering, or refused the password: run undo again": "the site stopped answering, or refused the password: take the links back again",
  "its former text is damaged in the store: put back a backup with store restore": "its former text is damaged in the store",
  "several source files may be the page: name one in files/source_pages.csv": "several source files may be the page: see above",
  "the folder is gone: say where it is with --files": "the folder is gone: choose where it is now",
};
let standing = null;
let found = null;

function told(sentence) {
  return WORDS[sentence] || sentence;
}

function result(one) {
  return one.reason ? `${one.outcome}: ${told(one.reason)}` : one.outcome;
}

function to() {
  return document.querySelector("input[name=to]:checked").value;
}

function showDestination() {
  const files = to() === "files";
  get("choose").hidden = !files;
  const problems = [files && standing.problem, standing.site_problem].filter(Boolean);
  get("folder-problem").hidden = !problems.length;
  get("folder-problem").textContent = problems.join(" ");
  get("show").disabled = !standing.missing || (files && (!standing.folder || Boolean(standing.problem)));
}

function showStanding(now) {
  const first = standing === null;
  standing = now;
  get("to").hidden = !now.site;
  get("site").textContent = now.site;
  if (first && now.site && !now.folder) document.querySelector("input[name=to][value=wordpress]").checked = true;
  for (const id of ["folder", "use-folder"]) get(id).disabled = !now.chooses;
  get("folder").value = now.folder;
  if (!now.chooses) get("folder-help").textContent = "The folder is the setting source_folder. It is chosen in an app without a password, on its own computer.";
  get("missing").textContent = now.missing
    ? `${counted(now.missing, "accepted link is", "accepted links are")} not on the site yet.` : "All accepted links are on the site. Accept more on the page Review.";
  showDestination();
}

// -- what would change --

function linkRow(link) {
  const fine = ["would be applied", "in the text already"].includes(link.outcome);
  return element("tr", {}, element("td", {}, outward(link.page), link.line ? element("div", { class: "help", dir: "ltr" }, `${link.file}:${link.line}`) : null),
    sited("td", link.anchor || "–"), element("td", {}, outward(link.target)),
    element("td", {}, element("span", { class: `badge ${fine ? "finished" : "gaps"}` }, link.outcome === "refused" ? "not applied" : link.outcome),
      link.reason ? element("div", { class: "help" }, told(link.reason)) : null));
}

// Adds rows to a list, with a button for more; `fresh` begins anew.
async function fill(id, path, rows, row, fresh) {
  const place = get(id);
  const shown = found;
  const from = fresh ? 0 : place.children.length;
  const part = await projectApi(`apply/changes/${path}${path.includes("?") ? "&" : "?"}from=${from}&rows=${rows}`);
  if (shown !== found) return;
  const made = part.rows.map(row);
  if (fresh) place.replaceChildren(...made);
  else place.append(...made);
  const more = get(`more-${id}`);
  more.hidden = place.children.length >= part.total;
  more.textContent = `Show more (${number(place.children.length)} of ${number(part.total)})`;
}

function fillLinks(fresh) {
  return fill("links", `links?outcome=${encodeURIComponent(get("outcome").value)}`, ROWS, linkRow, fresh);
}

function fillPages(fresh) {
  return fill("pages", "pages", PAGES, (page, at) => element("details", { class: "change", open: fresh && at === 0 },
    element("summary", {}, element("bdi", {}, page.page), ` · ${counted(page.links, "link")} · `, element("bdi", { class: "path" }, page.file)), diffOf(page.diff)), fresh);
}

async function showChanges() {
  found = await projectApi("apply/changes");
  get("changes").hidden = !found;
  if (!found) return;
  get("done").hidden = true;
  const refused = found.results.filter((one) => ["refused", "for a related box"].includes(one.outcome)).reduce((sum, one) => sum + one.links, 0);
  const figures = [["Links that would be applied", number(found.links)], ["Pages that would change", number(found.pages)], ["Links that would not", number(refused)]];
  get("figures").replaceChildren(...figures.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  get("mapping").textContent = found.mapping;
  get("remarks").replaceChildren(...found.remarks.map((remark) => element("p", { class: "note", dir: "auto" }, remark)),
    element("ul", {}, ...found.results.filter((one) => one.outcome !== "would be applied").map((one) => element("li", {}, `${counted(one.links, "link")} ${result(one)}`))));
  get("unsure-part").hidden = !found.unsure_pages;
  get("unsure-title").textContent = `${counted(found.unsure_pages, "page")} with several possible source files`;
  get("unsure").replaceChildren(...found.unsure.map((one) => element("li", {}, outward(one.page), ": ", sited("bdi", one.why))),
    ...(found.unsure_pages > found.unsure.length ? [element("li", {}, `and ${number(found.unsure_pages - found.unsure.length)} more`)] : []));
  get("apply").hidden = !found.links;
  get("apply").disabled = false;
  get("apply").textContent = `Apply ${counted(found.links, "link")}`;
  get("apply-help").textContent = found.links ? "" : "There is nothing to apply.";
  get("pages-part").hidden = !found.pages;
  get("pages").replaceChildren();
  get("outcome").value = "";
  await Promise.all([fillLinks(true), found.pages ? fillPages(true) : null]);
}

onSubmit(get("wanted"), async (form) => {
  const path = form.get("section").trim();
  const body = { to: to(), sections: path ? [path] : [], tier: form.get("tier"), max_per_page: Number(form.get("most")) };
  get("changes").hidden = true;
  await projectApi("apply/changes", { method: "POST", body });
  await followChanges();
});

function followChanges(options) {
  return follow("changes", get("looking"), async (state) => {
    if (state.status === "failed") showProblem(told(state.error));
    if (state.status !== "done") return;
    await showChanges();
    get("changes-title").focus();
  }, options);
}

// -- writing and taking back --

async function confirmed(title, help, yes) {
  const dialog = get("sure");
  get("sure-title").textContent = title;
  get("sure-help").replaceChildren(...help);
  get("sure-yes").textContent = yes;
  dialog.returnValue = "no";
  dialog.showModal();
  await new Promise((resolve) => { dialog.addEventListener("close", resolve, { once: true }); });
  return dialog.returnValue === "yes";
}

function undoButton(application, words = "Undo") {
  return element("button", { type: "button", class: words === "Undo" ? "quiet" : "", "aria-label": words === "Undo" ? `Undo the application of ${when(application.at)}` : null,
    onclick: () => takeBack(application) }, words);
}

function when(at) {
  return new Date(at).toLocaleString();
}

async function showApplications() {
  const all = await projectApi("applications");
  get("nothing").hidden = all.length > 0;
  get("applications-part").hidden = all.length === 0;
  get("applications").replaceChildren(...all.map((one) => element("tr", {}, element("td", {}, when(one.at)), sited("td", one.by), element("td", { class: "path", dir: "ltr" }, one.home),
    ...[one.texts, one.applied, one.live, one.undone].map((count) => element("td", { class: "figure" }, number(count))),
    element("td", {}, one.applied + one.live ? undoButton(one) : element("span", { class: "help" }, "taken back")))));
  return all;
}

async function showApplied() {
  const done = await projectApi("apply/done");
  found = null;
  get("changes").hidden = true;
  showStanding(await projectApi("apply"));
  const all = await showApplications();
  if (!done) return;
  const mine = all.find((one) => one.application === done.application);
  const title = done.links ? `${counted(done.links, "link")} applied to ${counted(done.texts, "page")}` : "No link was applied";
  get("done").replaceChildren(element("h2", { tabindex: "-1" }, title),
    done.links ? element("p", {}, `${mine?.home.startsWith("http") ? "" : "Publish the site as you always do. "}A link is live once a run has found it in a newer crawl.`) : "",
    ...done.left.map((one) => element("p", { class: "note" }, `${counted(one.links, "link")} ${result(one)}`)),
    ...done.remarks.map((remark) => element("p", { class: "note", dir: "auto" }, remark)),
    mine ? undoButton(mine, `Take ${done.links === 1 ? "it" : "them"} back`) : "");
  get("done").hidden = false;
  get("done").firstChild.focus();
}

get("apply").addEventListener("click", async () => {
  if (!get("by-part").hidden && !get("by").value.trim()) {
    showProblem("Enter your name beside “Your name” first: nobody would know who applied the links.");
    return;
  }
  const home = element("bdi", { class: "path", dir: "ltr" }, found.home);
  const help = found.to === "files" ? ["The files in ", home, " are changed at once. What was there is kept, and Undo puts it back."]
    : ["The posts of ", home, " are changed at once, and visitors see it. What was there is kept, and Undo puts it back."];
  if (!await confirmed(`Apply ${counted(found.links, "link")} to ${counted(found.pages, "page")}?`, help, `Apply ${counted(found.links, "link")}`)) return;
  get("apply").disabled = true;
  try {
    showProblem(null);
    await projectApi("apply", { method: "POST", body: { changes: found.id, by: get("by-part").hidden ? "" : get("by").value } });
    await followApply();
  } catch (error) {
    showProblem(error);
    get("apply").disabled = false;
  }
});

function followApply(options) {
  return follow("apply", get("applying"), async (state) => {
    get("apply").disabled = false;
    if (state.status === "failed") showProblem(told(state.error));
    if (state.status === "done") await showApplied();
  }, { cancels: false, ...options });
}

async function takeBack(application) {
  const links = application.applied + application.live;
  const help = ["Each page that is still as it was left gets its former text, byte by byte. Pages that somebody changed since stay as they are and are listed."];
  if (!await confirmed(`Take back ${counted(links, "link")}?`, help, "Take them back")) return;
  try {
    showProblem(null);
    await projectApi("applications/undo", { method: "POST", body: { application: application.application } });
    await followUndo();
  } catch (error) {
    showProblem(error);
  }
}

function followUndo(options) {
  return follow("undo", get("undoing"), async (state) => {
    if (state.status === "failed") showProblem(told(state.error));
    if (state.status !== "done") return;
    const done = await projectApi("applications/undo");
    await showApplications();
    showStanding(await projectApi("apply"));
    found = null;
    get("changes").hidden = true;
    const title = `${counted(done.restored, "page")} restored, ${counted(done.links, "link")} taken back`;
    get("done").replaceChildren(element("h2", { tabindex: "-1" }, title),
      done.kept_texts ? element("p", { class: "note" }, `${counted(done.kept_texts, "page stays as it is", "pages stay as they are")}:`) : "",
      element("ul", {}, ...done.kept.map((one) => element("li", {}, element("bdi", { class: "path" }, one.file), `: ${told(one.reason)}`))));
    get("done").hidden = false;
    get("done").firstChild.focus();
  }, { cancels: false, ...options });
}

onSubmit(get("choose"), async (form) => {
  get("changes").hidden = true;
  found = null;
  showStanding(await projectApi("apply/folder", { method: "PUT", body: { folder: form.get("folder") } }));
  say("The folder is kept in the settings.");
});
for (const each of document.querySelectorAll("input[name=to]")) {
  each.addEventListener("change", () => { showDestination(); get("changes").hidden = true; });
}
get("outcome").addEventListener("input", () => fillLinks(true).catch(showProblem));
get("more-links").addEventListener("click", () => fillLinks(false).catch(showProblem));
get("more-pages").addEventListener("click", () => fillPages(false).catch(showProblem));
get("open-all").addEventListener("click", () => {
  const all = [...get("pages").children];
  const opens = all.some((each) => !each.open);
  for (const each of all) each.open = opens;
  get("open-all").textContent = opens ? "Close all" : "Open all";
});
get("by").value = localStorage.getItem("reviewer") || "";
get("by").addEventListener("change", () => localStorage.setItem("reviewer", get("by").value));

async function load() {
  showStanding(await projectApi("apply"));
  get("by-part").hidden = standing.chooses;
  await showApplications();
  await followApply({ found: true });
  await followUndo({ found: true });
  await followChanges({ found: true });
  // Whoever comes from the review wants to see the changes of now.
  if (location.hash === "#show" && !get("show").disabled) get("wanted").requestSubmit(get("show"));
}
load().catch(showProblem);
