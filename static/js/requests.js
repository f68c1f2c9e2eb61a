// What polls rests while nobody looks or a menu in it is open, and looks again on return. Failed requests are told, never swapped in.
document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt } = event.detail;
  if ((document.hidden || elt.querySelector(":popover-open")) && elt.getAttribute("hx-trigger")?.includes("every")) event.preventDefault();
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
