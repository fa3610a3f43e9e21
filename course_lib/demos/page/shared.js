// What both widgets of a demo need.

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
