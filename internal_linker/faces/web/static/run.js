import { counted, duration, element, number, onSubmit, project, projectApi, say, showProblem, sited } from "./shared.js";

const form = document.getElementById("options");
const plan = document.getElementById("plan");
const start = document.getElementById("start");
const cancel = document.getElementById("cancel");
const STATES = {
  running: "running", finished: "finished", gaps: "finished with gaps", failed: "failed", cancelled: "cancelled",
  lost: "stopped unexpectedly",
};
const CHANGED = element("p", { class: "help" }, "The options have changed: see what this run would do before you start it.");
// How often options were changed or a plan was asked for: a plan that comes after the next time belongs to other options.
let asked = 0;
let shownState = "";
let stream = null;

function lines(name) {
  return form.elements[name].value.split("\n").map((line) => line.trim()).filter(Boolean);
}

function options() {
  return {
    limit: form.elements.extent.value === "trial" ? Number(form.elements.limit.value) : 0,
    search: form.elements.search.checked, sections: lines("sections"), only: lines("only"),
    accept_drift: form.elements.accept_drift.checked,
  };
}

async function showPlan() {
  asked += 1;
  const mine = asked;
  start.disabled = true;
  plan.setAttribute("aria-busy", "true");
  plan.replaceChildren(element("p", { class: "loading" }, "Reading the pages …"));
  try {
    const found = await projectApi("plan", { method: "POST", body: options() });
    if (mine !== asked) return;
    const figures = [
      ["Time", `about ${duration(found.seconds)}`],
      ["Searches", found.searches ? `${number(found.searches)}, at most ${counted(found.credits, "credit")}` : "none"],
      ["Texts to embed", number(found.texts)],
      ["Cost", found.cost_usd ? `at most $${found.cost_usd.toFixed(2)}` : "nothing"],
    ];
    plan.replaceChildren(
      element("dl", { class: "figures" },
        ...figures.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)))),
      ...found.notes.map((note) => element("p", { class: "note", dir: "auto" }, note)),
      element("details", {}, element("summary", {}, "All figures"), rows(found.summary)));
    start.disabled = false;
  } catch (error) {
    if (mine !== asked) return;
    plan.replaceChildren(element("p", { class: "problem" }, error.message));
  }
  plan.setAttribute("aria-busy", "false");
}

function rows(figures) {
  return element("table", {}, element("tbody", {}, ...figures.map(({ name, value }) =>
    element("tr", {}, element("th", { scope: "row" }, name.trim()), sited("td", value)))));
}

function step(each, running) {
  const done = Boolean(each.outcome);
  const bar = element("progress", { "aria-label": each.name });
  if (done) { bar.max = 1; bar.value = 1; } else if (each.total) { bar.max = each.total; bar.value = each.done; }
  const counts = each.total ? `${number(each.done)} of ${number(each.total)} ${each.unit}` : counted(each.done, each.unit, each.unit);
  const left = each.left === null ? "" : `, about ${duration(each.left)} left`;
  const told = done ? each.outcome : `${counts}${left}`;
  return element("li", { class: done ? "done" : running ? "now" : "stopped" },
    element("span", { class: "name" }, each.name), running && !done ? bar : null,
    element("span", { class: "told", dir: "auto" }, told),
    element("span", { class: "time" }, each.seconds < 10 ? `${each.seconds.toFixed(1)} s` : duration(each.seconds)));
}

function show({ job }) {
  document.getElementById("job").hidden = !job;
  const running = job?.state === "running";
  document.getElementById("choice").hidden = running;
  if (!job) return;
  document.getElementById("job-title").textContent = running ? "This run" : "Last run";
  const state = document.getElementById("state");
  state.textContent = job.cancelling ? "stopping" : STATES[job.state];
  state.className = `badge ${job.state}`;
  cancel.hidden = !running;
  cancel.textContent = job.cancelling ? "End it at once" : "Cancel the run";
  const sentence = document.getElementById("sentence");
  sentence.hidden = !job.sentence;
  sentence.textContent = job.sentence;
  sentence.className = job.state === "failed" || job.state === "lost" ? "problem" : "";
  document.getElementById("notes").replaceChildren(...job.notes.map((note) => element("p", { class: "note", dir: "auto" }, note)));
  document.getElementById("steps").replaceChildren(...job.steps.map((each) => step(each, running)));
  if (running && !job.steps.length) {
    document.getElementById("steps").replaceChildren(element("li", { class: "now" }, "The program is loading …"));
  }
  document.getElementById("result").hidden = !job.summary.length;
  document.getElementById("summary").replaceChildren(...rows(job.summary).querySelectorAll("tr"));
  const links = [...document.querySelectorAll("nav.pages a")].filter((each) => /\/(links|review)$/.test(each.pathname));
  const next = document.getElementById("next");
  next.hidden = !["finished", "gaps"].includes(job.state) || Boolean(job.options.limit) || !links.length;
  next.replaceChildren(...links.map((each) => element("a", { class: "button", href: each.pathname }, `${each.textContent} of this run`)));
  if (shownState === "running" && !running) {
    say(`The run is ${STATES[job.state]}.`);
    document.title = `${STATES[job.state]} – Run – Internal Linker`;
    showPlan();
  }
  shownState = job.state;
}

// The browser reopens a broken stream by itself, but not one that the app refused: after a restart, it doesn't know the session.
function watch() {
  // What an earlier stream still has to tell is of the last run.
  stream?.close();
  stream = new EventSource(`/api/projects/${project}/job/events`);
  stream.onmessage = ({ data, target }) => {
    const told = JSON.parse(data);
    show(told);
    if (told.job?.state !== "running") target.close();
  };
  stream.onerror = ({ target }) => {
    if (target.readyState === EventSource.CLOSED) projectApi("job").then(show, showProblem);
  };
}

form.addEventListener("input", () => {
  form.elements.limit.disabled = form.elements.extent.value !== "trial";
  asked += 1;
  start.disabled = true;
  plan.setAttribute("aria-busy", "false");
  if (!CHANGED.isConnected) plan.replaceChildren(CHANGED);
});
onSubmit(form, showPlan);
start.addEventListener("click", async () => {
  const mine = asked;
  start.disabled = true;
  try {
    showProblem(null);
    const job = await projectApi("job", { method: "POST", body: options() });
    show({ job });
    document.getElementById("job").scrollIntoView({ block: "nearest" });
    watch();
  } catch (error) {
    showProblem(error);
    start.disabled = mine !== asked;
  }
});
cancel.addEventListener("click", async () => {
  try {
    const job = await projectApi("job/cancel", { method: "POST" });
    show({ job });
  } catch (error) {
    showProblem(error);
  }
});
watch();
showPlan();
