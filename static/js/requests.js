// What polls rests while nobody looks, and looks again on return. Failed requests are told, never swapped in.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.detail.elt.getAttribute("hx-trigger")?.includes("every")) event.preventDefault();
});
const lookAgain = () => document.hidden || document.body.dispatchEvent(new Event("tab-shown"));
document.addEventListener("visibilitychange", lookAgain);
window.addEventListener("focus", lookAgain);
const notice = document.getElementById("alert");
const tell = (text) => {
  (document.querySelector("dialog[open]") ?? document.body).append(notice); // what lies outside an open dialog is not read out
  notice.hidden = false;
  const words = notice.querySelector("p");
  if (words.textContent !== text) words.textContent = text;
};
document.addEventListener("htmx:responseError", ({ detail: { xhr } }) =>
  tell(notice.dataset[`s${xhr.status}`] ?? notice.dataset.other.replace("%", xhr.status)));
document.addEventListener("htmx:sendError", () => tell(notice.dataset.offline));
document.addEventListener("htmx:afterOnLoad", ({ detail: { xhr } }) => { if (xhr.status < 400) notice.hidden = true; });
