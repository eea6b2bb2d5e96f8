// Tables that sort, filter and go out as CSV; a report's own script calls equipTables.
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
const NUMBER = /^[+-]?[\d,]+(\.\d+)?%?$/;

function plain(node) { return node ? node.textContent.replace(/\s+/g, " ").trim() : ""; }

// What a cell is sorted by: its number, else its title or text; undefined for an empty or unknown one.
function sortValue(cell) {
  const text = plain(cell && (cell.querySelector(".title") || cell));
  const figure = cell && cell.closest(".figures, .number") ? text.split(" ")[0] : text;
  if (NUMBER.test(figure)) return parseFloat(figure.replace(/[,%]/g, ""));
  return ["", "–", "unknown", "none"].includes(text) ? undefined : text;
}

function compare(one, other) {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return collator.compare(String(one), String(other));
}

function sortRows(table, column) {
  const heads = [...table.tHead.rows[0].cells], rows = [...table.tBodies[0].rows];
  const values = new Map(rows.map((row) => [row, sortValue(row.cells[column])]));
  const known = rows.filter((row) => values.get(row) !== undefined);
  const numeric = known.every((row) => typeof values.get(row) === "number");
  const before = heads[column].getAttribute("aria-sort");
  // Numbers begin with the largest.
  const down = before ? before === "ascending" : numeric;
  known.sort((one, other) => (down ? -1 : 1) * compare(values.get(one), values.get(other)));
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  // Empty cells come last either way.
  table.tBodies[0].append(...known, ...rows.filter((row) => values.get(row) === undefined));
}

// Shows the rows that contain all words; returns how many.
function filterRows(table, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const row of table.tBodies[0].rows) {
    const said = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => said.includes(word));
    count += !row.hidden;
  }
  return count;
}

function csvCell(text) {
  const bare = NUMBER.test(text) ? text.replace(/,/g, "") : text;
  // A spreadsheet program would calculate a text that begins like a formula.
  const safe = /^[=+\-@\t\r]/.test(bare) && !NUMBER.test(bare) ? "'" + bare : bare;
  return '"' + safe.replace(/"/g, '""') + '"';
}

// The parts of a column that have columns of their own in the CSV: name, and the cell's text.
function csvColumns(rows, name, column) {
  const has = (selector) => rows.some((row) => row.cells[column]?.querySelector(selector));
  const all = (selector) => (row) => [...(row.cells[column]?.querySelectorAll(selector) || [])].map(plain).join(" | ");
  const text = (row) => plain(row.cells[column]);
  if (has(".url")) return [...(has(".title") ? [[name, all(".title")]] : []), [has(".title") ? `${name} (URL)` : name, all(".url")]];
  return has("b") ? [[name, text], ["Anchor", all("b")]] : [[name, text]];
}

function csvOf(table) {
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  const columns = [...table.tHead.rows[0].cells].flatMap((head, at) => csvColumns(rows, plain(head), at));
  const lines = [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, text]) => text(row)))];
  // With the mark, Excel reads the file as UTF-8.
  return "\ufeff" + lines.map((line) => line.map(csvCell).join(",") + "\r\n").join("");
}

function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function tableName(table) {
  const name = table.dataset.name || [table.closest("section")?.id, plain(table.caption)].filter(Boolean).join("-");
  return name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}

function equip(table, report) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortRows(table, column));
    head.append(button);
  });
  const total = table.tBodies[0].rows.length, name = tableName(table);
  const tools = document.createElement("div"), input = document.createElement("input");
  const count = document.createElement("span"), save = document.createElement("button");
  tools.className = "table-tools";
  Object.assign(input, { type: "search", placeholder: "Filter rows" });
  input.setAttribute("aria-label", `Filter the table ${name}`);
  count.setAttribute("role", "status");
  input.addEventListener("input", () => {
    const shown = filterRows(table, input.value);
    count.textContent = input.value.trim() ? `${whole.format(shown)} of ${whole.format(total)} rows` : "";
  });
  Object.assign(save, { type: "button", textContent: "Save as CSV", title: "Saves the rows shown" });
  save.setAttribute("aria-label", `Save the table ${name} as CSV`);
  save.addEventListener("click", () => download(`${report}-${name}.csv`, csvOf(table)));
  tools.append(input, save, count);
  (table.closest(".scroll") || table).before(tools);
}

// Equips all tables that have rows; one that is empty says so in a cell over all columns.
function equipTables(report) {
  for (const table of document.querySelectorAll("table")) if (!table.querySelector("td[colspan]")) equip(table, report);
}
