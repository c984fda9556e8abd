// The first page: what matters, in numbers and in one picture.

function overview() {
  const pools = sum(clusters, (cluster) => cluster.pools);
  const machines = sum(clusters, (cluster) => cluster.machines);
  const uncounted = sum(clusters, (cluster) => cluster.row.p.filter((pool) => pool.m === null).length);
  const figures = h(
    "dl",
    { class: "figures" },
    figure(clusters.length, "cluster", "#/fleet"),
    figure(pools, "node pool", "#/fleet"),
    figure(machines, "machine", "#/fleet", uncounted ? `and ${counted(uncounted, "pool")} of unknown size` : ""),
  );
  const map = fleetMap({ list: clusters, group: initialGroup(), color: "state", compact: true });
  const fleet = h(
    "section",
    { class: "panel wide", "aria-labelledby": "h-map" },
    h("div", { class: "headline" }, h("h2", { id: "h-map" }, "The fleet"), h("a", { href: "#/fleet" }, "Group, filter, zoom")),
    map.element,
  );
  return {
    title: data.title,
    element: h(
      "div",
      { class: "overview" },
      h("section", { class: "hero", "aria-labelledby": "h-fleet" }, h("div", {}, h("h1", { id: "h-fleet" }, data.title), figures), proof(pools)),
      clusters.length > 0 && fleet,
      attention(),
      h("div", { class: "panels" }, kubernetesBars(), imageBars(), builderBars()),
    ),
    shown: () => map.shown(),
  };
}

function figure(count, noun, href, note) {
  return h(
    "div",
    {},
    h("dt", {}, count === 1 ? noun : `${noun}s`, note && h("small", {}, note)),
    h("dd", {}, h("a", { href }, number(count))),
  );
}

// Every node pool in one bar, by what is known of its image.
function proof(pools) {
  const counts = STATES.map(() => 0);
  for (const cluster of clusters) for (const pool of cluster.row.p) counts[pool.s]++;
  const order = [0, 1, 2, 4, 3].filter((state) => counts[state] > 0);
  const wrong = counts[3];
  const open = counts[1] + counts[2] + counts[4];
  let verdict = "Every image is proven to fit its pool's Kubernetes version.";
  if (pools === 0) verdict = "There is no node pool.";
  else if (wrong > 0) verdict = `${counted(wrong, "pool")} ${wrong === 1 ? "boots" : "boot"} an image with another Kubernetes version.`;
  else if (open > 0) verdict = `No image is wrong; for ${counted(open, "pool")} that is not proven.`;
  const reasons = Object.entries(data.counts.skipped);
  return h(
    "div",
    { class: "proof" },
    h("h2", {}, "Does every image fit?"),
    h("p", { class: "verdict" }, verdict),
    h(
      "div",
      { class: "stack", role: "img", "aria-label": order.map((state) => `${counts[state]} ${STATES[state]}`).join(", ") },
      order.map((state) => h("span", { class: `seg s${state}`, "--w": String(counts[state]) })),
    ),
    h(
      "ul",
      { class: "legend" },
      order.map((state) =>
        h("li", {}, h("a", { href: address("fleet", "", { state: STATES[state] }) }, glyph(state), h("b", {}, number(counts[state])), STATES[state])),
      ),
    ),
    reasons.length > 0 && h("p", { class: "note" }, "Not checked: ", reasons.map(([reason, count]) => `${number(count)} because of: ${reason}`).join("; "), "."),
  );
}

// The findings that matter most.
function attention() {
  if (findings.length === 0) return null;
  const rules = new Map();
  for (const finding of findings) {
    const known = rules.get(finding.row.rule) || { errors: 0, warnings: 0, clusters: new Set() };
    known[finding.isError ? "errors" : "warnings"]++;
    finding.row.clusters.forEach((index) => known.clusters.add(index));
    rules.set(finding.row.rule, known);
  }
  const all = [...rules].sort(([, a], [, b]) => b.errors - a.errors || b.clusters.size - a.clusters.size || b.warnings - a.warnings);
  return h(
    "section",
    { class: "panel wide", "aria-labelledby": "h-found" },
    h("div", { class: "headline" }, h("h2", { id: "h-found" }, "Needs attention"), h("a", { href: "#/findings" }, findings.length === 1 ? "The finding" : `All ${counted(findings.length, "finding")}`)),
    h(
      "ul",
      { class: "attention" },
      all.slice(0, 5).map(([rule, known]) => {
        const [id, summary] = data.rules[rule].map(text);
        const level = known.errors > 0 ? "error" : "warning";
        return h(
          "li",
          {},
          h(
            "a",
            { href: address("findings", "", { rule: id }) },
            levelChip(level),
            h("span", {}, h("b", {}, summary), h("small", {}, id)),
            h("span", { class: "count" }, known.clusters.size ? counted(known.clusters.size, "cluster") : counted(known.errors + known.warnings, "finding")),
          ),
        );
      }),
    ),
  );
}

// Bars: a name, a length, a number, each a link.
function bars(id, title, lead, rows, more) {
  const most = Math.max(1, ...rows.map((row) => row.count));
  return h(
    "section",
    { class: "panel", "aria-labelledby": id },
    h("h2", { id }, title),
    h("p", { class: "note" }, lead),
    rows.length === 0
      ? h("p", { class: "empty" }, "None.")
      : h(
          "ul",
          { class: "bars" },
          rows.map((row) =>
            h(
              "li",
              {},
              h(
                "a",
                { href: row.href },
                h("span", { class: "name" }, row.name, row.note && h("small", {}, row.note)),
                h("span", { class: "count" }, number(row.count)),
                h("span", { class: "track" }, h("span", { class: `bar ${row.kind || ""}`, "--w": `${(100 * row.count) / most}%` })),
              ),
            ),
          ),
        ),
    more,
  );
}

function kubernetesBars() {
  const counts = new Map();
  for (const cluster of clusters) for (const pool of cluster.row.p) counts.set(pool.v, (counts.get(pool.v) || 0) + 1);
  const versions = [...counts].filter(([version]) => version > 0).sort(([a], [b]) => versionRank.get(b) - versionRank.get(a));
  let rows = versions.map(([version, count]) => ({ name: text(version), count, minor: minorOf.get(version) }));
  let lead = "Node pools by version, the newest first.";
  if (rows.length > 8) {
    const by = new Map();
    for (const row of rows) by.set(row.minor, (by.get(row.minor) || 0) + row.count);
    rows = [...by].map(([minor, count]) => ({ name: text(minors[minor]), count, minor }));
    lead = "Node pools by minor version, the newest first.";
  }
  for (const row of rows) row.href = address("fleet", "", { kubernetes: row.name, color: "minor" });
  return bars("h-k8s", "Kubernetes", lead, rows);
}

function imageBars() {
  const used = images.filter((image) => image.users.length > 0).sort((a, b) => b.users.length - a.users.length);
  const rows = used.slice(0, 10).map((image) => ({
    name: image.key,
    note: image.row.is_listed ? "" : "in no catalog",
    count: image.users.length,
    href: imageAddress(image),
  }));
  const rest = images.length - rows.length;
  const more = rest > 0 && h("p", { class: "note" }, h("a", { href: "#/images" }, `All ${counted(images.length, "image")}`));
  return bars("h-images", "Images in use", `Node pools by image: ${number(used.length)} of ${counted(images.length, "image")} in use.`, rows, more);
}

// How far each version of the builder is behind the newest one that the fleet knows.
function builderBars() {
  if (data.builders.length === 0) return null;
  const counts = new Map(data.builders.map((builder) => [builder, 0]));
  for (const image of images) if (image.row.builder) counts.set(image.row.builder, counts.get(image.row.builder) + image.users.length);
  const rows = data.builders.map((builder, age) => ({
    name: text(builder),
    note: age === 0 ? "newest" : `${counted(age, "version")} behind`,
    count: counts.get(builder),
    kind: age === 0 ? "" : age === 1 ? "aged" : "old",
    href: address("images", "", { q: text(builder) }),
  }));
  return bars("h-builders", "Builder versions", "Node pools by the version of the image builder, by age.", rows.slice(0, 7));
}
