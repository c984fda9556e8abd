// What a change does: which machines are replaced, what is before and after, which findings come and go.

const ROLLOUTS = { roll: ["rolls", "↻"], unknown: ["not known", "?"], refused: ["refused", "✕"], "in-place": ["in place", "="], propagated: ["in place", "="] };
const KINDS = { added: "new", removed: "gone", renamed: "renamed", replaced: "replaced", changed: "" };

function changePage() {
  const it = data.change;
  if (!it) return missing("This page was made without --against.");
  const chip = (words, sign, kind) => h("span", { class: `rollout ${kind}` }, h("span", { "aria-hidden": "true" }, `${sign} `), words);
  const pools = it.groups.flatMap((group) => group.pools.map((pool) => [pool, group.clusters.length]));
  const of = (test) => pools.reduce((total, [pool, times]) => total + (test(pool) ? times : 0), 0);
  const [rolls, stays] = [of((pool) => pool.rollout === "roll"), of((pool) => pool.rollout === "in-place")];
  const stat = (count, words) => h("div", {}, h("dt", {}, words), h("dd", {}, number(count)));
  const card = (group) =>
    h(
      "article",
      { class: "card" },
      h("div", { class: "headline" }, h("h3", {}, group.clusters.length === 1 && byName.has(group.clusters[0]) ? h("a", { href: clusterAddress(byName.get(group.clusters[0])) }, group.head) : group.head), KINDS[group.change] && chip(KINDS[group.change], "", group.change)),
      group.clusters.length > 1 && folded(`All ${number(group.clusters.length)} clusters`, () => h("p", {}, group.clusters.map((name, at) => [at > 0 && ", ", clusterNamed(name)]))),
      h(
        "ul",
        { class: "moves" },
        group.pools.map((pool) =>
          h(
            "li",
            {},
            h("b", {}, pool.pool),
            h(
              "div",
              {},
              h("p", {}, pool.machines),
              pool.change !== "removed" && pool.edits.length > 0 && h("dl", { class: "edits" }, pool.edits.map(([what, from, to]) => h("div", {}, h("dt", {}, what), h("dd", {}, h("del", {}, from), h("span", { class: "arrow", role: "img", "aria-label": "becomes" }, "→"), h("ins", {}, to))))),
              pool.skipped.length > 0 && h("p", { class: "note" }, `Leaves out Kubernetes ${pool.skipped.join(", ")}.`),
            ),
            h("span", { class: "end" }, pool.rollout ? chip(...ROLLOUTS[pool.rollout], pool.rollout) : KINDS[pool.change] && pool.change !== group.change && chip(KINDS[pool.change], "", pool.change)),
          ),
        ),
      ),
    );
  const served = (title, list) =>
    list.length > 0 && h("section", {}, h("h2", {}, title), h("ul", { class: "files" }, list.map(([key, size]) => h("li", {}, h("code", {}, key), " ", h("span", { class: "note" }, size)))));
  const list = (title, rows) => rows.length > 0 && h("section", {}, h("h2", {}, title), paged(byCause(rows), (rows) => findingCard(rows[0], null, rows.slice(1))));
  return {
    title: "Change",
    element: h(
      "div",
      { class: "detail" },
      h("h1", {}, "What the change does"),
      h("p", { class: "lead" }, `${it.sum}.`),
      h("p", { class: "note" }, "Against ", h("code", {}, it.against.slice(0, 10)), `, ${it.base.replaceAll("`", "")}.`),
      it.notes.map((note) => h("p", { class: "note" }, message(note))),
      h("dl", { class: "figures small" }, stat(rolls, rolls === 1 ? "pool rolls" : "pools roll"), stat(stays, "in place"), stat(it.new.length, it.new.length === 1 ? "new finding" : "new findings"), stat(it.gone.length, it.gone.length === 1 ? "finding gone" : "findings gone")),
      it.groups.length > 0 ? h("section", {}, h("h2", {}, "Clusters"), paged(it.groups, card)) : h("p", { class: "empty" }, "It changes no node pool."),
      list("New findings", it.new.map((index) => data.findings[index])),
      list("Findings that are gone", it.gone),
      served("Newly served images", it.served.added),
      served("Images no longer served", it.served.removed),
    ),
  };
}

function clusterNamed(name) {
  const cluster = byName.get(name);
  return cluster ? h("a", { href: clusterAddress(cluster) }, name) : name;
}
