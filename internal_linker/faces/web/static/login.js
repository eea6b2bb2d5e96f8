import { api, onSubmit } from "./shared.js";

onSubmit(document.getElementById("login"), async (form) => {
  await api("login", { method: "POST", body: { password: form.get("password") } });
  location.assign("/");
});
