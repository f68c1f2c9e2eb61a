// A dialog arrives in #dialog as a part of a page: open it once its fields can answer. It leaves when closed or when its work is done.
// What opened it takes the focus back, also when the page has brought it anew meanwhile.
const opening = { from: "", open(dialog) { this.from = document.activeElement?.id; dialog.showModal(); } };
const closed = (dialog) => { dialog.remove(); document.activeElement === document.body && document.getElementById(opening.from)?.focus(); };
document.addEventListener("htmx:afterSettle", () => document.querySelectorAll("#dialog > dialog:not([open])").forEach((each) => opening.open(each)));
document.addEventListener("dialog-done", () => document.querySelector("dialog[open]")?.close());
document.addEventListener("close", ({ target }) => target.matches("dialog") && closed(target), true);
