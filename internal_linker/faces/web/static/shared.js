// What all pages share: the API, elements, messages and colours.

export const project = document.body.dataset.project;
const whole = new Intl.NumberFormat("en");

export function number(value) {
  return value === null || value === undefined ? "–" : whole.format(value);
}

export function counted(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

export function duration(seconds) {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

// Text always goes in as text, never as HTML: titles and sentences are other people's.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// A text of the site, in its own direction.
export function sited(name, text, attributes = {}) {
  return element(name, { dir: "auto", ...attributes }, text);
}

// A link to a page of the site; other addresses than HTTP stay text.
export function outward(url, attributes = {}) {
  if (!/^https?:\/\//i.test(url)) return element("span", { dir: "auto", ...attributes }, url);
  return element("a", { href: url, target: "_blank", rel: "noopener noreferrer", dir: "ltr", ...attributes }, url);
}

// Sentences are shared with the command line: the option that one begins with is another field here.
function unflagged(sentence) {
  return sentence.replace(/^--[a-z][a-z-]* /, "").replace(/^--[a-z][a-z-]*: (.)/, (all, first) => first.toUpperCase());
}

export class ApiError extends Error {
  constructor(sentence, status) {
    super(unflagged(sentence));
    this.status = status;
  }
}

export async function api(path, { method = "GET", body, signal } = {}) {
  let answer;
  try {
    answer = await fetch(`/api/${path}`, {
      method, signal, headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The app doesn't answer: start it again, then reload this page.", 0);
  }
  const data = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new ApiError(data.error || `The app answered with status ${answer.status}.`, answer.status);
  return data;
}

export function projectApi(path, options) {
  return api(`projects/${project}/${path}`, options);
}

// Shows an error in the page's own place for it; null hides it.
export function showProblem(error, place = document.getElementById("problem")) {
  place.hidden = !error;
  place.textContent = error ? error.message || unflagged(String(error)) : "";
  // Not at once: what was typed on the page would be lost.
  if (error?.status === 401 && location.pathname !== "/login") place.append(" ", element("a", { href: "/login" }, "Sign in"));
}

// Says something in passing; a screen reader says it, too.
export function say(text, { action, act, seconds = 6 } = {}) {
  const toast = element("div", { class: "toast" }, element("span", {}, text));
  if (action) {
    toast.append(element("button", { type: "button", onclick: () => { toast.remove(); act(); } }, action));
  }
  const place = document.getElementById("said");
  place.replaceChildren(toast);
  setTimeout(() => toast.remove(), seconds * 1000);
}

// Keeps a form from being sent twice.
export function onSubmit(form, send) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = event.submitter || form.querySelector("button");
    button.disabled = true;
    try {
      showProblem(null);
      await send(new FormData(form));
    } catch (error) {
      showProblem(error);
    } finally {
      button.disabled = false;
    }
  });
}

export function colour(name) {
  // Resolves light-dark(), which a custom property keeps as it is written.
  const probe = element("span", { hidden: true, class: `colour-${name}` });
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

document.getElementById("sign-out")?.addEventListener("click", async () => {
  await api("logout", { method: "POST" }).catch(() => {});
  location.assign("/login");
});

const THEMES = ["system", "light", "dark"];
const root = document.documentElement;
const button = document.getElementById("theme");

function showTheme() {
  if (button) button.textContent = `Colours: ${root.dataset.theme}`;
}

if (button) {
  button.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
    root.dataset.theme = next;
    localStorage.setItem("theme", next);
    showTheme();
    document.dispatchEvent(new Event("colours"));
  });
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("colours")));
showTheme();
// On a phone the navigation is longer than the screen.
const nav = document.querySelector("nav.pages");
const here = nav?.querySelector("[aria-current]");
if (here) nav.scrollLeft = here.offsetLeft - (nav.clientWidth - here.clientWidth) / 2;
