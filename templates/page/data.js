// What the page knows: the tables of the data element, with names. Texts and places are stored once and read by number.

const data = JSON.parse(document.getElementById("data").textContent);
const text = (id) => data.strings[id];

const collator = new Intl.Collator("en", { numeric: true });
const natural = (a, b) => collator.compare(a, b);

// The numbers are those of report/page/pool.rs; the order of RANKED is from the worst.
const STATES = ["proven", "by name only", "unproven", "wrong", "not checked"];
const STATE_MEANS = [
  "a source stronger than its name says that the image holds the pool's Kubernetes version",
  "only the image's name says that it holds the version",
  "nothing certain is known of the image's version",
  "the image holds another version, or a rule found an error",
  "no image, or no version to compare it with",
];
const RANKED = [3, 2, 1, 4, 0];

const minors = [];
const minorOf = new Map();
const versionRank = new Map();
data.kubernetes.forEach(([version, minor], rank) => {
  versionRank.set(version, rank);
  let index = minors.indexOf(minor);
  if (index < 0) index = minors.push(minor) - 1;
  minorOf.set(version, index);
});

// The folders of a path, without those that all clusters share.
function commonFolders() {
  let common = null;
  for (const cluster of data.clusters) {
    const folders = text(cluster.d).split("/");
    if (common === null) common = folders;
    let same = 0;
    while (same < common.length && same < folders.length && common[same] === folders[same]) same++;
    common = common.slice(0, same);
  }
  return common ? common.length : 0;
}
const shared = commonFolders();

// The folder that tells a cluster from others: the first below those that all share, unless each cluster has one of its own.
const areas = data.clusters.map((row) => text(row.d).split("/")[shared] || text(row.d) || ".");
if (new Set(areas).size > Math.max(12, areas.length / 2)) {
  data.clusters.forEach((row, at) => (areas[at] = text(row.d).split("/").slice(0, -1).join("/") || "."));
}

const clusters = data.clusters.map((row, index) => {
  const images = [...new Set(row.p.map((pool) => pool.i))].filter((image) => image > 0);
  const version = row.v[0] || (row.p[0] ? row.p[0].v : 0);
  return {
    index,
    row,
    name: text(row.n),
    state: row.s,
    version,
    minor: minorOf.has(version) ? minorOf.get(version) : -1,
    provider: row.i[0],
    folder: row.d,
    area: areas[index],
    images,
    pools: row.p.length,
    machines: row.p.reduce((sum, pool) => sum + (pool.m || 0), 0),
    isCounted: row.p.every((pool) => pool.m !== null),
    found: row.e + row.w,
  };
});
// The names of clusters in manifests begin with their folders: on a small tile the end says more.
const ends = new Map();
const endOf = (name, parts) => name.split("/").slice(-parts).join("/");
for (const { name } of clusters) ends.set(endOf(name, 1), (ends.get(endOf(name, 1)) || 0) + 1);
for (const cluster of clusters) cluster.short = endOf(cluster.name, ends.get(endOf(cluster.name, 1)) > 1 ? 2 : 1);

// Sorted once: names are compared as people do, which is slow.
[...clusters].sort((a, b) => natural(a.name, b.name)).forEach((cluster, order) => (cluster.order = order));
const byName = new Map(clusters.map((cluster) => [cluster.name, cluster]));

// The pools that boot each image, by cluster.
const usersOf = data.images.map(() => []);
for (const cluster of clusters) {
  for (const pool of cluster.row.p) if (pool.i > 0) usersOf[pool.i - 1].push([cluster, pool]);
}

const imageKeys = new Map();
const images = data.images.map((row, index) => {
  const key = text(row.key);
  const before = imageKeys.get(key) || 0;
  imageKeys.set(key, before + 1);
  const facts = new Map(row.facts.map((fact) => [text(fact[0]), text(fact[1])]));
  return { index, row, key, facts, users: usersOf[index], address: before ? `${key}/${before + 1}` : key };
});
const byAddress = new Map(images.map((image) => [image.address, image]));

const findings = data.findings.map((row, index) => ({ index, row, isError: row.level === "error" }));
const findingsOf = clusters.map(() => []);
for (const finding of findings) for (const index of finding.row.clusters) findingsOf[index].push(finding);

const labelNames = [...new Set(clusters.flatMap((cluster) => (cluster.row.l || []).map((label) => label[0])))];
const labelOf = (cluster, name) => {
  const label = (cluster.row.l || []).find((label) => label[0] === name);
  return label ? text(label[1]) : "";
};

const number = (value) => value.toLocaleString("en-US");
const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
const sum = (list, of) => list.reduce((total, item) => total + of(item), 0);

// What full-text search looks at, made once: names, files, versions, images, labels, rules and messages.
let haystacks = null;
function haystack(cluster) {
  haystacks = haystacks || new Array(clusters.length);
  let known = haystacks[cluster.index];
  if (known === undefined) {
    const row = cluster.row;
    const words = [row.n, row.o, row.ns, row.v[0], row.i[0], row.b[0], row.d, ...row.f].map(text);
    for (const pool of row.p) {
      words.push(text(pool.n), text(pool.v), STATES[pool.s]);
      if (pool.i > 0) words.push(images[pool.i - 1].key);
    }
    for (const [name, value] of row.l || []) words.push(`${text(name)}=${text(value)}`);
    for (const { row } of findingsOf[cluster.index]) words.push(text(data.rules[row.rule][0]), text(row.message));
    known = haystacks[cluster.index] = words.join("\n").toLowerCase();
  }
  return known;
}
const wordsOf = (query) => query.toLowerCase().split(/\s+/).filter(Boolean);
