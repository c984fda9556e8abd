// A table of any length: only the rows in sight are elements. Each row has one height; the rest is space above and below.

const ROW = 40;

// `columns`: { id, name, of, text, cell, numeric, wide }. `of` is what a column sorts by.
function dataTable({ label, columns, rows, sort, sorted, href, height }) {
  let all = rows;
  let order = sort;
  const head = h("tr", { role: "row", "aria-rowindex": "1" });
  const body = h("tbody", { role: "rowgroup" });
  const table = h("table", { role: "table", "aria-label": label }, h("thead", { role: "rowgroup" }, head), body);
  const box = h("div", { class: "table", tabindex: "0", role: "region", "aria-label": label }, table);
  const empty = h("p", { class: "empty", hidden: true }, "Nothing matches.");
  const element = h("div", { class: "tablebox" }, box, empty);
  let range = [-1, -1];
  let isPrinted = false;

  function headings() {
    replace(
      head,
      columns.map((column) => {
        const now = order.id === column.id ? (order.down ? "descending" : "ascending") : "none";
        return h(
          "th",
          { scope: "col", role: "columnheader", "aria-sort": now, class: `c-${column.id} ${column.numeric ? "num" : ""}` },
          h("button", { type: "button", onclick: () => turn(column) }, column.name, h("span", { class: "arrow", "aria-hidden": "true" }, now === "ascending" ? "▲" : now === "descending" ? "▼" : "")),
        );
      }),
    );
  }
  function turn(column) {
    order = { id: column.id, down: order.id === column.id ? !order.down : Boolean(column.numeric) };
    box.scrollTop = 0;
    arrange();
    sorted(order);
    announce(`Sorted by ${column.name}, ${order.down ? "descending" : "ascending"}`);
    head.querySelector(`.c-${column.id} button`).focus();
  }
  function arrange() {
    const column = columns.find((column) => column.id === order.id) || columns[0];
    const keys = all.map((row) => column.of(row));
    const compare = typeof keys[0] === "number" ? (a, b) => keys[a] - keys[b] : (a, b) => natural(keys[a], keys[b]);
    const places = all.map((_, at) => at).sort((a, b) => (order.down ? compare(b, a) : compare(a, b)) || a - b);
    all = places.map((at) => all[at]);
    headings();
    range = [-1, -1];
    draw();
  }
  function draw() {
    const high = box.clientHeight || 600;
    let first = Math.max(0, Math.floor(box.scrollTop / ROW) - 8);
    let last = Math.min(all.length, Math.ceil((box.scrollTop + high) / ROW) + 8);
    if (isPrinted) [first, last] = [0, Math.min(all.length, 2000)];
    if (first === range[0] && last === range[1]) return;
    range = [first, last];
    const focused = document.activeElement && body.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    const rows = [];
    if (first > 0) rows.push(space(first));
    for (let at = first; at < last; at++) rows.push(row(all[at], at));
    if (last < all.length && !isPrinted) rows.push(space(all.length - last));
    replace(body, rows);
    table.setAttribute("aria-rowcount", String(all.length + 1));
    if (focused) for (const link of body.querySelectorAll("a")) if (link.getAttribute("href") === focused) link.focus({ preventScroll: true });
  }
  const space = (count) => h("tr", { class: "space", "aria-hidden": "true" }, h("td", { colspan: String(columns.length), "--h": `${count * ROW}px` }));
  function row(item, at) {
    const cells = columns.map((column, number) => {
      const content = column.cell ? column.cell(item) : column.text(item);
      const inner = number === 0 ? h("a", { href: href(item) }, content) : content;
      const hint = column.text ? column.text(item) : null;
      const attributes = { class: `c-${column.id} ${column.numeric ? "num" : ""}`, title: hint };
      return number === 0 ? h("th", { scope: "row", role: "rowheader", ...attributes }, inner) : h("td", { role: "cell", ...attributes }, inner);
    });
    return h("tr", { role: "row", "aria-rowindex": String(at + 2), onclick: (event) => open(event, item) }, cells);
  }
  function open(event, item) {
    if (event.target.closest("a") || String(getSelection())) return;
    location.hash = href(item);
  }
  box.addEventListener("scroll", draw, { passive: true });
  if (height) box.style.maxHeight = height;

  const print = (on) => () => {
    isPrinted = on;
    range = [-1, -1];
    draw();
  };
  const [before, after] = [print(true), print(false)];
  return {
    element,
    shown() {
      arrange();
      addEventListener("beforeprint", before);
      addEventListener("afterprint", after);
    },
    gone() {
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    },
    update(rows) {
      all = rows;
      box.scrollTop = 0;
      box.hidden = rows.length === 0;
      empty.hidden = rows.length > 0;
      arrange();
    },
  };
}

// A table of what the parameters leave, and how many that are. `matching` gives the rows for the words of a search; `noun` says
// what a row is; `sort` is the order until another one is chosen.
function listTable({ params, noun, matching, sort, ...parts }) {
  const count = h("p", { class: "count", role: "status" });
  const rows = () => matching(wordsOf(params.get("q") || ""));
  const table = dataTable({
    ...parts,
    rows: rows(),
    sort: params.has("sort") ? { id: params.get("sort"), down: params.get("dir") === "down" } : sort,
    sorted: (order) => change(params, { sort: order.id, dir: order.down ? "down" : "" }),
  });
  function refresh() {
    const list = rows();
    count.textContent = counted(list.length, noun);
    table.update(list);
  }
  function shown() {
    table.shown();
    refresh();
  }
  return { count, element: table.element, refresh, shown, gone: table.gone };
}
