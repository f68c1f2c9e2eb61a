// <button data-copy="id"> copies exactly the text of that element, and says so in the status beside it.
const copyByCommand = (source, text) => {
  const give = (event) => { event.clipboardData.setData("text/plain", text); event.preventDefault(); };
  getSelection().selectAllChildren(source);
  document.addEventListener("copy", give);
  const copied = document.execCommand("copy");
  document.removeEventListener("copy", give);
  return copied;
};
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  const text = source.textContent;
  // Without https there is no clipboard object: that, too, is a refusal.
  const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false) || copyByCommand(source, text);
  document.getElementById(`${button.dataset.copy}-status`).textContent = copied
    ? button.dataset.copied : "This browser refuses to copy. The text is selected: press Ctrl+C or ⌘C.";
  button.dispatchEvent(new Event("copied", { bubbles: true }));
});
