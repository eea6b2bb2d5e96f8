// config/link_rules.csv and config/link_targets.csv as tables with fields, for the page Settings.
import { element, onSubmit, projectApi, say, showProblem } from "./shared.js";

const MODES = ["always", "never", "prefer"];

// Returns whether the table has changes that are not saved.
export function rulesTable(section) {
  const { table: name } = section.dataset;
  const part = (selector) => section.querySelector(selector);
  let header = [];
  let version = "";
  let saved = "[]";

  const rows = () => [...part("tbody").rows].map((row) => [...row.querySelectorAll("input, select")].map((field) => field.value));
  const isChanged = () => JSON.stringify(rows().filter((row) => row.some(Boolean))) !== saved;

  function field(column, value, number) {
    const common = { "aria-label": `${column || "Column without a name"}, row ${number}` };
    if (column !== "Mode") return element("input", { ...common, value, autocomplete: "off", spellcheck: "false", maxlength: 4_000 });
    // A word that is no mode stays until somebody corrects it.
    const mode = MODES.find((each) => each === value.trim().toLowerCase()) ?? value;
    const select = element("select", common, ...[...new Set(["", ...MODES, mode])].map((each) => element("option", { value: each }, each)));
    select.value = mode;
    return select;
  }

  function line(cells, number) {
    const made = element("tr", {}, element("th", { scope: "row" }, String(number)),
      ...header.map((column, at) => element("td", { "data-name": column }, field(column, cells[at] ?? "", number))),
      element("td", {}, element("button", { type: "button", class: "quiet", "aria-label": `Remove row ${number}`, onclick: () => remove(made) }, "Remove")));
    return made;
  }

  function fill(cells) {
    part("tbody").replaceChildren(...cells.map((row, at) => line(row, at + 2)));
    part("table").hidden = !cells.length;
  }

  function remove(row) {
    const at = row.rowIndex - 1;
    fill(rows().filter((each, place) => place !== at));
    (part("tbody").rows[at]?.querySelector("input") || part(".add")).focus();
    check();
  }

  function told({ problem, notes }) {
    showProblem(problem || null, part(".problem"));
    part(".note").hidden = !notes.length;
    part(".note").replaceChildren(...notes.map((note) => element("p", {}, note)));
    part(".state").textContent = isChanged() ? "Not saved" : "";
  }

  // What a run would say, before anything is saved.
  let asked = 0;
  async function check() {
    const number = ++asked;
    try {
      const found = await projectApi(`tables/${name}/check`, { method: "POST", body: { header, rows: rows() } });
      if (number === asked) told(found);
    } catch (error) {
      showProblem(error, part(".problem"));
    }
  }

  function show(found) {
    ({ header, version } = found);
    part("thead tr").replaceChildren(element("th", { scope: "col" }, "Row"), ...header.map((column) => element("th", { scope: "col" }, column)), element("td"));
    fill(found.rows);
    saved = JSON.stringify(rows().filter((row) => row.some(Boolean)));
    part("form").hidden = false;
    asked += 1;
    told(found.checked);
  }

  part(".add").addEventListener("click", () => {
    fill([...rows(), []]);
    part("tbody tr:last-child").querySelector("input").focus();
  });
  part("tbody").addEventListener("change", check);
  onSubmit(part("form"), async () => {
    try {
      show(await projectApi(`tables/${name}`, { method: "PUT", body: { header, rows: rows(), version } }));
      say("The table is saved.");
    } catch (error) {
      showProblem(error, part(".problem"));
    }
  });
  projectApi(`tables/${name}`).then(show).catch((error) => showProblem(error, part(".problem")));
  return isChanged;
}
