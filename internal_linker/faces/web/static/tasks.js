// Shows how far a task of the server has come, with a button that ends it.
import { duration, element, number, projectApi, showProblem } from "./shared.js";

const EVERY_MS = 400;

function bar(state) {
  const shown = element("progress", { "aria-label": state.step || "Progress", ...(state.total && { max: state.total, value: state.done }) });
  const count = state.total ? `${number(state.done)} of ${number(state.total)} ${state.unit}` : state.done ? `${number(state.done)} ${state.unit}` : "";
  const left = state.seconds_left === null ? "" : `about ${duration(state.seconds_left)} left`;
  return [shown, element("span", {}, [state.step, count, left].filter(Boolean).join(" · ") || "Starting …")];
}

// Follows the task of this kind until it ends; calls `ended` with its last state. Returns at once if there is none.
// Some tasks must not end half-way: without `cancels` there is no button. A page that did not start the task but finds it when
// it is opened says `found`: what had ended before was shown to who waited for it.
export async function follow(kind, place, ended = () => {}, { cancels = true, found = false } = {}) {
  let buttons = null;
  const line = element("div", { class: "row task" });
  for (;;) {
    let state;
    try {
      state = await projectApi(`tasks/${kind}`);
    } catch (error) {
      showProblem(error);
      place.replaceChildren();
      return null;
    }
    if (state.status === "none" || (found && !buttons && state.status !== "running")) return state;
    if (state.status !== "running") {
      place.replaceChildren(...state.notes.map((note) => element("p", { class: "note", dir: "auto" }, note)));
      if (state.status === "failed") showProblem(state.error);
      if (state.status === "cancelled") place.prepend(element("p", { class: "note" }, state.error));
      await ended(state);
      return state;
    }
    if (!buttons) {
      buttons = element("button", { type: "button", onclick: async (event) => {
        event.currentTarget.disabled = true;
        await projectApi(`tasks/${kind}/cancel`, { method: "POST" }).catch(showProblem);
      } }, "Cancel");
      place.replaceChildren(line, ...(cancels ? [buttons] : []));
    }
    line.replaceChildren(...bar(state));
    await new Promise((resolve) => { setTimeout(resolve, EVERY_MS); });
  }
}
