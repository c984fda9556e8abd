// What the rules found: by rule, with the lines of the files and what to do.

function levelChip(level, count) {
  const word = count === undefined ? level : counted(count, level);
  return h("span", { class: `level ${level}` }, glyph(level === "error" ? 3 : 2), word);
}

function findingList({ params }) {
  const count = h("p", { class: "count", role: "status" });
  const list = h("div", { class: "stackup" });
  const rules = [...new Set(findings.map((finding) => text(data.rules[finding.row.rule][0])))].sort();
  const texts = findings.map(() => null);
  function haystackOf({ index, row }) {
    texts[index] = texts[index] || [data.rules[row.rule][0], row.message, row.file, row.image, ...row.pools, ...row.help].map(text).concat(row.clusters.map((cluster) => clusters[cluster].name)).join("\n").toLowerCase();
    return texts[index];
  }
  function refresh() {
    const words = wordsOf(params.get("q") || "");
    const [rule, level] = [params.get("rule"), params.get("level")];
    const matching = findings
      .filter((finding) => (!rule || text(data.rules[finding.row.rule][0]) === rule) && (!level || finding.row.level === level) && words.every((word) => haystackOf(finding).includes(word)))
      .sort((a, b) => b.isError - a.isError || a.index - b.index);
    const errors = matching.filter((finding) => finding.isError).length;
    count.textContent = `${counted(errors, "error")}, ${counted(matching.length - errors, "warning")}`;
    if (matching.length > 0) replace(list, paged(byCause(matching.map((finding) => finding.row)), (rows) => findingCard(rows[0], null, rows.slice(1))));
    else replace(list, h("p", { class: "empty" }, findings.length === 0 ? "The rules found nothing." : "Nothing matches."));
  }
  return {
    title: "Findings",
    element: h(
      "div",
      { class: "detail" },
      h("div", { class: "headline" }, h("h1", {}, "Findings"), count),
      h("div", { class: "filters" }, searchField(params, "Search messages, files, clusters", refresh), selectField(params, "Rule", "rule", rules, "any rule", refresh), selectField(params, "Level", "level", ["error", "warning"], "any level", refresh)),
      h("h2", { class: "hidden" }, "What was found"),
      list,
    ),
    shown: refresh,
  };
}

// Findings that report the same of different places, together, in the order of the first of them.
function byCause(rows) {
  const causes = new Map();
  for (const row of rows) {
    const known = causes.get(row.cause);
    if (known) known.push(row);
    else causes.set(row.cause, [row]);
  }
  return [...causes.values()];
}

// One finding, and where the same is reported; on the page of a cluster that cluster is not listed.
function findingCard(row, here, alike = []) {
  const [id, summary] = data.rules[row.rule].map(text);
  const others = row.clusters.map((index) => clusters[index]).filter((cluster) => cluster !== here);
  const named = others.slice(0, 8);
  const rest = others.length - named.length;
  return h(
    "article",
    { class: `card finding ${row.level}` },
    h("div", { class: "headline" }, h("h3", {}, message(text(row.message))), levelChip(row.level)),
    h("p", { class: "note" }, h("a", { href: address("findings", "", { rule: id }), title: summary }, id), row.pools.length > 0 && ` · ${row.pools.length === 1 ? "pool" : "pools"} ${row.pools.map(text).join(", ")}`, row.file > 0 && [" · ", fileLink(text(row.file), row.line, row.column)]),
    row.snippet > 0 && h("pre", { tabindex: "0", role: "group", "aria-label": "Lines of the files" }, text(row.snippet)),
    row.help.map((help) => h("p", { class: "help" }, h("b", {}, "help "), message(text(help)))),
    alike.length > 0 && folded(`The same in ${counted(alike.length, "other place")}`, () => elsewhere(alike), false),
    named.length > 0 && h("p", { class: "note" }, here ? "Also in " : "In ", named.map((cluster, at) => [at > 0 && ", ", h("a", { href: clusterAddress(cluster) }, cluster.name)]), rest > 0 && ` and ${number(rest)} more`),
  );
}

function elsewhere(rows) {
  const one = (row) =>
    h(
      "li",
      {},
      row.file > 0 && fileLink(text(row.file), row.line, row.column),
      " ",
      row.clusters.slice(0, 3).map((index, at) => [at > 0 && ", ", h("a", { href: clusterAddress(clusters[index]) }, clusters[index].name)]),
      row.clusters.length > 3 && ` and ${number(row.clusters.length - 3)} more`,
    );
  return h("ul", { class: "files" }, rows.slice(0, 500).map(one), rows.length > 500 && h("li", { class: "note" }, `and ${number(rows.length - 500)} more`));
}
