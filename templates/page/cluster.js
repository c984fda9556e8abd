// One cluster: its pools, what each boots and why, its findings, where its values come from.

function clusterPage({ subject, params }) {
  const cluster = byName.get(subject);
  if (!cluster) return missing(`There is no cluster “${subject}” in this page.`);
  const { row } = cluster;
  const found = findingsOf[cluster.index];
  const wanted = params.get("pool");
  const pools = row.p.map((pool) => poolCard(cluster, pool, row.p.length === 1 || text(pool.n) === wanted));
  const object = row.ns ? `${text(row.ns)}/${text(row.o)}` : text(row.o);
  const fact = (name, ...value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
  const valued = (pair) => (pair[0] ? [h("b", {}, text(pair[0])), placeLink(cluster, pair[1])] : "not known");
  return {
    title: cluster.name,
    element: h(
      "div",
      { class: "detail" },
      crumbs([["Clusters", "#/fleet"]], cluster.name),
      h("h1", {}, cluster.name),
      h("p", { class: "chips" }, stateChip(cluster.state), h("span", {}, counted(cluster.pools, "node pool")), h("span", {}, counted(cluster.machines, "machine") + (cluster.isCounted ? "" : " and more")), row.e > 0 && levelChip("error", row.e), row.w > 0 && levelChip("warning", row.w)),
      h(
        "dl",
        { class: "facts" },
        fact("Kubernetes", valued(row.v[0] || !row.p.length ? row.v : [row.p[0].v, row.p[0].vp])),
        fact("Provider", valued(row.i)),
        fact("Bootstrap provider", valued(row.b)),
        fact("Object", object),
        fact("Read from", row.m ? "Cluster API manifests" : "Helm values"),
        (row.l || []).length > 0 && fact("Labels", h("ul", { class: "tags" }, row.l.map(([name, value]) => h("li", {}, h("a", { href: address("fleet", "", { label: `${text(name)}=${text(value)}` }) }, `${text(name)}=${text(value)}`))))),
      ),
      found.length > 0 && h("section", { "aria-labelledby": "h-f" }, h("h2", { id: "h-f" }, counted(found.length, "finding")), found.map((finding) => findingCard(finding.row, cluster))),
      h("section", { "aria-labelledby": "h-p" }, h("h2", { id: "h-p" }, counted(cluster.pools, "node pool")), pools),
      data.plan && waySection(cluster),
      h("section", { "aria-labelledby": "h-o" }, h("h2", { id: "h-o" }, "Files"), h("p", { class: "note" }, row.m ? "The files that its values were read from." : "Its own files, then those that it shares."), h("ul", { class: "files" }, row.f.map((file) => h("li", {}, fileLink(text(file), 0, 0))))),
    ),
    shown() {
      const target = wanted && document.getElementById(`pool-${wanted}`);
      if (target) target.scrollIntoView({ block: "start" });
    },
  };
}

function poolCard(cluster, pool, isOpen) {
  const image = pool.i > 0 ? images[pool.i - 1] : null;
  const name = text(pool.n);
  return h(
    "article",
    { class: `card edge s${pool.s}`, id: `pool-${name}` },
    h("div", { class: "headline" }, h("h3", {}, name), stateChip(pool.s)),
    h(
      "dl",
      { class: "row" },
      h("div", {}, h("dt", {}, "Boots"), h("dd", {}, image ? h("a", { href: imageAddress(image) }, image.key) : message(text(data.reasons[pool.y].o)))),
      h("div", {}, h("dt", {}, "Kubernetes"), h("dd", {}, text(pool.v) || "not known")),
      h("div", {}, h("dt", {}, "Image holds"), h("dd", {}, pool.h ? text(pool.h[0]) : "not known")),
      h("div", {}, h("dt", {}, "Machines"), h("dd", {}, pool.m === null ? "not known" : number(pool.m), placeLink(cluster, pool.mp))),
    ),
    folded(image ? "Why this image?" : "Why no image?", () => why(cluster, pool), isOpen),
  );
}

function crumbs(links, here) {
  return h("nav", { class: "crumbs", "aria-label": "Path" }, h("ol", {}, links.map(([name, href]) => h("li", {}, h("a", { href }, name))), h("li", { "aria-current": "page" }, here)));
}

function missing(words) {
  return { title: "Not found", element: h("div", { class: "detail" }, h("h1", {}, "Not found"), h("p", {}, words), h("p", {}, h("a", { href: "#/" }, "Back to the overview"))) };
}
