import { rulesTable } from "./rulestable.js";
import { counted, element, onSubmit, projectApi, say, showProblem } from "./shared.js";

const form = document.getElementById("settings");
const groups = document.getElementById("groups");
const find = document.getElementById("find");
const onlyChanged = document.getElementById("changed");
let shown = { settings: [], version: "" };
// What was typed and is not saved: value by name, null for the default.
const unsaved = new Map();

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const valueOf = (setting) => (unsaved.has(setting.name) ? unsaved.get(setting.name) ?? setting.default : setting.value);
const told = (value) => (Array.isArray(value) ? value.join(", ") : String(value)) || "empty";
const source = { default: "default", file: "from the file", environment: "from the environment" };

function typed(setting, input) {
  if (setting.kind === "list") return input.value.split("\n").map((line) => line.trim()).filter(Boolean);
  if (setting.kind.includes("number")) return input.value.trim() === "" || Number.isNaN(Number(input.value)) ? input.value : Number(input.value);
  return setting.kind === "yes or no" ? input.checked : input.value;
}

function field(setting) {
  const id = `setting-${setting.name}`;
  const common = { id, "aria-describedby": `${id}-help`, disabled: setting.source === "environment", spellcheck: "false", autocomplete: "off" };
  const value = valueOf(setting);
  let input;
  if (setting.kind === "choice") {
    input = element("select", common, ...setting.choices.map((choice) => element("option", { value: choice }, choice || "(empty)")));
    input.value = value;
  } else if (setting.kind === "yes or no") {
    input = element("input", { ...common, type: "checkbox" });
    input.checked = value;
  } else if (setting.kind === "list") {
    input = element("textarea", { ...common, rows: Math.max(2, value.length + 1), placeholder: "one per line" });
    input.value = value.join("\n");
  } else {
    input = element("input", { ...common, type: "text", inputmode: setting.kind.includes("number") ? "decimal" : null });
    input.value = value;
  }
  input.addEventListener("input", () => change(setting, typed(setting, input)));
  return input;
}

function change(setting, value) {
  if (same(value ?? setting.default, setting.value)) unsaved.delete(setting.name);
  else unsaved.set(setting.name, value);
  document.getElementById(`row-${setting.name}`).classList.toggle("unsaved", unsaved.has(setting.name));
  showUnsaved();
}

function showUnsaved() {
  document.getElementById("save").hidden = unsaved.size === 0;
  document.getElementById("unsaved").textContent = unsaved.size ? `${counted(unsaved.size, "change")} not saved` : "";
}

function restore(setting) {
  change(setting, null);
  const row = document.getElementById(`row-${setting.name}`);
  row.replaceWith(line(setting));
  document.getElementById(`setting-${setting.name}`).focus();
}

function line(setting) {
  const id = `setting-${setting.name}`;
  const differs = !same(setting.value, setting.default);
  return element("div", { class: `setting${unsaved.has(setting.name) ? " unsaved" : ""}`, id: `row-${setting.name}` },
    element("div", {},
      element("label", { for: id }, setting.name),
      element("p", { class: "help", id: `${id}-help` }, `${setting.help} ${setting.allowed ? `Allowed: ${setting.allowed}. ` : ""}Default: ${told(setting.default)}.`)),
    element("div", {}, field(setting)),
    element("p", { class: "from" },
      setting.source === "environment" ? `${source.environment}: ${setting.variable}` : source[setting.source],
      differs && setting.source !== "environment" && element("button", { type: "button", class: "quiet", "aria-label": `Restore default: ${setting.name}`,
        onclick: () => restore(setting) }, "Restore default")));
}

function showSettings() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = shown.settings.filter((setting) => {
    const text = `${setting.name} ${setting.name.replaceAll("_", " ")} ${setting.help} ${setting.group}`.toLowerCase();
    return words.every((word) => text.includes(word)) && (!onlyChanged.checked || !same(setting.value, setting.default) || unsaved.has(setting.name));
  });
  const byGroup = Map.groupBy ? Map.groupBy(wanted, (setting) => setting.group) : wanted.reduce((found, setting) =>
    found.set(setting.group, [...(found.get(setting.group) ?? []), setting]), new Map());
  groups.replaceChildren(...(wanted.length ? [...byGroup].map(([group, settings]) =>
    element("div", { class: "group" }, element("h3", {}, group), ...settings.map(line),
      group.startsWith("Schedule") && starters()))
    : [element("p", { class: "empty" }, "No setting fits.")]));
  showUnsaved();
}

// What starts runs, since the app doesn't.
function starters() {
  const times = shown.next_runs.map((time) => new Date(time).toLocaleString(undefined, { dateStyle: "full", timeStyle: "short" }));
  const line = (text) => element("code", { class: "command", dir: "ltr" }, text);
  return element("div", { class: "help", id: "starters" },
    element("p", {}, "The app starts no run at these times. One of these does, whether the app is open or not:"),
    element("ul", {},
      element("li", {}, "a command that you leave running in a terminal or as a service", line(shown.schedule_command),
        times.length > 0 && `It would start the next runs on ${times.join("; ")} (in this browser's time zone).`),
      element("li", {}, "the computer's own scheduler (cron, Task Scheduler), at times that you set there instead of here", line(shown.run_command))));
}

function keyCard(key) {
  const id = `key-${key.name}`;
  const several = ["service_account", "site_access", "wordpress", "notify"].includes(key.name);
  const fixed = key.source === "environment";
  const state = { "": "not set", file: "set", environment: `set by an environment variable` }[key.source];
  const input = several
    ? element("textarea", { id, name: "text", rows: 2, required: true, autocomplete: "off", spellcheck: "false", disabled: fixed })
    : element("input", { id, name: "text", type: "password", required: true, autocomplete: "new-password", disabled: fixed });
  const made = element("form", {},
    element("label", { for: id }, key.name),
    element("p", { class: "help" }, key.help, " ", element("span", { class: `state ${key.source ? "set" : "unset"}` }, `It is ${state}.`)),
    input,
    element("div", { class: "row" },
      element("button", { disabled: fixed, "aria-label": `Set ${key.name}` }, "Set"),
      key.source === "file" && element("button", { type: "button", class: "quiet", "aria-label": `Remove ${key.name}`, onclick: () => removeKey(key, card) }, "Remove")));
  const card = element("li", { class: "card" }, made);
  onSubmit(made, async (data) => {
    const changed = await projectApi(`keys/${key.name}`, { method: "PUT", body: { text: data.get("text") } });
    say(`${key.name} is set.`);
    await showKey(card, changed);
  });
  return card;
}

async function removeKey(key, card) {
  try {
    showProblem(null);
    const changed = await projectApi(`keys/${key.name}`, { method: "DELETE" });
    say(`${key.name} is removed.`);
    await showKey(card, changed);
  } catch (error) {
    showProblem(error);
  }
}

// Everything else stays, since it may have text that is not saved.
async function showKey(card, key) {
  const { problem } = await projectApi("settings");
  card.replaceWith(keyCard(key));
  document.getElementById(`key-${key.name}`).focus();
  if (problem) showProblem(problem);
}

function show(result) {
  shown = result;
  showProblem(result.problem || null);
  showSettings();
}

async function load() {
  try {
    const result = await projectApi("settings");
    show(result);
    document.getElementById("keys").replaceChildren(...result.keys.map(keyCard));
    document.getElementById("patterns").value = result.exclusions;
  } catch (error) {
    groups.replaceChildren(element("p", { class: "empty" }, "The settings can't be shown."));
    showProblem(error);
  }
  form.setAttribute("aria-busy", "false");
}

onSubmit(form, async () => {
  const count = unsaved.size;
  const result = await projectApi("settings", { method: "PATCH", body: { changes: Object.fromEntries(unsaved), version: shown.version } });
  unsaved.clear();
  show(result);
  say(`${counted(count, "setting")} saved.`);
});
onSubmit(document.getElementById("exclusions"), async (data) => {
  const result = await projectApi("exclusions", { method: "PUT", body: { text: data.get("text") } });
  document.getElementById("patterns").value = result.exclusions;
  showProblem(result.problem || null);
  say("The patterns are saved.");
});
document.getElementById("discard").addEventListener("click", () => { unsaved.clear(); showSettings(); find.focus(); });
for (const input of [find, onlyChanged]) input.addEventListener("input", showSettings);
const changedTables = [...document.querySelectorAll("section[data-table]")].map(rulesTable);
window.addEventListener("beforeunload", (event) => {
  if (unsaved.size || changedTables.some((isChanged) => isChanged())) event.preventDefault();
});

document.getElementById("check").addEventListener("click", async (event) => {
  const button = event.currentTarget;
  const facts = document.getElementById("facts");
  button.disabled = true;
  facts.replaceChildren(element("p", { class: "loading" }, "Checking …"));
  try {
    const found = await projectApi("check", { method: "POST" });
    const look = (ok) => (ok === null ? ["not used", ""] : ok ? ["OK", "good"] : ["Problem", "bad"]);
    facts.replaceChildren(element("ul", { class: "facts" }, ...found.map((fact) => element("li", {},
      element("span", { class: look(fact.ok)[1] }, look(fact.ok)[0]), element("span", {}, element("strong", {}, `${fact.name}: `), fact.text)))));
  } catch (error) {
    facts.replaceChildren();
    showProblem(error);
  }
  button.disabled = false;
});
load();
