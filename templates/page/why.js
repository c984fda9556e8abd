// Why a pool boots its image: the steps of `metalmark explain`, each with its place.

function why(cluster, pool) {
  const reason = data.reasons[pool.y];
  const steps = [];
  for (const [path, sets] of reason.l) steps.push(step(["The values at ", h("code", {}, text(path)), " set"], settings(cluster, sets)));
  if (pool.t) steps.push(step(["The pool refers to the machine template ", h("code", {}, text(pool.t[0]))], place(cluster, pool.t[1])));
  if (reason.s.length > 0) steps.push(step("The selector that is matched, with what the cluster adds", settings(cluster, reason.s)));
  if (reason.n > 0) steps.push(step(...compared(data.nearest[reason.n - 1])));
  const outcome = text(reason.o);
  const image = pool.i > 0 ? images[pool.i - 1] : null;
  steps.push(
    step(
      ["The outcome: ", message(outcome)],
      [place(cluster, reason.p), reason.m > 0 && h("p", { class: "note" }, "The other matching mode: ", message(text(reason.m))), image && h("p", {}, h("a", { href: imageAddress(image) }, `About image ${image.key}`))],
    ),
  );
  steps.push(step(...proofOf(cluster, pool)));
  for (const [, why, at] of reason.u ?? []) steps.push(step(["What its machines do at boot is not read: ", text(why)], place(cluster, at)));
  return h("ol", { class: "chain" }, steps);
}

const step = (title, ...content) => h("li", {}, h("h4", {}, title), content);
const place = (cluster, id) => (id > 0 ? h("p", {}, placeLink(cluster, id)) : null);

function settings(cluster, sets) {
  return h(
    "ul",
    { class: "sets" },
    sets.map(([name, value, at]) => h("li", {}, h("code", {}, h("span", { class: "key" }, text(name)), " = ", text(value)), at > 0 ? placeLink(cluster, at) : h("span", { class: "at" }, "added by the selection"))),
  );
}

function compared([total, matching, nearest]) {
  const rest = total - nearest.length;
  const title = `Compared with ${counted(total, "image")}: ${matching === 0 ? "none matches" : matching === 1 ? "one matches" : `${number(matching)} match`}`;
  const list = h(
    "ul",
    { class: "nearest" },
    nearest.map(([key, differs]) =>
      differs.length === 0
        ? h("li", { class: "match" }, h("code", {}, text(key)), h("span", {}, "matches"))
        : h("li", {}, h("code", {}, text(key)), h("span", {}, differs.map(([fact, wanted, has]) => `${text(fact)} is ${has ? text(has) : "not known"}, not ${text(wanted)}`).join("; "))),
    ),
    rest > 0 && h("li", {}, h("span", { class: "note" }, `and ${number(rest)} more that differ`)),
  );
  return [title, list];
}

function proofOf(cluster, pool) {
  const wants = text(pool.v);
  const lines = [];
  if (pool.v > 0) lines.push(h("li", {}, h("code", {}, h("span", { class: "key" }, "the pool requires"), " ", wants), placeLink(cluster, pool.vp)));
  if (pool.h) lines.push(h("li", {}, h("code", {}, h("span", { class: "key" }, "the image holds"), " ", text(pool.h[0])), h("span", { class: "note" }, `from ${text(pool.h[1])}`), placeLink(cluster, pool.h[2])));
  const skipped = pool.k ? `: ${text(pool.k)}` : "";
  return [["Does it fit? ", stateChip(pool.s), skipped], h("ul", { class: "sets" }, lines), h("p", { class: "note" }, `“${STATES[pool.s]}”: ${STATE_MEANS[pool.s]}.`)];
}
