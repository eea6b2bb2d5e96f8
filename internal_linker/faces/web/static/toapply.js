// The way from the review to the page Apply, with how many links wait there.
import { counted, element, project, projectApi, showProblem } from "./shared.js";

// Decisions come fast, by key.
const AFTER_MS = 800;
let waiting = 0;

export function showToApply() {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    try {
      const { missing } = await projectApi("apply");
      const place = document.getElementById("to-apply");
      place.hidden = !missing;
      place.replaceChildren(`${counted(missing, "accepted link is", "accepted links are")} not on the site yet: `,
        element("a", { href: `/p/${project}/apply#show` }, "Show the changes and apply"));
    } catch (error) {
      showProblem(error);
    }
  }, AFTER_MS);
}
