// The address: which page, of what, and how it is sorted and filtered. All of it is behind the `#`.

function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [page, ...rest] = path.split("/");
  let subject = rest.join("/");
  try {
    subject = decodeURIComponent(subject);
  } catch {
    // A cut address leads nowhere, and the page says so.
  }
  return { page: page || "overview", subject, params: new URLSearchParams(query || "") };
}
function address(page, subject, params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params || {})) if (value !== "" && value !== null) query.set(name, value);
  const path = subject ? `${page}/${encodeURIComponent(subject)}` : page;
  const tail = query.toString();
  return `#/${path}${tail ? `?${tail}` : ""}`;
}
const clusterAddress = (cluster, pool) => address("cluster", cluster.name, pool ? { pool } : {});
const imageAddress = (image) => address("image", image.address);

// Changes parameters of the address without a new entry in the history.
function change(params, values) {
  for (const [name, value] of Object.entries(values)) {
    if (value === "" || value === null || value === undefined) params.delete(name);
    else params.set(name, value);
  }
  const tail = params.toString();
  const path = location.hash.split("?")[0] || "#/";
  history.replaceState(null, "", tail ? `${path}?${tail}` : path);
}

// The clusters that the parameters leave.
function filtered(params) {
  const words = wordsOf(params.get("q") || "");
  const get = (name) => params.get(name);
  const [state, kubernetes, provider, image, area] = [get("state"), get("kubernetes"), get("provider"), get("image"), get("folder")];
  const label = get("label");
  const [labelName, labelValue] = label ? [label.slice(0, label.indexOf("=")), label.slice(label.indexOf("=") + 1)] : [];
  const labelId = label ? labelNames.find((id) => text(id) === labelName) : 0;
  return clusters.filter(
    (cluster) =>
      (!state || STATES[cluster.state] === state) &&
      (!kubernetes || text(cluster.version) === kubernetes || (cluster.minor >= 0 && text(minors[cluster.minor]) === kubernetes)) &&
      (!provider || text(cluster.provider) === provider) &&
      (!image || cluster.images.some((id) => images[id - 1].key === image)) &&
      (!area || cluster.area === area) &&
      (!label || labelOf(cluster, labelId) === labelValue) &&
      words.every((word) => haystack(cluster).includes(word)),
  );
}
