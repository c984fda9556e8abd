// All clusters: what to look for, as a map, and as a table beside it.

const COLUMNS = [
  { id: "name", name: "Cluster", of: (cluster) => cluster.order, text: (cluster) => cluster.name },
  { id: "state", name: "State", of: (cluster) => RANKED.indexOf(cluster.state), cell: (cluster) => stateChip(cluster.state) },
  { id: "version", name: "Kubernetes", of: (cluster) => (versionRank.has(cluster.version) ? versionRank.get(cluster.version) : -1), text: (cluster) => text(cluster.version) },
  { id: "provider", name: "Provider", of: (cluster) => text(cluster.provider), text: (cluster) => text(cluster.provider) },
  { id: "pools", name: "Pools", numeric: true, of: (cluster) => cluster.pools, text: (cluster) => number(cluster.pools) },
  { id: "machines", name: "Machines", numeric: true, of: (cluster) => cluster.machines, text: (cluster) => number(cluster.machines) + (cluster.isCounted ? "" : "+") },
  { id: "findings", name: "Findings", numeric: true, of: (cluster) => cluster.found, text: (cluster) => (cluster.found ? number(cluster.found) : "–") },
  { id: "folder", name: "Folder", of: (cluster) => text(cluster.folder), text: (cluster) => text(cluster.folder) },
];

function fleet({ params }) {
  const sort = { id: params.get("sort") || "name", down: params.get("dir") === "down" };
  let list = filtered(params);
  const count = h("p", { class: "count", role: "status" });
  const table = dataTable({
    label: "Clusters",
    columns: COLUMNS,
    rows: list,
    sort,
    sorted: (order) => change(params, { sort: order.id === "name" ? "" : order.id, dir: order.down ? "down" : "" }),
    href: clusterAddress,
  });
  const step = params.has("zoom") ? Number(params.get("zoom")) : null;
  const map = fleetMap({
    list,
    group: params.get("group") || initialGroup(),
    color: params.get("color") || "state",
    zoomed: (step) => change(params, { zoom: String(step) }),
    selected: (name) => narrow(name),
  });

  // A group's heading was chosen: what it holds, and nothing else.
  function narrow(name) {
    const [id] = groupOf(params.get("group") || initialGroup());
    if (id.startsWith("label:")) return refine({ label: `${id.slice(6)}=${name}` });
    if (["kubernetes", "state", "provider", "folder", "image"].includes(id) && fields[id]) refine({ [id]: name });
  }
  function refine(values) {
    change(params, { ...values, zoom: "" });
    for (const [name, value] of Object.entries(values)) if (fields[name]) fields[name].value = value;
    refresh();
  }
  function refresh() {
    list = filtered(params);
    const shown = `${counted(list.length, "cluster")}${list.length < clusters.length ? ` of ${number(clusters.length)}` : ""}, ${counted(sum(list, (cluster) => cluster.pools), "pool")}`;
    count.textContent = shown;
    clear.hidden = !["q", "state", "kubernetes", "provider", "image", "folder", "label"].some((name) => params.has(name));
    replace(labels, params.get("label") ? ["Label ", h("b", {}, params.get("label"))] : []);
    table.update(list);
    map.update({ list, step: null });
  }

  const values = (of) => [...new Set(clusters.flatMap(of))].filter(Boolean).sort(natural);
  const versions = [...minors.map(text), ...data.kubernetes.map(([version]) => text(version))];
  const fields = {
    state: select("State", RANKED.map((state) => STATES[state]), "state", "any state"),
    kubernetes: select("Kubernetes", [...new Set(versions)].sort((a, b) => natural(b, a)), "kubernetes", "any version"),
    provider: select("Provider", values((cluster) => text(cluster.provider)), "provider", "any provider"),
    image: select("Image", values((cluster) => cluster.images.map((id) => images[id - 1].key)), "image", "any image"),
    folder: select("Folder", values((cluster) => cluster.area), "folder", "any folder"),
  };
  function select(label, options, name, any) {
    if (options.length < 2 && !params.get(name)) return null;
    return selectField(params, label, name, options, any, () => refine({}));
  }
  const search = searchField(params, "Search names, files, images, findings", () => refresh());
  const labels = h("span", {});
  const clear = h("button", { type: "button", class: "plain", onclick: () => reset() }, "Clear filters");
  function reset() {
    const names = ["q", "state", "kubernetes", "provider", "image", "folder", "label"];
    search.firstElementChild.value = "";
    refine(Object.fromEntries(names.map((name) => [name, ""])));
  }
  const setting = (label, name, options, initial) => {
    const now = params.get(name) || initial;
    const field = h(
      "select",
      { onchange: () => { change(params, { [name]: field.value === initial ? "" : field.value }); map.update({ [name]: field.value }); } },
      options.map(([value, words]) => h("option", { value, selected: value === now }, words)),
    );
    return h("label", { class: "setting" }, label, field);
  };
  const groups = GROUPS.map(([id, name]) => [id, name]);
  const view = params.get("view") === "table" ? "table" : "map";
  const tabs = h("div", { class: "tabs", role: "group", "aria-label": "View" }, ["map", "table"].map((name) => h("button", { type: "button", "aria-pressed": String(view === name), onclick: (event) => look(name, event.target) }, name === "map" ? "Map" : "Table")));
  const panes = h("div", { class: "panes", "data-view": view }, h("section", { class: "pane p-map", "aria-label": "Map" }, map.element), h("section", { class: "pane p-table", "aria-label": "Table" }, table.element));
  function look(name, button) {
    change(params, { view: name === "map" ? "" : name });
    panes.dataset.view = name;
    for (const tab of tabs.children) tab.setAttribute("aria-pressed", String(tab === button));
    refresh();
  }
  return {
    title: "Clusters",
    element: h(
      "div",
      { class: "fleet" },
      h("div", { class: "headline" }, h("h1", {}, "Clusters"), count),
      h("div", { class: "filters" }, search, Object.values(fields), labels, clear),
      h("div", { class: "settings" }, setting("Group by", "group", groups, initialGroup()), setting("Color by", "color", [["state", "State"], ["minor", "Kubernetes minor"]], "state"), tabs),
      panes,
    ),
    shown() {
      table.shown();
      map.shown();
      refresh();
      if (step !== null) map.update({ step });
    },
    gone: () => table.gone(),
  };
}
