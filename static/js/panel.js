// Arrow keys, Home and End walk through an open panel; choosing a link closes it and gives the focus back.
document.addEventListener("keydown", (event) => {
  const panel = event.target.closest(".panel");
  if (!panel) return;
  const stops = [...panel.querySelectorAll("input:not([type=hidden]), a, button:not([role=search] *)")];
  const here = stops.indexOf(event.target);
  const next = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: stops.length - 1 }[event.key];
  if (next === undefined || (event.target.matches("input") && !event.key.startsWith("Arrow"))) return;
  event.preventDefault();
  stops[next]?.focus();
});
document.addEventListener("click", (event) => event.target.closest(".panel a")?.closest(".panel").hidePopover());
document.addEventListener("submit", ({ target }) => target.closest(".panel")?.querySelector("li a") && target.closest(".panel").hidePopover());
