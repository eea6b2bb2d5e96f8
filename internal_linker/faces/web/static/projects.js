import { api, element, onSubmit, say, showProblem } from "./shared.js";

const known = document.getElementById("known");
// Whether folders can be chosen here.
let opens = false;

function opened(project) {
  location.assign(`/p/${project.key}/`);
}

function state(project) {
  if (!project.there) return "folder not found";
  if (project.has_links) return "has links";
  return project.has_pages ? "has pages, no run yet" : "no pages yet";
}

function card(project) {
  const name = project.there
    ? element("a", { href: `/p/${project.key}/`, dir: "auto" }, project.name)
    : element("span", { dir: "auto" }, project.name);
  return element("li", { class: "card" },
    element("h3", {}, name),
    element("p", { class: "path", dir: "ltr" }, project.folder),
    element("p", { class: "help" }, `${state(project)} · opened ${new Date(project.opened_at).toLocaleString()}`),
    opens && element("button", { type: "button", class: "quiet", "aria-label": `Remove from list: ${project.name}`,
      onclick: () => forget(project) }, "Remove from list"));
}

async function forget(project) {
  try {
    await api(`projects/${project.key}`, { method: "DELETE" });
    say(`${project.name} is off the list; its folder stays as it is.`);
    await load();
  } catch (error) {
    showProblem(error);
  }
}

async function load() {
  try {
    const found = await api("projects");
    ({ opens } = found);
    document.getElementById("choose").hidden = !opens;
    known.replaceChildren(found.projects.length
      ? element("ul", { class: "cards" }, ...found.projects.map(card))
      : element("p", { class: "empty" }, opens
        ? "No project yet: create one below, or take the tour with the sample site."
        : "No project yet: open one on the app's own computer."));
    const separator = found.home.includes("\\") ? "\\" : "/";
    document.getElementById("sample").hidden = !found.sample;
    for (const [id, name] of [["create-folder", "my-site"], ["sample-folder", "internal-linker-sample"]]) {
      const input = document.getElementById(id);
      if (!input.value) input.value = `${found.home}${separator}${name}`;
    }
  } catch (error) {
    known.replaceChildren();
    showProblem(error);
  }
  known.setAttribute("aria-busy", "false");
}

for (const [id, path, sample] of [["create", "projects", false], ["try", "projects", true], ["open", "projects/open"]]) {
  onSubmit(document.getElementById(id), async (form) => {
    opened(await api(path, { method: "POST", body: { folder: form.get("folder"), ...(sample && { sample }) } }));
  });
}
load();
