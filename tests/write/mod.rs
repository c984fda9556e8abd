//! What reaches the disk: exactly the tree, whole files only, nobody else's files, nothing outside the folder.

mod copied;
mod foreign;
mod meanwhile;
mod model;
mod replaced;
mod sequences;
mod steps;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::support::stage::project;
use metalmark::error::Error;
use metalmark::model::finding::Finding;
use metalmark::model::manifest::{ChangeKind, ChangeSet, Keeps, ManifestFile};
use metalmark::model::old_list::OLD_LIST;
use metalmark::model::output_path::OutputFolders;
use metalmark::model::ownership::{Owner, body};
use metalmark::model::part::Part;
use metalmark::model::rule::RuleId;
use metalmark::output::{self, Foreign, Options, Plan, Texts};

type Files = BTreeMap<String, String>;

/// Rendered files, and whose earlier ones the run answers for.
#[derive(Clone)]
struct ManifestTree {
    files: Vec<ManifestFile>,
    keeps: Keeps,
}

/// Plans a whole tree, as a run does in parts.
fn plan_tree(root: &Path, tree: ManifestTree, options: Options) -> Result<ChangeSet, Error> {
    let plan = Plan::start(root, options)?;
    let part = plan.compare(tree.files)?;
    plan.finish(vec![part], &tree.keeps)
}

/// Files by path; each is of the cluster that the first letter of its path names.
fn tree(files: &[(&str, &str)]) -> ManifestTree {
    let file =
        |(path, text): &(&str, &str)| ManifestFile::new(*path, text, format!("t/{}", &path[..1]));
    ManifestTree {
        files: files.iter().map(file).collect(),
        keeps: Keeps::default(),
    }
}

/// A text as a run writes it for a cluster.
fn rendered(cluster: &str, text: &str) -> String {
    Owner::Cluster(cluster.into()).line("") + text
}

/// What a run of these clusters alone keeps.
fn named(clusters: &[&str]) -> Keeps {
    Keeps {
        part: Part::Named(clusters.iter().map(|name| (*name).into()).collect()),
        clusters: ["a", "b", "c"].map(Into::into).into(),
        ..Keeps::default()
    }
}

fn plan(root: &Path, tree: ManifestTree) -> ChangeSet {
    let options = Options {
        texts: Texts::Both,
        ..Options::default()
    };
    plan_tree(root, tree, options).expect("the folder can be read")
}

fn render(root: &Path, files: &[(&str, &str)]) -> ChangeSet {
    let changes = plan(root, tree(files));
    output::apply(&changes).expect("the folder can be written");
    changes
}

/// Everything below a folder, without first lines; folders end in a slash.
fn on_disk(root: &Path) -> Files {
    let entries = walkdir::WalkDir::new(root).min_depth(1);
    let entries = entries.into_iter().map(|entry| entry.expect("readable"));
    entries
        .map(|entry| {
            let path = entry.path().strip_prefix(root).expect("below the root");
            let path = path.to_string_lossy().into_owned();
            if entry.file_type().is_dir() {
                (path + "/", String::new())
            } else {
                let text = fs::read_to_string(entry.path()).expect("readable");
                (path, body(&text).to_owned())
            }
        })
        .collect()
}

fn files(list: &[(&str, &str)]) -> Files {
    let owned = list
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    owned.collect()
}

#[track_caller]
fn assert_disk(root: &Path, list: &[(&str, &str)]) {
    assert_eq!(on_disk(root), files(list));
}

fn kinds(changes: &ChangeSet) -> Vec<(&str, ChangeKind)> {
    let changes = changes.changes.iter();
    changes.map(|change| (&*change.path, change.kind)).collect()
}

fn rules(changes: &ChangeSet) -> Vec<RuleId> {
    changes
        .findings
        .iter()
        .filter(|finding| finding.unless_set.is_none())
        .map(|finding| finding.rule)
        .collect()
}

#[test]
fn files_are_created_updated_and_deleted_and_empty_folders_go() {
    let root = project();
    let root = root.path().join("out");
    let created = render(&root, &[("a/x/1", "one\n"), ("a/2", "two\n"), ("b", "")]);
    assert_eq!(created.changes.len(), 3);
    let changes = render(&root, &[("a/2", "changed\n"), ("b", "")]);
    assert_eq!(
        kinds(&changes),
        [("a/2", ChangeKind::Updated), ("a/x/1", ChangeKind::Deleted)]
    );
    assert_eq!(changes.folders, ["a/x", "a"]);
    let old = rendered("a", "two\n");
    assert_eq!(changes.changes[0].old, Some(old));
    assert!(changes.changes.iter().all(|change| !change.is_adopted));
    assert_disk(&root, &[("a/", ""), ("a/2", "changed\n"), ("b", "")]);
    render(&root, &[]);
    assert_eq!(fs::read_dir(&root).expect("the root stays").count(), 0);
}

#[test]
fn a_second_run_changes_nothing() {
    let root = project();
    let files = [("a/1", "1"), ("a/2", "2")];
    render(root.path(), &files);
    let again = plan(root.path(), tree(&files));
    assert!(!again.drift());
    assert!(!again.is_empty());
    assert!(output::phases(&again).is_empty());
    assert!(plan(root.path(), tree(&[])).is_empty());
}

#[test]
fn a_file_says_in_its_first_line_whose_it_is() {
    let root = project();
    render(root.path(), &[("a/1", "1\n")]);
    assert_eq!(
        root.read("a/1"),
        "# Rendered by metalmark for cluster a; edit the values, not this file.\n1\n"
    );
}

#[test]
fn a_foreign_file_is_refused_until_it_is_adopted() {
    let root = project();
    root.write("a", "mine");
    let changes = render(root.path(), &[("a", "rendered"), ("b", "2")]);
    assert_eq!(rules(&changes), [RuleId::FileNotOwned]);
    assert!(changes.findings[0].help[0].contains("--adopt"));
    assert_disk(root.path(), &[("a", "mine"), ("b", "2")]);
    // Not owned, so not pruned either.
    render(root.path(), &[]);
    assert_disk(root.path(), &[("a", "mine")]);

    let options = Options {
        foreign: Foreign::Adopt,
        ..Options::default()
    };
    let changes = plan_tree(root.path(), tree(&[("a", "rendered")]), options).expect("planned");
    assert!(changes.changes[0].is_adopted);
    output::apply(&changes).expect("written");
    render(root.path(), &[]);
    assert_eq!(on_disk(root.path()), Files::new());
}

#[test]
fn an_edited_file_is_overwritten_and_deleted_as_long_as_its_first_line_says_so() {
    let root = project();
    render(root.path(), &[("a", "1"), ("b", "1")]);
    root.write("a", rendered("a", "edited"))
        .write("b", "edited, and the line is gone");
    let changes = render(root.path(), &[("a", "1")]);
    assert_eq!(kinds(&changes), [("a", ChangeKind::Updated)]);
    root.write("a", rendered("a", "edited"));
    render(root.path(), &[]);
    assert_disk(root.path(), &[("b", "edited, and the line is gone")]);
}

/// Whose output folder it is, that line is nobody's who does not render there.
#[test]
fn a_first_line_outside_the_outputs_means_nothing() {
    let root = project();
    let line = rendered("gone", "1");
    for path in [
        "out/clusters/x",
        "out/y",
        "elsewhere/z",
        "out/clusters/.git/config",
    ] {
        root.write(path, &line);
    }
    root.write("out/clusters/nested/metalmark.yaml", "version: 1");
    root.write("out/clusters/nested/out/x", &line);
    // A work tree of another branch.
    root.write("out/clusters/other/.git", "gitdir: elsewhere");
    root.write("out/clusters/other/x", &line);
    let options = Options {
        outputs: OutputFolders::new(["out/clusters", "sites/{{ cluster.name }}/machines"]),
        ..Options::default()
    };
    // Beside what an output may write.
    root.write("sites/a/x", &line);
    let changes = plan_tree(root.path(), tree(&[]), options).expect("planned");
    assert_eq!(kinds(&changes), [("out/clusters/x", ChangeKind::Deleted)]);
}

/// The list of an earlier version: what it names with the digest that the file has is that run's.
#[test]
fn an_old_list_is_read_once_and_goes_when_nothing_needs_it() {
    let root = project();
    let list = |paths: &[&str]| {
        let line = |path: &&str| {
            let digest = oci_artifacts::Digest::compute(root.read(path).as_bytes());
            format!("{path}\t{digest}\tt/{}\n", &path[..1])
        };
        root.write(OLD_LIST, paths.iter().map(line).collect::<String>());
    };
    for path in ["a", "b", "c", "d"] {
        root.write(path, "1");
    }
    list(&["a", "b", "c", "d"]);
    root.write("c", "edited").write("d", "edited");
    let mut tree = tree(&[("a", "1"), ("c", "1")]);
    tree.keeps = named(&["a", "c"]);
    let changes = plan(root.path(), tree.clone());
    // Of `b` the list is still needed, and of `c` nothing says whose it is.
    assert_eq!(kinds(&changes), [("a", ChangeKind::Updated)]);
    assert_eq!(rules(&changes), [RuleId::FileNotOwned]);
    output::apply(&changes).expect("written");
    tree.keeps = Keeps::default();
    root.remove("c");
    // Anybody can write a list: it deletes no file, and stays as long as one that it names does.
    let changes = plan(root.path(), tree.clone());
    output::apply(&changes).expect("written");
    assert_eq!(kinds(&changes), [("c", ChangeKind::Created)]);
    root.remove("b");
    let changes = plan(root.path(), tree.clone());
    output::apply(&changes).expect("written");
    assert_eq!(kinds(&changes), [(OLD_LIST, ChangeKind::Deleted)]);
    assert_disk(root.path(), &[("a", "1"), ("c", "1"), ("d", "edited")]);
    assert!(!plan(root.path(), tree).drift());
}

#[test]
fn owners_that_were_not_rendered_keep_their_files() {
    let root = project();
    render(root.path(), &[("a", "1"), ("b", "1"), ("c", "1")]);
    let keeping = |keeps: Keeps, files: &[(&str, &str)]| {
        let tree = ManifestTree {
            keeps,
            ..tree(files)
        };
        output::apply(&plan(root.path(), tree)).expect("written");
    };
    keeping(named(&["a", "c"]), &[("a", "1")]);
    assert_disk(root.path(), &[("a", "1"), ("b", "1")]);
    keeping(named(&["a"]), &[("a", "2")]);
    assert_disk(root.path(), &[("a", "2"), ("b", "1")]);
    keeping(Keeps::default(), &[("a", "2")]);
    assert_disk(root.path(), &[("a", "2")]);
}

#[test]
fn illegal_and_colliding_names_are_refused_and_the_rest_is_written() {
    let root = project();
    let out = root.path().join("out");
    let changes = render(
        &out,
        &[
            ("../escaped", "x"),
            ("/tmp/x", "x"),
            ("Same", "1"),
            ("same", "2"),
            ("twice", "1"),
            ("twice", "2"),
            ("twice", "3"),
            ("file", "x"),
            ("file/below", "x"),
            ("good", "x"),
        ],
    );
    let mut found = rules(&changes);
    found.sort_unstable();
    let (collision, illegal) = (RuleId::OutputPathCollision, RuleId::OutputPathIllegal);
    assert_eq!(found, [collision, collision, collision, illegal, illegal]);
    assert_eq!((changes.refused, changes.rendered), (9, 10));
    for (path, message) in [
        (
            "Same",
            "`Same` and `same` are one file where letter case does not count",
        ),
        (
            "file",
            "`file` is rendered as a file and, for `file/below`, as a folder",
        ),
        (
            "twice",
            "`twice` is rendered more than once, by `t/t` and by `t/t`, and 1 more collide with it",
        ),
    ] {
        let is_it = |finding: &&Finding| finding.message == message;
        let finding = changes.findings.iter().find(is_it).expect(message);
        assert_eq!(&*finding.labels[0].spot.source.path, path);
    }
    assert_disk(root.path(), &[("out/", ""), ("out/good", "x")]);
}

#[cfg(unix)]
#[test]
fn no_link_is_followed() {
    let root = project();
    let (out, outside) = (root.path().join("out"), root.path().join("outside"));
    for folder in [&out, &outside] {
        fs::create_dir(folder).expect("made");
    }
    fs::write(outside.join("file"), "theirs").expect("written");
    std::os::unix::fs::symlink(&outside, out.join("folder")).expect("linked");
    std::os::unix::fs::symlink(outside.join("file"), out.join("link")).expect("linked");
    let changes = render(
        &out,
        &[
            ("folder/file", "x"),
            ("folder/new", "x"),
            ("link", "theirs"),
        ],
    );
    assert_eq!(rules(&changes), [RuleId::OutputSymlink; 3]);
    assert_disk(&outside, &[("file", "theirs")]);
}

#[cfg(unix)]
#[test]
fn no_link_that_appears_after_the_plan_is_followed() {
    for theirs in [&[][..], &[("b/", "")]] {
        let root = project();
        let (out, outside) = (root.path().join("out"), root.path().join("outside"));
        fs::create_dir(&outside).expect("made");
        for (folder, _) in theirs {
            fs::create_dir(outside.join(folder)).expect("made");
        }
        let changes = plan(&out, tree(&[("a/b/c", "x")]));
        fs::create_dir(&out).expect("made");
        std::os::unix::fs::symlink(&outside, out.join("a")).expect("linked");
        assert!(matches!(
            output::apply(&changes),
            Err(Error::Changed { .. })
        ));
        assert_eq!(on_disk(&outside), files(theirs));
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_pruned_through_a_link() {
    let root = project();
    let (out, outside) = (root.path().join("out"), root.path().join("outside"));
    render(&out, &[("a/file", "x"), ("b", "x")]);
    fs::rename(out.join("a"), &outside).expect("moved");
    std::os::unix::fs::symlink(&outside, out.join("a")).expect("linked");
    render(&out, &[("b", "x")]);
    assert_disk(&outside, &[("file", "x")]);
    assert!(out.join("a").is_symlink());
}

#[test]
fn a_file_becomes_a_folder_and_back() {
    let root = project();
    render(root.path(), &[("a", "1")]);
    render(root.path(), &[("a/b/c", "2")]);
    assert_disk(root.path(), &[("a/", ""), ("a/b/", ""), ("a/b/c", "2")]);
    render(root.path(), &[("a", "3")]);
    assert_disk(root.path(), &[("a", "3")]);
}

/// A killed run leaves too much rather than too little; and where letter case counts nothing, two paths may be one.
#[test]
fn only_what_is_in_the_way_of_a_new_file_is_deleted_before_it_is_written() {
    for (old, new, is_in_the_way) in [
        ("a", "a/b/c", true),
        ("A", "a/b/c", true),
        ("a/b/c", "a", true),
        ("a/b/c", "A", true),
        ("A", "a", true),
        ("ab", "a", false),
        ("a/b", "a/c", false),
        ("b/a", "a", false),
    ] {
        let root = project();
        render(root.path(), &[(old, "1")]);
        let changes = plan(root.path(), tree(&[(new, "2")]));
        let is_there = |path: &str| root.path().join(path).is_file();
        let first = output::phases(&changes).iter().find_map(|phase| {
            phase.iter().for_each(|step| step.run().expect("done"));
            (!is_there(old) || is_there(new)).then(|| !is_there(new))
        });
        assert_eq!(first, Some(is_in_the_way), "{old} {new}");
    }
}

#[test]
fn a_folder_with_a_foreign_file_is_not_replaced() {
    let root = project();
    render(root.path(), &[("a/b", "1")]);
    root.write("a/mine", "mine");
    let changes = render(root.path(), &[("a", "2")]);
    assert_eq!(rules(&changes), [RuleId::FileNotOwned]);
    assert!(changes.findings[0].message.contains("a/mine"));
    let left = on_disk(root.path());
    assert_eq!(left, files(&[("a/", ""), ("a/mine", "mine")]));
}

#[test]
fn an_empty_folder_is_in_nobodys_way() {
    let root = project();
    fs::create_dir_all(root.path().join("a/b/c")).expect("made");
    render(root.path(), &[("a", "1")]);
    assert_disk(root.path(), &[("a", "1")]);
}

#[test]
fn what_a_killed_run_was_writing_is_in_nobodys_way() {
    let root = project();
    let killed = plan(
        root.path(),
        tree(&[("a/b", "1"), ("a/d", "1"), ("e/f", "1")]),
    );
    for step in output::phases(&killed).iter().flatten().take(5) {
        step.run().expect("the folder can be written");
    }
    assert!(on_disk(root.path()).contains_key("a/.metalmark-tmp-0"));
    render(root.path(), &[("a", "2")]);
    // Nothing says whose an empty folder is.
    assert_disk(root.path(), &[("a", "2"), ("e/", "")]);
}

#[test]
fn two_runs_do_not_write_over_each_other() {
    let root = project();
    let (one, other) = (
        plan(root.path(), tree(&[("a", "1")])),
        plan(root.path(), tree(&[("a", "2")])),
    );
    output::apply(&one).expect("the first one writes");
    assert!(matches!(output::apply(&other), Err(Error::Changed { .. })));

    let next = plan(root.path(), tree(&[("a", "3")]));
    let held = fs::File::open(root.path()).expect("opened");
    held.try_lock().expect("locked");
    assert!(matches!(output::apply(&next), Err(Error::Busy { .. })));
    drop(held);
    output::apply(&next).expect("the lock is gone");
    assert_disk(root.path(), &[("a", "3")]);
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_that_names_it() {
    let root = project();
    let file = root.path().join("file");
    fs::write(&file, "").expect("written");
    let answer = plan_tree(&file.join("out"), tree(&[("a", "1")]), Options::default())
        .and_then(|changes| output::apply(&changes));
    let message = answer.expect_err("a file is in the way").to_string();
    assert!(message.contains("file/out"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_run_that_cannot_write_changes_no_file() {
    use std::os::unix::fs::PermissionsExt;
    let root = project();
    render(root.path(), &[("a/1", "old"), ("b/1", "old")]);
    let closed = root.path().join("b");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).expect("set");
    if fs::write(closed.join("probe"), "").is_ok() {
        // The superuser writes anywhere: a folder in the place of the staged file stops it too.
        fs::remove_file(closed.join("probe")).expect("removed");
        fs::create_dir(closed.join(".metalmark-tmp-1")).expect("made");
    }
    let changes = plan(root.path(), tree(&[("a/1", "new"), ("b/1", "new")]));
    assert!(matches!(output::apply(&changes), Err(Error::Write { .. })));
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("set");
    let _ = fs::remove_dir(closed.join(".metalmark-tmp-1"));
    let old = files(&[("a/", ""), ("a/1", "old"), ("b/", ""), ("b/1", "old")]);
    assert_eq!(on_disk(root.path()), old);
    render(root.path(), &[("a/1", "new"), ("b/1", "new")]);
}
