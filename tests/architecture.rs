//! The layers of the source tree, and who may touch the world. Text matching, not type checking: it sees `use crate::…`
//! and paths in code, outside comments and test modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Bottom first. A module imports modules of lower layers only, and none of its own. What is below them all are the crates in
/// `crates/`, whose order their manifests hold.
const LAYERS: &[&[&str]] = &[
    &["budget"],
    &["model"],
    &["error"],
    &["decide", "files"],
    &["output", "printer"],
    &["evaluate", "render", "rules"],
    &["catalog", "read"],
    &["report"],
    &["pipeline"],
    &["bundle", "edit"],
    &["commands", "editor", "hosts"],
    &["cli"],
];

/// The crates that each crate of `crates/` may use.
const CRATES: &[(&str, &[&str])] = &[
    ("yaml-tree", &[]),
    ("go-template", &["yaml-tree"]),
    ("oci-artifacts", &["yaml-tree"]),
    ("capi", &["go-template", "oci-artifacts", "yaml-tree"]),
];

/// Folders whose entries never import each other.
const TABLES: &[&str] = &[
    "catalog/sources",
    "crates/capi/providers",
    "render/targets",
    "report",
    "rules",
];

/// What touches disk, environment, network, clock, streams and files that may be secret, and the only folders that may.
const WORLD: &[(&str, &[&str])] = &[
    (
        "std::fs",
        &[
            "cli/watchdog.rs",
            "crates/oci-artifacts/layout",
            "crates/oci-artifacts/registry",
            "files",
            "output",
        ],
    ),
    (
        "fs::",
        &[
            "cli/watchdog.rs",
            "crates/oci-artifacts/layout",
            "crates/oci-artifacts/registry",
            "files",
            "output",
        ],
    ),
    ("walkdir", &["files"]),
    ("landlock::", &["files"]),
    ("tempfile", &["crates/oci-artifacts/archive", "output"]),
    (
        "std::env",
        &["crates/oci-artifacts/registry", "cli", "output", "read"],
    ),
    ("std::net::Tcp", &[]),
    ("tokio::", &["crates/oci-artifacts/registry"]),
    ("reqwest::", &["crates/oci-artifacts/registry"]),
    (
        "std::process",
        &[
            "crates/oci-artifacts/registry",
            "cli",
            "files",
            "main.rs",
            "output",
        ],
    ),
    ("SystemTime", &["cli"]),
    ("println!", &[]),
    ("io::stdout", &["cli"]),
    ("io::stderr", &["cli"]),
    ("serde_json::to_writer", &[]),
    ("minijinja::", &["render"]),
    ("annotate_snippets", &["report"]),
    // A file past what says whether it is secret.
    (
        ".raw_bytes()",
        &[
            "files",
            "read/chart_files.rs",
            "read/manifests.rs",
            "read/own_output.rs",
        ],
    ),
    ("lsp_server", &["editor"]),
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

/// The code of every source file of the application by path below `src`, without comments and test modules.
fn sources() -> BTreeMap<PathBuf, String> {
    sources_in("src")
}

/// The code of every source file, that of a crate by its path without `src`: `crates/yaml-tree/scan/mod.rs`.
fn all_sources() -> BTreeMap<PathBuf, String> {
    let crates = CRATES.iter().flat_map(|(name, _)| {
        let folder = format!("crates/{name}");
        let files = sources_in(&format!("{folder}/src")).into_iter();
        files.map(move |(path, code)| (Path::new(&folder).join(path), code))
    });
    sources().into_iter().chain(crates).collect()
}

fn sources_in(folder: &str) -> BTreeMap<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    walkdir::WalkDir::new(&root)
        .into_iter()
        .map(|entry| entry.expect("sources are readable").into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| {
            let relative = path.strip_prefix(&root).expect("below the root").to_owned();
            let mut parts = relative.iter();
            // A checkout may be in a folder of that name.
            let is_test = parts.any(|part| {
                ["tests", "tests.rs", "testing.rs"]
                    .iter()
                    .any(|name| part == *name)
            });
            let text = fs::read_to_string(&path).expect("sources are UTF-8");
            (!is_test).then(|| (relative, code(&text)))
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
fn crates_use_the_crates_below_them_only() {
    let names: Vec<&str> = CRATES.iter().map(|(name, _)| *name).collect();
    for (name, allowed) in CRATES {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("crates")
            .join(name);
        let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("a manifest");
        let used = manifest
            .lines()
            .filter_map(|line| line.strip_suffix(".workspace = true"));
        let used: Vec<&str> = used
            .filter(|used| names.contains(used) || *used == "metalmark")
            .collect();
        assert_eq!(used, *allowed, "{name}");
    }
    let folders = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates"));
    assert_eq!(folders.expect("crates").count(), CRATES.len());
}

#[test]
fn entries_of_a_table_never_import_their_siblings() {
    let all = all_sources();
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
    for (path, code) in all_sources() {
        for (word, allowed) in WORLD {
            if code.contains(word) && !allowed.iter().any(|folder| path.starts_with(folder)) {
                wrong.push(format!("{} touches `{word}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_function_takes_a_callback_for_findings() {
    let all = all_sources().into_iter();
    let wrong = all.filter(|(_, code)| code.contains("FnMut(Finding)"));
    let wrong: Vec<PathBuf> = wrong.map(|(path, _)| path).collect();
    assert_eq!(wrong, Vec::<PathBuf>::new());
}

/// What is in tests/support alone: the stage gives every test its folder and the program. With a reason, who may use it too.
const SCAFFOLDS: &[(&str, &[&str])] = &[
    ("CARGO_BIN_EXE", &[]),
    (
        "tempdir",
        &[
            // The folder of a server that lives longer than the test that starts it.
            "apiserver/server.rs",
        ],
    ),
];

/// Files that are not on the stage yet. Nothing is added here.
const OFF_STAGE: &[&str] = &[
    "bundle/large.rs",
    "bundle/terminal.rs",
    "confinement/git.rs",
    "confinement/reading.rs",
    "confinement/writing.rs",
    "git.rs",
    "impact.rs",
    "killed/case.rs",
    "killed/meanwhile.rs",
    "killed/no_room.rs",
    "layout.rs",
    "layout_sink.rs",
    "limits/archives.rs",
    "limits/history.rs",
    "limits/memory.rs",
    "lock/demo.rs",
    "lock/frozen.rs",
    "lock/matrix/cosign.rs",
    "lock/online/failures.rs",
    "printed.rs",
    "project_schema.rs",
    "reports/mod.rs",
    "signatures/limits.rs",
    "signatures/mod.rs",
    "write/copied.rs",
    "yaml_emit.rs",
];

#[test]
fn every_test_is_on_the_stage() {
    let mut wrong = Vec::new();
    let mut off_stage = BTreeSet::new();
    for (path, code) in sources_in("tests") {
        let name = path.to_string_lossy();
        let is_own = ["support/", "interop/", "mutants/", "architecture.rs"];
        if is_own.iter().any(|own| name.starts_with(own)) {
            continue;
        }
        for (word, allowed) in SCAFFOLDS {
            if !code.contains(word) || allowed.contains(&&*name) {
                continue;
            }
            off_stage.insert(name.to_string());
            if !OFF_STAGE.contains(&&*name) {
                wrong.push(format!(
                    "tests/{name} uses `{word}`: take `support::stage::project()`"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let done: Vec<&&str> = OFF_STAGE
        .iter()
        .filter(|name| !off_stage.contains(**name))
        .collect();
    assert!(
        done.is_empty(),
        "these are on the stage, and need no exception: {done:?}"
    );
}

/// The files that print bytes as they are, past the masks and escapes of [`metalmark::printer::Printer`]: the product of a run.
const PRODUCTS: &[&str] = &[
    // The BundleDeployment of a bundle.
    "bundle/commands/pack.rs",
    // The manual page, the completion script and what it completes.
    "cli/args/mod.rs",
    "cli/complete.rs",
    // The plugin's configuration, the ResourceList, rendered manifests.
    "hosts/cmp/mod.rs",
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
    let all = all_sources();
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

#[test]
fn no_files_import_each_other() {
    assert_eq!(circle(sources()), Vec::<PathBuf>::new());
    for (name, _) in CRATES {
        let sources = sources_in(&format!("crates/{name}/src"));
        assert_eq!(circle(sources), Vec::<PathBuf>::new(), "{name}");
    }
}

/// The files that import themselves through others.
fn circle(sources: BTreeMap<PathBuf, String>) -> Vec<PathBuf> {
    let imports = FileImports::of(sources);
    let files = imports.files.keys();
    let files = files.filter(|file| imports.reached_from(file).contains(*file));
    files.cloned().collect()
}

/// Which file imports from which; the files of modules with submodules (`mod.rs`) do not count.
struct FileImports {
    files: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

impl FileImports {
    fn of(sources: BTreeMap<PathBuf, String>) -> Self {
        let modules: BTreeMap<Vec<String>, &PathBuf> = sources
            .keys()
            .map(|path| (module_path(path), path))
            .collect();
        let counts = |path: &Path| !path.ends_with("mod.rs") && path != Path::new("lib.rs");
        let of = |(path, code): (&PathBuf, &String)| {
            let used = used(code).into_iter();
            let files = used.filter_map(|used| {
                let used = absolute(&module_path(path), &used)?;
                file_of(&used, &modules, &sources, 0)
            });
            (
                path.clone(),
                files.filter(|file| file != path && counts(file)).collect(),
            )
        };
        let files = sources.iter().filter(|(path, _)| counts(path)).map(of);
        Self {
            files: files.collect(),
        }
    }

    /// The files that a file imports from, directly or through others.
    fn reached_from(&self, file: &Path) -> BTreeSet<&PathBuf> {
        let (mut reached, mut open) = (BTreeSet::new(), vec![file]);
        while let Some(file) = open.pop() {
            let new = self.files[file].iter().filter(|to| reached.insert(*to));
            open.extend(new.map(PathBuf::as_path).collect::<Vec<_>>());
        }
        reached
    }
}

/// The path of a file's module below the crate.
fn module_path(file: &Path) -> Vec<String> {
    let text = file.with_extension("").to_string_lossy().into_owned();
    let names = text.split('/').map(str::to_owned);
    names
        .filter(|name| name != "mod" && name != "lib")
        .collect()
}

/// The paths that code uses, as they are written, with their braces expanded.
fn used(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    for start in ["crate::", "super::", "use "] {
        for (at, _) in code.match_indices(start) {
            if !code[..at].ends_with(is_part) {
                let text = code[at..].trim_start_matches("use ");
                expand(&[], text, &mut found);
            }
        }
    }
    found
}

/// Adds the paths that begin with `above` and go on with a text. Returns what follows them.
fn expand<'t>(above: &[String], text: &'t str, found: &mut Vec<Vec<String>>) -> &'t str {
    let mut path = above.to_vec();
    let mut rest = text.trim_start();
    loop {
        if let Some(mut inner) = rest.strip_prefix('{') {
            while !inner.trim_start().starts_with('}') && !inner.is_empty() {
                inner = expand(&path, inner, found);
                let next = inner.find([',', '}']).unwrap_or(inner.len());
                inner = inner[next..].trim_start_matches(',');
            }
            return inner.trim_start().trim_start_matches('}');
        }
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
        path.push(rest[..end].to_owned());
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(more) => rest = more,
            None => {
                found.push(path);
                return rest;
            }
        }
    }
}

/// A path from the top of the crate, of one that is written in a module.
fn absolute(module: &[String], written: &[String]) -> Option<Vec<String>> {
    let mut path = match written.first()?.as_str() {
        "crate" => Vec::new(),
        _ => module.to_vec(),
    };
    for name in written {
        match name.as_str() {
            "super" => drop(path.pop()),
            "crate" | "self" => {}
            name => path.push(name.to_owned()),
        }
    }
    Some(path)
}

/// The file that defines what a path names, through the names that modules re-export.
fn file_of(
    path: &[String],
    modules: &BTreeMap<Vec<String>, &PathBuf>,
    sources: &BTreeMap<PathBuf, String>,
    depth: usize,
) -> Option<PathBuf> {
    let length = (1..=path.len())
        .rev()
        .find(|length| modules.contains_key(&path[..*length]))?;
    let (module, item) = (&path[..length], path.get(length));
    let file = modules[module];
    let exported = item.filter(|_| depth < 8).and_then(|item| {
        let mut all = used(&sources[file]).into_iter();
        let other = all.find(|used| used.last() == Some(item) && used.len() > 1)?;
        let other = absolute(module, &other)?;
        (other != path)
            .then(|| file_of(&other, modules, sources, depth + 1))
            .flatten()
    });
    if file.ends_with("mod.rs") || file == Path::new("lib.rs") {
        exported.or_else(|| Some(file.clone()))
    } else {
        Some(file.clone())
    }
}
