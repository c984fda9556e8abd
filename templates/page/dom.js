// Elements. Text becomes a text node, never markup.

function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}
function svg(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}
function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    element.append(child);
  }
}
function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

// A shape for each state, so that color is not needed to tell them apart.
const SHAPES = [
  () => [svg("circle", { cx: 8, cy: 8, r: 7, class: "fill" }), svg("path", { d: "M4.6 8.2l2.3 2.3 4.4-4.8", class: "mark" })],
  () => [svg("circle", { cx: 8, cy: 8, r: 7, class: "fill" }), svg("path", { d: "M4.5 8h7", class: "mark" })],
  () => [svg("path", { d: "M8 1.2L15.4 14.4H.6z", class: "fill" }), svg("path", { d: "M8 6v3.6M8 11.7v.6", class: "mark" })],
  () => [svg("rect", { x: 1.2, y: 1.2, width: 13.6, height: 13.6, rx: 2.5, class: "fill" }), svg("path", { d: "M5 5l6 6M11 5l-6 6", class: "mark" })],
  () => [svg("circle", { cx: 8, cy: 8, r: 6, class: "hollow" })],
];
function glyph(state) {
  return svg("svg", { viewBox: "0 0 16 16", class: `glyph s${state}`, "aria-hidden": "true" }, SHAPES[state]());
}
function stateChip(state) {
  return h("span", { class: `state s${state}`, title: STATE_MEANS[state] }, glyph(state), STATES[state]);
}

// A place: `file:line:column`, a link where the code host's address is known and the file is in its repository.
function fileLink(file, line, column) {
  if (!file) return null;
  const label = line ? `${file}:${line}:${column}` : file;
  const url = sourceUrl(file, line);
  if (!url) return h("span", { class: "at" }, label);
  return h("a", { class: "at", href: url, rel: "noreferrer" }, label);
}
function sourceUrl(file, line) {
  if (!data.source_url || file.startsWith("/")) return null;
  const parts = [];
  for (const part of [...data.folder.split("/"), ...file.split("/")]) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (parts.pop() === undefined) return null;
    } else parts.push(encodeURIComponent(part));
  }
  return data.source_url.replace("{path}", () => parts.join("/")).replace("{line}", () => String(line || 1));
}
function placeLink(cluster, id) {
  const [file, line, column] = data.places[id];
  return file > 0 ? fileLink(text(cluster.row.f[file - 1]), line, column) : null;
}

// A message: what is between backquotes is code.
function message(words) {
  const parts = words.split("`");
  if (parts.length % 2 === 0) return [words];
  return parts.map((part, at) => (at % 2 ? h("code", {}, part) : part));
}

// A list that shows its first items, and more of them on request.
const PAGE = 50;
function paged(items, render) {
  const list = h("div", { class: "stackup" });
  const more = h("button", { type: "button", onclick: () => show() });
  let shown = 0;
  function show() {
    const next = items.slice(shown, shown + PAGE);
    append(list, next.map(render));
    shown += next.length;
    more.hidden = shown >= items.length;
    more.textContent = `Show more: ${number(items.length - shown)} left`;
  }
  show();
  return [list, more];
}
// What is behind a summary, made when it is first opened.
function folded(summary, content, isOpen) {
  const details = h("details", { open: isOpen }, h("summary", {}, summary));
  const open = () => details.open && details.childElementCount === 1 && append(details, [content()]);
  details.addEventListener("toggle", open);
  if (isOpen) append(details, [content()]);
  return details;
}

const announce = (words) => {
  document.getElementById("live").textContent = words;
};
