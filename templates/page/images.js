// The catalog, and one image of it: facts, digest, signature, who boots it, what follows it.

const IMAGE_COLUMNS = [
  { id: "name", name: "Image", of: (image) => image.key, text: (image) => image.key },
  { id: "os", name: "System", of: (image) => system(image), text: system },
  { id: "version", name: "Kubernetes", of: (image) => image.facts.get("k8s-version") || "", text: (image) => image.facts.get("k8s-version") || "–" },
  { id: "builder", name: "Builder", of: (image) => text(image.row.builder), text: (image) => text(image.row.builder) || "–" },
  { id: "locked", name: "Locked", of: (image) => (image.row.digest ? 0 : 1), text: (image) => (image.row.digest ? (image.row.verified.length ? "yes, signed" : "yes") : "no") },
  { id: "pools", name: "Pools", numeric: true, of: (image) => image.users.length, text: (image) => number(image.users.length) },
];
function system(image) {
  const words = ["os", "os-release", "k8s-flavor"].map((name) => image.facts.get(name)).filter(Boolean);
  return (image.facts.get("hardened") === "true" ? [...words, "hardened"] : words).join(" ") || "–";
}

function imageList({ params }) {
  const texts = (image) => [image.key, text(image.row.uri), text(image.row.builder), ...image.facts.values()].join("\n").toLowerCase();
  const { count, element, refresh, ...states } = listTable({
    params,
    noun: "image",
    matching: (words) => images.filter((image) => words.every((word) => texts(image).includes(word))),
    sort: { id: "pools", down: true },
    label: "Images",
    columns: IMAGE_COLUMNS,
    href: imageAddress,
  });
  return {
    title: "Images",
    element: h("div", { class: "list" }, h("div", { class: "headline" }, h("h1", {}, "Images"), count), h("div", { class: "filters" }, searchField(params, "Search keys, references, facts", refresh)), element),
    ...states,
  };
}

function imagePage({ subject }) {
  const image = byAddress.get(subject);
  if (!image) return missing(`There is no image “${subject}” in this page.`);
  const { row } = image;
  const successor = row.successor > 0 ? images[row.successor - 1] : null;
  const fact = (name, ...value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
  const signature =
    row.verified.length > 0
      ? row.verified.map(([key, form]) => h("p", {}, `good under the key `, h("code", {}, text(key)), ` (${text(form)})`))
      : row.digest > 0
        ? "the lock has no verified signature"
        : "not known: the image is not locked";
  return {
    title: image.key,
    element: h(
      "div",
      { class: "detail" },
      crumbs([["Images", "#/images"]], image.key),
      h("h1", {}, image.key),
      h("p", { class: "chips" }, h("span", {}, counted(image.users.length, "node pool")), row.served > 0 && h("span", {}, `served for ${counted(row.served, "cluster")}`), !row.is_listed && h("span", {}, "in no catalog: its name says what is known")),
      h(
        "dl",
        { class: "facts" },
        fact("Reference", row.uri ? h("code", {}, text(row.uri)) : "none"),
        fact("Digest", row.digest ? h("code", {}, text(row.digest)) : "not locked"),
        fact("Signature", signature),
        fact("Builder version", text(row.builder) || "not known"),
        fact("Successor", successor ? [h("a", { href: imageAddress(successor) }, successor.key), " is the newest of its line"] : "none: nothing newer of its line is in the catalog"),
      ),
      h("section", { "aria-labelledby": "h-facts" }, h("h2", { id: "h-facts" }, "Facts"), factTable(row)),
      h("section", { "aria-labelledby": "h-users" }, h("h2", { id: "h-users" }, `Booted by ${counted(image.users.length, "node pool")}`), users(image)),
    ),
  };
}

function factTable(row) {
  if (row.facts.length === 0) return h("p", { class: "empty" }, "Nothing is known of it.");
  return h(
    "div",
    { class: "table", tabindex: "0", role: "group", "aria-label": "Table of facts" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ["Fact", "Value", "Learned from"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, row.facts.map(([name, value, origin, file, line, column]) => h("tr", {}, h("th", { scope: "row" }, text(name)), h("td", {}, h("code", {}, text(value))), h("td", {}, text(origin), " ", file > 0 && fileLink(text(file), line, column))))),
    ),
  );
}

function users(image) {
  if (image.users.length === 0) return h("p", { class: "empty" }, "No node pool boots it.");
  const shown = image.users.slice(0, 60);
  const rest = image.users.length - shown.length;
  return [
    h("ul", { class: "users" }, shown.map(([cluster, pool]) => h("li", {}, h("a", { href: clusterAddress(cluster, text(pool.n)) }, glyph(pool.s), `${cluster.name}/${text(pool.n)}`, h("span", { class: "hidden" }, `, ${STATES[pool.s]}`))))),
    h("p", {}, h("a", { href: address("fleet", "", { image: image.key }) }, rest > 0 ? `All ${number(image.users.length)} on the map` : "Show them on the map")),
  ];
}
