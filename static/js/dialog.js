// A dialog arrives in #dialog as a part of a page: open it once its fields can answer. It leaves when closed or when its work is done.
document.addEventListener("htmx:afterSettle", () => document.querySelector("#dialog > dialog:not([open])")?.showModal());
document.addEventListener("dialog-done", () => document.querySelector("dialog[open]")?.close());
document.addEventListener("close", (event) => event.target.matches("dialog") && event.target.remove(), true);
