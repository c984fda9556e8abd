// The fleet as a map: a tile a cluster, in groups. One canvas of the size of the window onto it; what is scrolled away is not
// drawn. Zooming makes tiles larger, until each shows its node pools by name. The table has the same clusters for those who
// cannot see or point at a picture.

const SIZES = [4, 5, 6, 7, 9, 12, 16, 22, 30, 44, 64, 82, 100, 124, 150, 180, 220, 300];
const HEAD = 30;
const GAP = 14;

const GROUPS = [
  ["kubernetes", "Kubernetes", (cluster) => (cluster.minor >= 0 ? text(minors[cluster.minor]) : "no version")],
  ["state", "State", (cluster) => STATES[cluster.state]],
  ["provider", "Provider", (cluster) => text(cluster.provider) || "no provider"],
  ["folder", "Folder", (cluster) => cluster.area],
  ["image", "Image", (cluster) => (cluster.images.length === 0 ? "no image" : cluster.images.length === 1 ? images[cluster.images[0] - 1].key : "several images")],
];
for (const id of labelNames) GROUPS.push([`label:${text(id)}`, `Label ${text(id)}`, (cluster) => labelOf(cluster, id) || `without ${text(id)}`]);
const groupOf = (name) => GROUPS.find(([id]) => id === name) || GROUPS[0];
const initialGroup = () => (new Set(clusters.map((cluster) => cluster.minor)).size > 1 ? "kubernetes" : "state");

// In a group, what is like goes together: the worst state first, or the oldest version.
function grouped(list, name, color) {
  const [id, , of] = groupOf(name);
  const first = color === "minor" ? (a, b) => a.minor - b.minor : (a, b) => RANKED.indexOf(a.state) - RANKED.indexOf(b.state);
  const groups = new Map();
  for (const cluster of list) {
    const key = of(cluster);
    const known = groups.get(key);
    if (known) known.push(cluster);
    else groups.set(key, [cluster]);
  }
  const rank = (key) => (id === "state" ? RANKED.indexOf(STATES.indexOf(key)) : 0);
  const all = [...groups].sort(([a], [b]) => (id === "kubernetes" ? natural(b, a) : rank(a) - rank(b) || natural(a, b)));
  return all.map(([name, members]) => ({
    name,
    members: members.slice().sort((a, b) => first(a, b) || a.order - b.order),
  }));
}

function fleetMap(options) {
  const canvas = h("canvas", {});
  const spacer = h("div", { class: "spacer" });
  const tip = h("div", { class: "tip", hidden: true });
  const scroller = h(
    "div",
    { class: `map ${options.compact ? "compact" : ""}`, tabindex: "0", role: "application", "aria-roledescription": "map", "aria-describedby": "map-help" },
    canvas,
    spacer,
  );
  const legend = h("ul", { class: "legend", "aria-label": "Colors" });
  const zoomText = h("span", { class: "note" });
  const zoomOut = h("button", { type: "button", "aria-label": "Smaller tiles", onclick: () => zoom(-1) }, "−");
  const zoomIn = h("button", { type: "button", "aria-label": "Larger tiles", onclick: () => zoom(1) }, "+");
  const help = h("p", { id: "map-help", class: "hidden" }, "Arrow keys move between clusters, Enter opens one, plus and minus zoom. The table lists the same clusters.");
  const bar = h("div", { class: "mapbar" }, legend, h("div", { class: "zoom", role: "group", "aria-label": "Zoom" }, zoomText, zoomOut, zoomIn));
  const element = h("div", { class: "mapbox" }, bar, scroller, tip, help);

  let { list, group, color } = options;
  let step = null;
  let groups = [];
  let blocks = [];
  let tile = { w: 0, h: 0 };
  let width = 0;
  let cursor = null;
  let hover = null;
  let colors = null;
  let pending = 0;

  const sizeOf = (index) => {
    const w = Math.min(SIZES[index], Math.max(40, width - 2));
    return { w, h: w < 64 ? w : Math.round(w * (w < 150 ? 0.6 : 0.72)) };
  };
  const tallest = () => Math.max(260, Math.min(options.compact ? 620 : 900, innerHeight * (options.compact ? 0.5 : 0.72)));

  // The groups as blocks for tiles of a size: large ones as bands of the whole width, small ones beside each other.
  function pack(index) {
    const tile = sizeOf(index);
    const columns = Math.max(1, Math.floor(width / tile.w));
    const blocks = [];
    let [x, y, shelf] = [0, 0, 0];
    for (const group of groups) {
      const count = group.members.length;
      const isBand = count >= columns;
      const label = Math.min(width, Math.max(120, 34 + 8 * (group.name.length + String(count).length)));
      const across = isBand ? columns : Math.max(1, Math.min(columns, count, Math.max(Math.ceil(Math.sqrt(count) * 1.6), Math.floor(label / tile.w))));
      const wide = isBand ? width : Math.max(label, across * tile.w);
      const high = HEAD + Math.ceil(count / across) * tile.h;
      if (x > 0 && (isBand || x + wide > width)) [x, y, shelf] = [0, y + shelf + GAP, 0];
      blocks.push({ group, x, y, across, wide, high });
      shelf = Math.max(shelf, high);
      x += wide + GAP * 1.6;
      if (isBand) [x, y, shelf] = [0, y + shelf + GAP, 0];
    }
    return { tile, blocks, total: y + shelf + 6 };
  }
  // The largest tiles with which everything is seen at once: a card each for a few clusters.
  function fitting() {
    let index = SIZES.length - 3;
    while (index > 0 && (list.length * sizeOf(index).w * sizeOf(index).h > 4 * width * tallest() || pack(index).total > tallest())) index--;
    return index;
  }

  function layout() {
    width = scroller.clientWidth - 2;
    if (width <= 0) return;
    groups = grouped(list, group, color);
    const index = step === null ? fitting() : Math.max(0, Math.min(SIZES.length - 1, step));
    let total = 0;
    ({ tile, blocks, total } = pack(index));
    spacer.style.height = `${total}px`;
    scroller.style.height = `${Math.min(tallest(), Math.max(90, total + 4))}px`;
    resize();
    zoomText.textContent = tile.w < 22 ? "Overview" : tile.w < 64 ? "Clusters" : tile.w < 150 ? "Names" : "Pools";
    zoomOut.disabled = index === 0;
    zoomIn.disabled = index === SIZES.length - 1;
    scroller.setAttribute("aria-label", `Map of ${counted(list.length, "cluster")} in ${counted(groups.length, "group")}`);
    paint();
  }

  function resize() {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const high = scroller.clientHeight;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(high * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${high}px`;
    canvas.style.marginBottom = `${-high}px`;
  }

  function palette() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(name).trim();
    colors = {
      states: STATES.map((_, index) => get(`--s${index}`)),
      minors: minors.map((_, index) => minorColor(index)),
      ink: get("--ink"),
      muted: get("--muted"),
      surface: get("--surface"),
      mark: get("--mark"),
      line: get("--line"),
      focus: get("--accent"),
    };
  }

  function paint() {
    if (!pending) pending = requestAnimationFrame(draw);
  }

  function draw() {
    pending = 0;
    if (!colors) palette();
    const ratio = canvas.width / Math.max(1, width);
    const context = canvas.getContext("2d");
    const [top, high] = [scroller.scrollTop, scroller.clientHeight];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, high);
    context.textBaseline = "middle";
    for (const block of blocks) {
      if (block.y > top + high || block.y + block.high < top) continue;
      title(context, block, block.y - top);
      const first = Math.max(0, Math.floor((top - block.y - HEAD) / tile.h)) * block.across;
      const last = Math.min(block.group.members.length, (Math.floor((top + high - block.y - HEAD) / tile.h) + 1) * block.across);
      for (let at = first; at < last; at++) {
        const x = block.x + (at % block.across) * tile.w;
        const y = block.y + HEAD + Math.floor(at / block.across) * tile.h - top;
        one(context, block.group.members[at], x, y);
      }
    }
  }

  function title(context, block, y) {
    context.font = "600 13px system-ui, sans-serif";
    context.fillStyle = colors.ink;
    const name = cut(context, block.group.name, block.wide - 44);
    context.fillText(name, block.x, y + 15);
    const end = block.x + context.measureText(name).width + 8;
    context.font = "13px system-ui, sans-serif";
    context.fillStyle = colors.muted;
    context.fillText(number(block.group.members.length), end, y + 15);
  }

  const fillOf = (cluster, state) => (color === "state" ? colors.states[state] : cluster.minor >= 0 ? colors.minors[cluster.minor] : colors.states[4]);

  function one(context, cluster, x, y) {
    const gap = tile.w < 6 ? 0.6 : tile.w < 12 ? 1 : tile.w < 44 ? 2 : 4;
    const [w, hi] = [tile.w - gap, tile.h - gap];
    const radius = tile.w < 12 ? 1 : tile.w < 44 ? 3 : 6;
    if (tile.w >= 64) card(context, cluster, x, y, w, hi);
    else {
      const isHollow = cluster.state === 4 && color === "state";
      context.beginPath();
      context.roundRect(x + (isHollow ? 0.75 : 0), y + (isHollow ? 0.75 : 0), w - (isHollow ? 1.5 : 0), hi - (isHollow ? 1.5 : 0), radius);
      if (isHollow) {
        context.lineWidth = 1.5;
        context.strokeStyle = colors.states[4];
        context.stroke();
      } else {
        context.fillStyle = fillOf(cluster, cluster.state);
        context.fill();
      }
      if (color === "state") sign(context, cluster.state, x, y, w);
      else if (tile.w >= 30 && cluster.minor >= 0) {
        context.font = `600 ${tile.w >= 44 ? 12 : 10}px system-ui, sans-serif`;
        context.fillStyle = colors.mark;
        context.textAlign = "center";
        context.fillText(text(minors[cluster.minor]), x + w / 2, y + hi / 2);
        context.textAlign = "left";
      }
    }
    if (cluster === cursor || cluster === hover) {
      context.beginPath();
      context.roundRect(x - 1, y - 1, w + 2, hi + 2, radius + 1);
      context.lineWidth = cluster === cursor ? 3 : 2;
      context.strokeStyle = cluster === cursor ? colors.focus : colors.ink;
      context.stroke();
    }
  }

  // A mark for each state that is not well, so that color is not needed.
  function sign(context, state, x, y, size) {
    if (state === 0 || state === 4 || size < 4) return;
    const [cx, cy, r] = [x + size / 2, y + size / 2, size * 0.22];
    context.strokeStyle = colors.mark;
    context.fillStyle = colors.mark;
    context.lineWidth = Math.max(0.8, size * 0.1);
    context.beginPath();
    if (state === 3) {
      context.moveTo(cx - r, cy - r);
      context.lineTo(cx + r, cy + r);
      context.moveTo(cx + r, cy - r);
      context.lineTo(cx - r, cy + r);
    } else if (state === 2) {
      context.arc(cx, cy, Math.max(1, size * 0.14), 0, 7);
      context.fill();
      return;
    } else {
      context.moveTo(cx - r, cy);
      context.lineTo(cx + r, cy);
    }
    context.stroke();
  }

  // A large tile: the cluster's name and its pools.
  function card(context, cluster, x, y, w, hi) {
    context.beginPath();
    context.roundRect(x + 0.5, y + 0.5, w - 1, hi - 1, 6);
    context.fillStyle = colors.surface;
    context.fill();
    context.lineWidth = 1;
    context.strokeStyle = colors.line;
    context.stroke();
    context.save();
    context.clip();
    context.fillStyle = fillOf(cluster, cluster.state);
    context.fillRect(x, y, 5, hi);
    const isLarge = w >= 140;
    const pad = isLarge ? 14 : 10;
    context.font = `600 ${isLarge ? 13 : 11}px system-ui, sans-serif`;
    context.fillStyle = colors.ink;
    // A mark beside the name: the colored edge alone would not say it to everybody.
    const isMarked = color === "state" && cluster.state > 0;
    const isSmall = w < 90;
    if (isMarked) swatch(context, cluster, cluster.state, x + w - (isSmall ? 14 : 18), isSmall ? y + hi - 14 : y + (isLarge ? 12 : 8), 11);
    context.fillStyle = colors.ink;
    context.fillText(cut(context, cluster.short, w - pad - (isMarked && !isSmall ? 24 : 6)), x + pad, y + (isLarge ? 17 : 13));
    context.font = `${isLarge ? 12 : 10}px system-ui, sans-serif`;
    context.fillStyle = colors.muted;
    const pools = cluster.row.p;
    if (isSmall) {
      cells(context, cluster, x + pad, y + 24, w - pad - 6, hi - 28);
    } else if (!isLarge) {
      context.fillText(cut(context, text(cluster.version), w - pad - 6), x + pad, y + 28);
      cells(context, cluster, x + pad, y + 38, w - pad - 6, hi - 42);
    } else {
      context.fillText(cut(context, `${text(cluster.version)}  ${text(cluster.provider)}`, w - pad - 6), x + pad, y + 35);
      const rows = Math.max(0, Math.floor((hi - 46) / 17));
      const shown = pools.length > rows ? rows - 1 : pools.length;
      for (let at = 0; at < shown; at++) {
        const line = y + 55 + at * 17;
        swatch(context, cluster, pools[at].s, x + pad, line - 5, 10);
        context.fillStyle = colors.ink;
        const image = pools[at].i > 0 ? images[pools[at].i - 1].key : "no image";
        const words = w >= 210 ? `${text(pools[at].n)}  ${image}` : text(pools[at].n);
        context.fillText(cut(context, words, w - pad - 24), x + pad + 16, line);
      }
      if (shown < pools.length && rows > 0) {
        context.fillStyle = colors.muted;
        context.fillText(`and ${pools.length - Math.max(0, shown)} more`, x + pad + 16, y + 55 + Math.max(0, shown) * 17);
      }
    }
    context.restore();
  }

  function swatch(context, cluster, state, x, y, size) {
    context.beginPath();
    if (state === 4) {
      context.roundRect(x + 1, y + 1, size - 2, size - 2, 2);
      context.lineWidth = 1.5;
      context.strokeStyle = colors.states[4];
      context.stroke();
      return;
    }
    context.roundRect(x, y, size, size, 2);
    context.fillStyle = color === "state" ? colors.states[state] : fillOf(cluster, state);
    context.fill();
    if (color === "state") sign(context, state, x, y, size);
  }

  function cells(context, cluster, x, y, w, hi) {
    const across = Math.max(1, Math.floor(w / 12));
    cluster.row.p.forEach((pool, at) => {
      const row = Math.floor(at / across);
      if ((row + 1) * 12 <= hi) swatch(context, cluster, pool.s, x + (at % across) * 12, y + row * 12, 10);
    });
  }

  // The cluster at a point of the canvas, and the pool where tiles are large enough to name them.
  function at(event) {
    const box = canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top + scroller.scrollTop];
    for (const block of blocks) {
      const [x, y] = [px - block.x, py - block.y - HEAD];
      if (x < 0 || x >= block.wide || y < -HEAD || y >= block.high - HEAD) continue;
      if (y < 0) return { group: block.group };
      const column = Math.floor(x / tile.w);
      if (column >= block.across) continue;
      const cluster = block.group.members[Math.floor(y / tile.h) * block.across + column];
      if (!cluster) continue;
      const inside = y % tile.h;
      const pool = tile.w >= 150 && inside > 46 ? cluster.row.p[Math.floor((inside - 46) / 17)] : null;
      return { cluster, pool };
    }
    return null;
  }

  function zoom(by, focus) {
    const now = SIZES.findIndex((size) => size >= tile.w);
    const next = Math.max(0, Math.min(SIZES.length - 1, (now < 0 ? 0 : now) + by));
    const middle = scroller.scrollTop + scroller.clientHeight / 2;
    const share = middle / Math.max(1, spacer.offsetHeight);
    step = next;
    layout();
    scroller.scrollTop = share * spacer.offsetHeight - scroller.clientHeight / 2;
    if (focus) reveal(focus);
    if (options.zoomed) options.zoomed(step);
  }

  function placeOf(cluster) {
    for (const block of blocks) {
      const index = block.group.members.indexOf(cluster);
      if (index >= 0) return { block, index, y: block.y + HEAD + Math.floor(index / block.across) * tile.h };
    }
    return null;
  }
  function reveal(cluster) {
    const place = placeOf(cluster);
    if (!place) return;
    if (place.y < scroller.scrollTop + HEAD) scroller.scrollTop = place.y - HEAD;
    else if (place.y + tile.h > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = place.y + tile.h - scroller.clientHeight;
  }

  function move(key) {
    const order = blocks.flatMap((block) => block.group.members);
    if (order.length === 0) return;
    if (!cursor || !order.includes(cursor)) cursor = order[0];
    else {
      const place = placeOf(cursor);
      const now = order.indexOf(cursor);
      const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -place.block.across, ArrowDown: place.block.across, Home: -now, End: order.length }[key];
      cursor = order[Math.max(0, Math.min(order.length - 1, now + by))];
    }
    reveal(cursor);
    announce(describe(cursor));
    paint();
  }

  const describe = (cluster) =>
    `${cluster.name}: ${STATES[cluster.state]}, Kubernetes ${text(cluster.version) || "unknown"}, ${counted(cluster.pools, "pool")}`;

  function point(event) {
    const found = at(event);
    const cluster = found && found.cluster ? found.cluster : null;
    if (cluster !== hover) {
      hover = cluster;
      paint();
    }
    scroller.style.cursor = found ? "pointer" : "";
    if (!cluster) {
      tip.hidden = true;
      return;
    }
    replace(
      tip,
      h("b", {}, cluster.name),
      stateChip(cluster.state),
      h("span", {}, `Kubernetes ${text(cluster.version) || "unknown"}`),
      h("span", {}, `${counted(cluster.pools, "pool")}, ${counted(cluster.machines, "machine")}`),
      cluster.found > 0 && h("span", {}, counted(cluster.found, "finding")),
    );
    tip.hidden = false;
    const box = element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    tip.style.left = `${Math.max(0, Math.min(x + 14, box.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${y + tip.offsetHeight + 30 > box.height ? y - tip.offsetHeight - 10 : y + 16}px`;
  }

  scroller.addEventListener("scroll", paint, { passive: true });
  scroller.addEventListener("pointermove", point);
  scroller.addEventListener("pointerleave", () => {
    hover = null;
    tip.hidden = true;
    paint();
  });
  scroller.addEventListener("click", (event) => {
    const found = at(event);
    if (found && found.cluster) location.hash = clusterAddress(found.cluster, found.pool ? text(found.pool.n) : "");
    else if (found && options.selected) options.selected(found.group.name);
  });
  scroller.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(Arrow|Home$|End$)/.test(event.key)) move(event.key);
    else if (event.key === "Enter" && cursor) location.hash = clusterAddress(cursor);
    else if (event.key === "+" || event.key === "=") zoom(1, cursor);
    else if (event.key === "-") zoom(-1, cursor);
    else return;
    event.preventDefault();
  });
  let wheel = 0;
  scroller.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      wheel += event.deltaY;
      if (Math.abs(wheel) > 60) {
        zoom(wheel < 0 ? 1 : -1);
        wheel = 0;
      }
    },
    { passive: false },
  );

  function explain() {
    const entries =
      color === "state"
        ? [0, 1, 2, 3, 4].filter((state) => list.some((cluster) => cluster.state === state)).map((state) => h("li", {}, glyph(state), STATES[state]))
        : minors.map((minor, index) => h("li", {}, h("i", { class: "swatch", "--c": minorColor(index) }), text(minor)));
    replace(legend, entries);
  }

  const watch = new ResizeObserver(() => {
    if (scroller.clientWidth - 2 !== width || canvas.clientHeight !== scroller.clientHeight) layout();
  });
  return {
    element,
    shown() {
      watch.observe(scroller);
      explain();
      layout();
    },
    update(next) {
      ({ list, group, color } = { list, group, color, ...next });
      if ("step" in next) step = next.step;
      colors = null;
      explain();
      layout();
    },
  };
}

// A text that fits: its end is cut where it is longer.
const cuts = new Map();
function cut(context, words, wide) {
  if (wide <= 8) return "";
  const key = `${context.font}\n${Math.round(wide)}\n${words}`;
  let fit = cuts.get(key);
  if (fit === undefined) {
    fit = words;
    if (context.measureText(words).width > wide) {
      let [low, high] = [0, words.length];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (context.measureText(`${words.slice(0, middle)}…`).width <= wide) low = middle;
        else high = middle - 1;
      }
      fit = `${words.slice(0, low)}…`;
    }
    if (cuts.size > 20000) cuts.clear();
    cuts.set(key, fit);
  }
  return fit;
}

// From the oldest minor to the newest: amber, rose, blue, with a lightness that falls evenly.
function minorColor(index) {
  const share = minors.length < 2 ? 1 : index / (minors.length - 1);
  const isDark = getComputedStyle(document.documentElement).getPropertyValue("--is-dark").trim() === "1";
  const light = isDark ? 0.84 - 0.24 * share : 0.67 - 0.29 * share;
  return `oklch(${light} 0.13 ${75 - 180 * share})`;
}
