// What both widgets of a demo need.

const PATIENCE_MS = 5000;
const GONE = "No answer from Python: the kernel is busy or gone.";

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// In a notebook, keys such as x and the arrows are also commands on cells; Ctrl+S is meant.
function guard(event) {
  const leaves = ["Escape", "Tab"].includes(event.key) || event.ctrlKey || event.metaKey;
  if (!leaves) event.stopPropagation();
}
