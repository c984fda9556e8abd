// Shows the page that the address names.

const PAGES = { overview, fleet, cluster: clusterPage, images: imageList, image: imagePage, findings: findingList, change: changePage, plan: planPage };
const NAV = [["overview", "Overview"], ["fleet", "Clusters"], ["images", "Images"], ["findings", "Findings"], ["plan", "Plan"], ["change", "Change"]];
const PARENT = { cluster: "fleet", image: "images" };

let current = null;
let isFirst = true;

function show() {
  const to = route();
  if (current && current.gone) current.gone();
  const page = Object.hasOwn(PAGES, to.page) ? PAGES[to.page](to) : missing("There is no such page.");
  current = page;
  const main = document.getElementById("main");
  replace(main, page.element);
  document.title = to.page === "overview" ? data.title : `${page.title} – ${data.title}`;
  const here = PARENT[to.page] || to.page;
  replace(
    document.getElementById("nav"),
    NAV.filter(([name]) => !["change", "plan"].includes(name) || data[name]).map(([name, label]) =>
      h("a", { href: name === "overview" ? "#/" : `#/${name}`, "aria-current": name === here ? "page" : null }, label, name === "findings" && findings.length > 0 && h("span", { class: "badge" }, number(findings.length))),
    ),
  );
  const tab = document.querySelector("nav [aria-current]");
  if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - 40;
  if (!isFirst) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
  isFirst = false;
  if (page.shown) page.shown();
}

// Light, dark, or what the system says. Kept where the browser keeps anything.
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
const THEMES = { auto: "System colors", light: "Light", dark: "Dark" };
function stored() {
  try {
    return localStorage.getItem("metalmark-theme");
  } catch {
    return null;
  }
}
function theme(name) {
  document.documentElement.dataset.theme = name === "auto" ? (systemIsDark.matches ? "dark" : "light") : name;
  document.getElementById("theme").textContent = THEMES[name];
  document.getElementById("theme").setAttribute("aria-label", `Colors: ${THEMES[name]}`);
}
let colors = Object.hasOwn(THEMES, stored() || "") ? stored() : "auto";
theme(colors);
document.getElementById("theme").addEventListener("click", () => {
  const names = Object.keys(THEMES);
  colors = names[(names.indexOf(colors) + 1) % names.length];
  theme(colors);
  try {
    localStorage.setItem("metalmark-theme", colors);
  } catch {
    // The page's address has no storage: the next page starts with the system's colors.
  }
  show();
});
systemIsDark.addEventListener("change", () => {
  theme(colors);
  show();
});

document.getElementById("foot").append(`Written by ${data.made_by}. This page loads nothing and sends nothing.`);
document.querySelector(".skip").addEventListener("click", (event) => {
  // The part behind the `#` is the page's address.
  event.preventDefault();
  document.getElementById("main").focus();
});
addEventListener("hashchange", show);
show();
