"use strict";
// Before the first paint, so that the page doesn't flash in other colours.
document.documentElement.dataset.theme = localStorage.getItem("theme") || "system";
