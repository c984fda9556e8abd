//! The chart of docs/benchmarks.md, drawn from the page's table: the CPU time of a cluster on a logarithmic scale.

use std::fmt::Write as _;

/// What stands before the table in the page.
pub(crate) const MARKER: &str = "<!-- speed -->\n";

/// The rows that are drawn, each at the largest number of clusters that it was run with.
const BARS: [&str; 11] = [
    "`check`",
    "`render --check`",
    "`render`",
    "Python, libyaml",
    "Helm 4's engine, one process",
    "`helm template`, each cluster",
    "`kubectl kustomize`, each overlay",
    "`jrsonnet`, one process",
    "`cue cmd`, one process",
    "`timoni bundle build`, one process",
    "`kbld`, finished manifests",
];

/// Pixels: of the names, of a power of ten, of a bar with its gap.
const NAMES: f64 = 250.0;
const DECADE: f64 = 110.0;
const BAR: f64 = 26.0;

/// Milliseconds at the left end, as a power of ten, and the powers to the right of it.
const FIRST: i32 = -2;
const DECADES: i32 = 5;

/// The chart of a page's table, as SVG.
pub(crate) fn of_page(page: &str) -> String {
    let (_, table) = page.split_once(MARKER).expect("the page has the marker");
    let rows: Vec<(&str, &str, f64)> = table.lines().map_while(row).flatten().collect();
    let bars = BARS.iter().filter_map(|bar| {
        let row = rows.iter().rev().find(|(_, name, _)| name == bar);
        row.map(|(clusters, name, each)| (*clusters, name.replace('`', ""), *each))
    });
    let bars: Vec<(&str, String, f64)> = bars.collect();
    svg(&bars)
}

/// The clusters, the name and the milliseconds of a cluster in a line of the table; `None` ends the table.
fn row(line: &str) -> Option<Option<(&str, &str, f64)>> {
    let line = line.strip_prefix('|')?;
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let each = cells.get(3).and_then(|each| each.parse().ok());
    Some(each.map(|each| (cells[0], cells[1], each)))
}

fn svg(bars: &[(&str, String, f64)]) -> String {
    let width = NAMES + DECADE * f64::from(DECADES) + 120.0;
    let height = BAR * bars.len() as f64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {}\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>CPU time per cluster in milliseconds, on a logarithmic scale</title>\n\
         <style>text {{ fill: #222 }} line {{ stroke: #bbb }} .own {{ fill: #1a7f5a }} .other {{ fill: #8a8f98 }} \
         @media (prefers-color-scheme: dark) {{ text {{ fill: #ddd }} line {{ stroke: #555 }} }}</style>\n",
        height + 30.0
    );
    for step in 0..=DECADES {
        let x = NAMES + DECADE * f64::from(step);
        let value = 10_f64.powi(FIRST + step);
        let _ = writeln!(
            text,
            "<line x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"{height}\"/>\
             <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{value} ms</text>",
            height + 18.0
        );
    }
    for (index, (clusters, name, each)) in bars.iter().enumerate() {
        let y = BAR * index as f64;
        let length = DECADE * (each.log10() - f64::from(FIRST)).max(0.0);
        let class = if index < 3 { "own" } else { "other" };
        let end = NAMES + length + 6.0;
        let baseline = y + 17.0;
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{baseline}\" text-anchor=\"end\">{name}</text>\
             <rect class=\"{class}\" x=\"{NAMES}\" y=\"{}\" width=\"{length:.1}\" height=\"{}\"/>\
             <text x=\"{end:.1}\" y=\"{baseline}\">{each} ms, {clusters} clusters</text>",
            NAMES - 8.0,
            y + 4.0,
            BAR - 8.0
        );
    }
    text.push_str("</svg>\n");
    text
}
