// A dialog arrives in #dialog as a part of a page: open it once its fields can answer. It leaves when closed or when its work is done.
// What opened it takes the focus back, also when the page has brought it anew meanwhile.
let opener = "";
document.addEventListener("htmx:afterSettle", () => {
  const dialog = document.querySelector("#dialog > dialog:not([open])");
  if (dialog) opener = document.activeElement?.id ?? "";
  dialog?.showModal();
});
document.addEventListener("dialog-done", () => document.querySelector("dialog[open]")?.close());
document.addEventListener("close", ({ target }) => {
  if (!target.matches("dialog")) return;
  target.remove();
  if (document.activeElement === document.body) document.getElementById(opener)?.focus();
}, true);
