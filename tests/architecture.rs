//! The layers of the source tree, and who may touch the world. Text matching, not type checking: it sees `use crate::…`
//! and paths in code, outside comments and test modules.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Bottom first. A module imports modules of lower layers only, and none of its own.
const LAYERS: &[&[&str]] = &[
    &["oci", "regexp"],
    &["error", "model"],
    &["artifacts", "files", "providers", "yaml"],
    &["helm", "objects", "output", "printer", "schema"],
    &["evaluate", "render", "rules"],
    &["catalog", "read"],
    &["report"],
    &["pipeline"],
    &["bundle", "edit"],
    &["commands", "editor", "hosts"],
    &["cli"],
];

/// Folders whose entries never import each other.
const TABLES: &[&str] = &[
    "catalog/sources",
    "providers",
    "render/targets",
    "report",
    "rules",
];

/// What touches disk, environment, network, clock and streams, and the only folders that may.
const WORLD: &[(&str, &[&str])] = &[
    (
        "std::fs",
        &["artifacts/layout", "artifacts/registry", "files", "output"],
    ),
    (
        "fs::",
        &["artifacts/layout", "artifacts/registry", "files", "output"],
    ),
    ("walkdir", &["files"]),
    ("landlock::", &["files"]),
    ("tempfile", &["artifacts/archive", "output"]),
    ("std::env", &["artifacts/registry", "cli", "read"]),
    ("std::net::Tcp", &[]),
    ("tokio::", &["artifacts/registry"]),
    ("reqwest::", &["artifacts/registry"]),
    (
        "std::process",
        &["artifacts/registry", "cli", "files", "main.rs", "output"],
    ),
    ("SystemTime", &["cli"]),
    ("println!", &[]),
    ("io::stdout", &["cli"]),
    ("io::stderr", &["cli"]),
    ("serde_json::to_writer", &[]),
    ("minijinja::", &["render"]),
    ("annotate_snippets", &["report"]),
    ("lsp_server", &["cli", "editor"]),
    ("lsp_types", &["editor"]),
    (
        "clap",
        &[
            "bundle",
            "cli",
            "commands",
            "edit/stamp",
            "hosts",
            "pipeline",
            "report",
        ],
    ),
];

/// The code of every source file by path below `src`, without comments and test modules.
fn sources() -> BTreeMap<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    walkdir::WalkDir::new(&root)
        .into_iter()
        .map(|entry| entry.expect("src is readable").into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| {
            // A checkout may be in a folder of that name.
            let below = path.strip_prefix(&root).expect("below src");
            !below.components().any(|part| {
                ["tests", "tests.rs", "testing.rs"]
                    .iter()
                    .any(|name| part.as_os_str() == *name)
            })
        })
        .map(|path| {
            let text = fs::read_to_string(&path).expect("sources are UTF-8");
            (
                path.strip_prefix(&root).expect("below src").to_owned(),
                code(&text),
            )
        })
        .collect()
}

fn code(text: &str) -> String {
    let body = text.split("#[cfg(test)]\nmod tests {").next();
    body.unwrap_or_default()
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The top-level module that a file belongs to.
fn module(path: &Path) -> String {
    let first = path
        .iter()
        .next()
        .expect("not empty")
        .to_string_lossy()
        .into_owned();
    first.trim_end_matches(".rs").to_owned()
}

fn layer(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|names| names.contains(&module))
        .unwrap_or_else(|| {
            panic!("module `{module}` is in no layer: add it to LAYERS in tests/architecture.rs")
        })
}

/// The `crate::NAME` that a text mentions, those of braces included.
fn imports(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in code.split("crate::").skip(1) {
        let part = part.trim_start_matches('{');
        let name: String = part
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        found.push(name);
    }
    found
}

#[test]
fn every_module_imports_lower_layers_only() {
    let mut wrong = Vec::new();
    for (path, code) in sources() {
        let from = module(&path);
        if from == "lib" || from == "main" {
            continue;
        }
        for to in imports(&code).into_iter().filter(|to| *to != from) {
            if layer(&to) >= layer(&from) {
                wrong.push(format!("src/{} imports `{to}`", path.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "imports against the layers:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn entries_of_a_table_never_import_their_siblings() {
    let all = sources();
    let mut wrong = Vec::new();
    for table in TABLES {
        let table = Path::new(table);
        let entries: Vec<&PathBuf> = all
            .keys()
            .filter(|path| path.parent() == Some(table) && !path.ends_with("mod.rs"))
            .collect();
        assert!(!entries.is_empty(), "{} is empty", table.display());
        for path in &entries {
            for sibling in entries.iter().filter(|sibling| *sibling != path) {
                let name = sibling.file_stem().expect("a file").to_string_lossy();
                let is_entry = all[&table.join("mod.rs")].contains(&format!("&{name}::"))
                    || all[Path::new("model/rule.rs")].contains(&format!("({name}: "));
                if is_entry && all[*path].contains(&format!("super::{name}::")) {
                    wrong.push(format!(
                        "src/{} imports its sibling `{name}`",
                        path.display()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_edge_touches_the_world() {
    let mut wrong = Vec::new();
    for (path, code) in sources() {
        for (word, allowed) in WORLD {
            if code.contains(word) && !allowed.iter().any(|folder| path.starts_with(folder)) {
                wrong.push(format!("src/{} touches `{word}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The files that print bytes as they are, past the masks and escapes of [`metalmark::printer::Printer`]: the product of a run.
const PRODUCTS: &[&str] = &[
    // The BundleDeployment of a bundle.
    "bundle/commands/pack.rs",
    // The manual page, the completion script and what it completes.
    "cli/args/completions.rs",
    "cli/args/man.rs",
    "cli/complete.rs",
    // The plugin's configuration, the ResourceList, rendered manifests.
    "hosts/cmp/plugin.rs",
    "hosts/krm/mod.rs",
    "pipeline/rendered.rs",
];

/// Drawings have colors of their own: their author has replaced the escapes of others.
const DRAWINGS: &[&str] = &["report/diff.rs", "report/human.rs"];

#[test]
fn nothing_is_printed_past_the_printer() {
    let mut wrong = Vec::new();
    for (word, allowed) in [(".product(", PRODUCTS), (".drawing(", DRAWINGS)] {
        let all = sources().into_iter();
        let users = all.filter(|(path, code)| module(path) != "printer" && code.contains(word));
        let users: Vec<String> = users
            .map(|(path, _)| path.to_string_lossy().into_owned())
            .collect();
        if users != allowed {
            wrong.push(format!("`{word}` is in {users:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_folder_is_whole_without_a_file_beside_it() {
    let all = sources();
    for path in all.keys() {
        let folder = path.with_extension("");
        assert!(
            !all.keys()
                .any(|other| other.starts_with(&folder) && other != path),
            "{} beside its folder",
            path.display()
        );
    }
}
