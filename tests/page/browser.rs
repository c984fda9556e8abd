//! The page in a real browser: Chromium over WebDriver, where both are found. Every test ends with a console without a line
//! and without a request to anywhere.

use std::fs;
use std::path::PathBuf;

use super::{HOSTILE, manifests, page, size, values};
use crate::programs;
use crate::support::is_long;
use crate::support::stage::{Stage, project};
use crate::support::webdriver::Browser;
use serde_json::{Value, json};

/// A page in a file, and a window that shows it.
struct Shown {
    browser: Browser,
    file: PathBuf,
    _folder: Stage,
}

impl Shown {
    /// The page of a folder; none where there is no browser.
    fn of(folder: Stage, arguments: &str, width: u32) -> Option<Self> {
        let browser = Browser::open(width)?;
        let file = folder.path().join("page.html");
        fs::write(&file, page(folder.path(), arguments)).expect("written");
        Some(Self {
            browser,
            file,
            _folder: folder,
        })
    }

    /// Opens an address of the page as if it was typed.
    fn open(&self, address: &str) {
        self.browser.visit("about:blank");
        self.browser
            .visit(&format!("file://{}{address}", self.file.display()));
        self.browser.until("document.querySelector('main h1')");
    }

    fn hash(&self) -> String {
        let hash = self.browser.run("return location.hash");
        hash.as_str().expect("a text").to_owned()
    }

    fn text(&self, selector: &str) -> String {
        let script = format!(
            "return document.querySelector({}).textContent",
            json!(selector)
        );
        let text = self.browser.run(&script);
        text.as_str().expect("a text").to_owned()
    }

    /// The page has said nothing, and has loaded itself alone.
    fn is_silent(&self) {
        assert_eq!(self.browser.console(), [""; 0]);
        let own = format!("file://{}", self.file.display());
        let requests = self.browser.requests().into_iter();
        let others: Vec<String> = requests
            .filter(|address| !address.starts_with(&own) && !address.starts_with("data:"))
            // What the browser itself shows before the page.
            .filter(|address| address != "about:blank" && !address.starts_with("chrome://"))
            .collect();
        assert_eq!(others, [""; 0]);
    }
}

/// A repository whose files differ from its commit.
fn changed() -> Option<Stage> {
    let stage = values().commit("before")?;
    let lab = "environment-values/workload-clusters/lab-7/values.yaml";
    stage.edit(lab, "rke2-1-30-12", "rke2-1-31-8");
    Some(stage)
}

const LINKS: &str = "--source-url https://git.example/lab/-/blob/main/{path}#L{line}";

/// Every view of a page with a change, for tests that look at all of them.
const VIEWS: [&str; 11] = [
    "#/",
    "#/fleet",
    "#/fleet?view=table&group=image&color=minor",
    "#/cluster/edge-paris?pool=md0",
    "#/images",
    "#/image/ubuntu-noble-plain-rke2-1-31-8",
    "#/findings",
    "#/change",
    "#/plan",
    "#/plan?way=blocked&q=lab",
    "#/nowhere",
];

#[test]
fn a_filter_is_in_the_address_and_survives_a_reload() {
    let Some(shown) = Shown::of(values(), "", 1400) else {
        return;
    };
    shown.open("#/fleet");
    assert!(shown.text(".headline .count").starts_with("4 clusters"));
    shown.browser.type_into("input[type=search]", "paris");
    shown.browser.until("location.hash.includes('q=paris')");
    assert!(shown.text(".headline .count").starts_with("1 cluster of 4"));
    shown.browser.click(".c-pools button");
    assert!(
        shown.hash().contains("sort=pools&dir=down"),
        "{}",
        shown.hash()
    );
    shown.open(&shown.hash());
    assert!(shown.text(".headline .count").starts_with("1 cluster of 4"));
    assert_eq!(shown.text("tbody a"), "edge-paris");
    assert_eq!(
        shown
            .browser
            .run("return document.querySelector('.c-pools').getAttribute('aria-sort')"),
        "descending"
    );
    shown.is_silent();
}

#[test]
fn a_cluster_is_opened_and_says_why() {
    let Some(shown) = Shown::of(values(), LINKS, 1400) else {
        return;
    };
    shown.open("#/fleet");
    shown.browser.type_into("input[type=search]", "edge-paris");
    shown
        .browser
        .until("document.querySelectorAll('tbody a').length === 1");
    shown.browser.click("tbody a");
    shown
        .browser
        .until("document.querySelector('h1').textContent === 'edge-paris'");
    assert_eq!(
        shown.browser.run("return document.activeElement.id"),
        "main"
    );
    shown.browser.click("#pool-md0 summary");
    shown
        .browser
        .until("document.querySelector('#pool-md0 .chain')");
    let chain = shown.text("#pool-md0 .chain");
    for part in [
        "cluster.capm3",
        "os_image_selector.os",
        "Compared with",
        "Does it fit?",
        "proven",
    ] {
        assert!(chain.contains(part), "{part}: {chain}");
    }
    let link = shown
        .browser
        .run("return document.querySelector('#pool-md0 .chain a.at[href*=paris]').href");
    let link = link.as_str().expect("a link");
    let file = "https://git.example/lab/-/blob/main/environment-values/workload-clusters/edge-paris/values.yaml#L";
    assert!(link.starts_with(file), "{link}");
    shown.browser.click("#pool-md0 .row a");
    shown.browser.until("location.hash.startsWith('#/image/')");
    shown
        .browser
        .until("document.querySelector('main').textContent.includes('Booted by')");
    shown.is_silent();
}

#[test]
fn the_change_shows_before_and_after() {
    let Some(folder) = changed() else { return };
    let Some(shown) = Shown::of(folder, "--against HEAD", 1400) else {
        return;
    };
    shown.open("#/");
    shown.browser.click("nav a[href='#/change']");
    shown.browser.until("document.querySelector('.edits')");
    assert!(shown.text(".edits del").contains("1-30-12"));
    assert!(shown.text(".edits ins").contains("1-31-8"));
    assert!(shown.text(".rollout").contains("rolls"));
    assert!(shown.text("main").contains("Findings that are gone"));
    shown.is_silent();
}

#[test]
fn hostile_text_is_shown_as_text() {
    let folder = values();
    let hostile = HOSTILE.replace('"', "\\\"");
    let lab = "environment-values/workload-clusters/lab-7/values.yaml";
    let pool = format!("    \"{hostile}\": {{replicas: 1, capm3: {{image_key: \"{hostile}\"}}}}\n");
    let pools = "  machine_deployments:\n";
    folder.edit(lab, pools, &format!("{pools}{pool}"));
    let arguments = ["page", "--title", HOSTILE, "--to", "page.html"];
    let _ = folder.run_args(&arguments).exit(0);
    let Some(browser) = Browser::open(1400) else {
        return;
    };
    let shown = Shown {
        browser,
        file: folder.path().join("page.html"),
        _folder: folder,
    };
    for view in [
        "#/",
        "#/fleet?zoom=14",
        "#/cluster/lab-7",
        "#/findings",
        "#/images",
    ] {
        shown.open(view);
        assert_eq!(
            shown.browser.run("return window.hacked === undefined"),
            true
        );
        assert_eq!(shown.browser.run("return document.images.length"), 0);
    }
    shown.open("#/cluster/lab-7");
    assert!(shown.text("main").contains(HOSTILE));
    assert_eq!(shown.text(".brand span"), HOSTILE);
    shown.is_silent();
}

#[test]
fn every_view_works_on_a_phone_and_on_a_wall() {
    for width in [360, 1280, 2560] {
        let Some(folder) = changed() else { return };
        let Some(shown) = Shown::of(folder, "--against HEAD --plan 1.32", width) else {
            return;
        };
        for view in VIEWS {
            shown.open(view);
            let wide = "return document.documentElement.scrollWidth - innerWidth";
            let over = shown.browser.run(wide).as_i64().expect("a number");
            assert!(over <= 0, "{width} {view}: {over}");
        }
        shown.is_silent();
    }
}

/// A map that fits its window in one of two widths alone, with or without the scroll bar, was laid out for ever and never drawn.
#[test]
fn the_map_is_drawn_for_any_number_of_clusters() {
    for width in [360, 1280] {
        let clusters = [40, 41, 1, 700];
        for &clusters in if is_long() {
            &clusters[..]
        } else {
            &clusters[..2]
        } {
            let folder = project();
            size::write_fleet(folder.path(), clusters);
            let Some(shown) = Shown::of(folder, "", width) else {
                return;
            };
            shown.open("#/");
            // Two frames after the last layout there is a picture.
            let drawn = shown.browser.wait_for(
                "new Promise((done) => setTimeout(() => {
                    const map = document.querySelector('.map'), canvas = map.querySelector('canvas');
                    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
                    const fits = map.scrollHeight <= map.clientHeight;
                    done([pixels.some((value) => value > 0), map.scrollWidth <= map.clientWidth, fits]);
                }, 400))",
            );
            assert_eq!(
                drawn,
                json!([true, true, true]),
                "{clusters} clusters at {width}"
            );
            shown.is_silent();
        }
    }
}

#[test]
fn the_map_is_moved_over_with_keys() {
    let Some(shown) = Shown::of(manifests(), "", 1280) else {
        return;
    };
    shown.open("#/fleet");
    let press = |key: &str| {
        let script = format!(
            "document.querySelector('.map').dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))"
        );
        shown.browser.run(&script);
    };
    press("End");
    let said = shown.text("#live");
    assert!(
        said.contains("Kubernetes") && said.contains("2 pools"),
        "{said}"
    );
    press("+");
    assert!(shown.hash().contains("zoom="), "{}", shown.hash());
    press("Enter");
    shown
        .browser
        .until("location.hash.startsWith('#/cluster/')");
    let name = shown.text("h1");
    assert!(said.starts_with(&name), "{said} {name}");
    shown.is_silent();
}

#[test]
fn only_the_rows_in_sight_are_elements() {
    let folder = project();
    size::write_fleet(folder.path(), 600);
    let Some(shown) = Shown::of(folder, "", 1280) else {
        return;
    };
    shown.open("#/fleet");
    let rows = "document.querySelectorAll('tbody tr[aria-rowindex]').length";
    let count = shown.browser.run(&format!("return {rows}")).as_u64();
    assert!(
        count.is_some_and(|count| (10..90).contains(&count)),
        "{count:?}"
    );
    shown
        .browser
        .run("document.querySelector('.table').scrollTop = 1e6");
    shown
        .browser
        .until("[...document.querySelectorAll('tbody a')].at(-1).textContent === 'site-00599'");
    shown
        .browser
        .click(".tablebox thead .c-machines button, .tablebox thead .c-pools button");
    let first = "return document.querySelector('tbody tr[aria-rowindex] .c-pools').textContent";
    assert_eq!(shown.browser.run(first), "4");
    shown.is_silent();
}

/// axe-core checks what a program can check of WCAG 2.2 AA: contrast, names, roles, structure.
#[test]
fn no_view_has_a_fault_that_axe_finds() {
    let Some(axe) = programs::find("axe") else {
        return;
    };
    let axe = fs::read_to_string(axe).expect("axe-core's script");
    for (width, is_dark) in [(1280, false), (1280, true), (360, false)] {
        let Some(folder) = changed() else { return };
        let Some(shown) = Shown::of(
            folder,
            &format!("--against HEAD --plan 1.32 {LINKS}"),
            width,
        ) else {
            return;
        };
        shown.browser.set_dark(is_dark);
        for view in VIEWS {
            shown.open(view);
            shown.browser.run(&axe);
            let found = shown.browser.wait_for(
                "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})\
                 .then((result) => result.violations.map((it) => [it.id, it.nodes.map((node) => node.html.slice(0, 200))]))",
            );
            assert_eq!(found, Value::Array(Vec::new()), "{width} {is_dark} {view}");
        }
    }
}
