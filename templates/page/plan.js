// The plan of an upgrade: what is missing, the waves, and the way of each cluster.

const WAYS = { go: "to upgrade", there: "there", blocked: "blocked" };
const wayOf = (cluster) => data.plan.clusters[cluster.index];
const wayState = (cluster) => (wayOf(cluster).b ? "blocked" : wayOf(cluster).s.length > 0 ? "go" : "there");
const versionsOf = (cluster) => [wayOf(cluster).v, ...wayOf(cluster).s.map((step) => data.plan.steps[step][0])].filter(Boolean).map(text);
const wayGlyph = (state) => glyph({ go: 4, there: 0, blocked: 3 }[state]);
const wayChip = (state) => h("span", { class: `state w-${state}` }, wayGlyph(state), WAYS[state]);

// The numbers of each cluster's waves, one a step.
let waveNumbers = null;
function wavesOf(cluster) {
  if (!waveNumbers) {
    waveNumbers = clusters.map(() => []);
    data.plan.waves.forEach((wave, at) => wave.clusters.forEach((index) => waveNumbers[index].push(at + 1)));
  }
  return waveNumbers[cluster.index];
}

const WAY_COLUMNS = [
  { id: "name", name: "Cluster", of: (cluster) => cluster.order, text: (cluster) => cluster.name },
  { id: "state", name: "State", of: (cluster) => WAYS[wayState(cluster)], cell: (cluster) => wayChip(wayState(cluster)) },
  { id: "versions", name: "Kubernetes", of: (cluster) => versionsOf(cluster).join(" "), text: (cluster) => versionsOf(cluster).join(" → ") || "–" },
  { id: "waves", name: "Waves", of: (cluster) => wavesOf(cluster)[0] || 0, text: (cluster) => wavesOf(cluster).join(", ") || "–" },
  { id: "reason", name: "What stops it", of: (cluster) => text(wayOf(cluster).b || 0), text: (cluster) => text(wayOf(cluster).b || 0) },
];

function planPage({ params }) {
  const { plan } = data;
  if (!plan) return missing("This page was made without --plan.");
  const of = (state) => clusters.filter((cluster) => wayState(cluster) === state).length;
  const matching = (words) => {
    const state = params.get("way");
    return clusters.filter((cluster) => (!state || wayState(cluster) === state) && words.every((word) => haystack(cluster).includes(word)));
  };
  const { count, element, refresh, ...states } = listTable({
    params,
    noun: "cluster",
    matching,
    sort: { id: "name", down: false },
    label: "The way of each cluster",
    columns: WAY_COLUMNS,
    href: (cluster) => clusterAddress(cluster),
    height: "min(60vh, 700px)",
  });
  const field = selectField(params, "State", "way", Object.entries(WAYS), "any state", refresh);
  const stat = (number_, words) => h("div", {}, h("dt", {}, words), h("dd", {}, number(number_)));
  const most = Math.max(...plan.waves.map((wave) => wave.clusters.length), 1);
  return {
    title: "Plan",
    element: h(
      "div",
      { class: "list" },
      h("h1", {}, `The way to Kubernetes ${plan.goal}`),
      h("p", { class: "lead" }, `${plan.sum}.`),
      h("dl", { class: "figures small" }, stat(of("go"), "to upgrade"), stat(of("there"), "there"), stat(of("blocked"), "blocked"), stat(plan.waves.length, plan.waves.length === 1 ? "wave" : "waves")),
      plan.missing.length > 0 && h("section", { class: "part", "aria-labelledby": "h-m" }, h("h2", { id: "h-m" }, "What is missing"), h("ul", { class: "lacks" }, plan.missing.map((words) => h("li", {}, glyph(3), h("span", {}, message(words)))))),
      plan.servers.map(serverSection),
      plan.waves.length > 0 && h("section", { class: "part waves", "aria-labelledby": "h-w" }, h("h2", { id: "h-w" }, "Waves"), h("p", { class: "note" }, "Each wave is one change to review, in this order."), paged(plan.waves.map((wave, at) => [wave, at + 1]), (item) => waveCard(item, most))),
      h("section", { class: "part", "aria-labelledby": "h-c" }, h("div", { class: "headline" }, h("h2", { id: "h-c" }, "Clusters"), count), h("div", { class: "filters" }, searchField(params, "Search clusters, images, labels", refresh), field), element),
    ),
    ...states,
  };
}

// What a management cluster has to serve: a line an image, and what to add to its values.
function serverSection({ name, images, edits }, at) {
  const head = ["When", "Image", "Clusters", "Their machines", "Served"].map((words) => h("th", { scope: "col" }, words));
  const row = (cells) => h("tr", {}, cells.map((words) => h("td", {}, words)));
  return h(
    "section",
    { class: "part", "aria-labelledby": `h-s${at}` },
    h("h2", { id: `h-s${at}` }, `What ${name} has to serve`),
    h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, images.map(row))),
    edits.length > 0 && h("p", {}, "Add to its values:"),
    h("ul", {}, edits.map((edit) => h("li", {}, h("code", {}, edit)))),
  );
}

function waveCard([wave, at], most) {
  const { clusters: members, machines } = wave;
  const names = () =>
    h("ul", { class: "users" }, members.map((index) => h("li", {}, h("a", { href: clusterAddress(clusters[index]) }, clusters[index].name))));
  const words = [counted(members.length, "cluster"), machines !== null && counted(machines, "machine"), ...wave.words.map(text)].filter(Boolean).join(", ");
  return h(
    "article",
    { class: "card" },
    h("div", { class: "headline" }, h("h3", {}, `Wave ${number(at)}, to ${text(wave.to)}`), h("span", { class: "count" }, words)),
    h("div", { class: "track", "aria-hidden": "true" }, h("span", { class: "bar", "--w": `${(100 * members.length) / most}%` })),
    members.length > 6 ? folded("Its clusters", names) : names(),
  );
}

// The steps of one cluster.
function waySection(cluster) {
  const way = wayOf(cluster);
  const waves = wavesOf(cluster);
  const image = (key) => (byAddress.has(key) ? h("a", { href: imageAddress(byAddress.get(key)) }, key) : h("code", {}, key));
  const step = (id, at) => {
    const [version, pools] = data.plan.steps[id];
    return h("li", {}, h("b", {}, text(version)), h("dl", { class: "edits" }, pools.map(([pool, key]) => h("div", {}, h("dt", {}, text(pool)), h("dd", {}, image(text(key)))))), h("span", { class: "end note" }, `wave ${number(waves[at])}`));
  };
  return h(
    "section",
    { "aria-labelledby": "h-way" },
    h("div", { class: "headline" }, h("h2", { id: "h-way" }, `The way to ${data.plan.goal}`), h("a", { href: "#/plan" }, "All clusters")),
    h(
      "div",
      { class: "card" },
      h("p", {}, wayChip(wayState(cluster))),
      way.s.length > 0 && h("ol", { class: "moves" }, way.s.map(step)),
      way.b > 0 && h("p", {}, message(text(way.b)), "."),
      way.l && h("ul", { class: "lacks" }, way.l.map(([pool, key]) => h("li", {}, glyph(3), h("span", {}, h("b", {}, text(pool)), ": nothing follows ", image(text(key)))))),
    ),
  );
}
