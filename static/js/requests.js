// What polls rests while nobody looks, while a menu in it is open, and below an open dialog: what opened that must be there
// still to take the focus back. It looks again on return. Failed requests are told, never swapped in.
const rests = ({ elt, requestConfig }) => document.hidden || elt.querySelector(":popover-open") ||
  (!requestConfig.triggeringEvent && document.querySelector("dialog[open]") && !elt.closest("dialog"));
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.getAttribute("hx-trigger")?.includes("every") && rests(event.detail)) event.preventDefault();
});
const lookAgain = () => document.hidden || document.body.dispatchEvent(new Event("tab-shown"));
document.addEventListener("visibilitychange", lookAgain);
window.addEventListener("focus", lookAgain);
// A dialog brings a notice of its own, after the page's: the last one is the one that can be heard.
const notice = () => [...document.querySelectorAll(".alert")].at(-1);
const tell = (text) => {
  notice().hidden = false;
  if (notice().querySelector("p").textContent !== text) notice().querySelector("p").textContent = text;
};
document.addEventListener("htmx:responseError", ({ detail: { xhr } }) =>
  tell(notice().dataset[`s${xhr.status}`] ?? notice().dataset.other.replace("%", xhr.status)));
document.addEventListener("htmx:sendError", () => tell(notice().dataset.offline));
document.addEventListener("htmx:afterOnLoad", ({ detail: { xhr } }) => { if (xhr.status < 400) notice().hidden = true; });
