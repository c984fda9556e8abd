//! The names that rotation gives, and when it gives none.

use std::sync::Arc;

use metalmark::edit::stamp::Options;
use yaml_tree::place::Source;

use super::model::fields;
use super::run::{planned, problems, texts};

pub(super) const ROTATED: Options = Options {
    rotate: true,
    keep: 1,
    set_version: false,
};

/// A template with an old image, and who uses it.
pub(super) fn template(name: &str) -> String {
    format!(
        "\
# metalmark: image=k0
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {{name: {name}}}
spec: {{template: {{spec: {{image: {{url: first, checksum: '1', checksumType: sha256, format: raw}}}}}}}}
---
{}",
        user("controlplane.cluster.x-k8s.io/v1beta1", "KubeadmControlPlane", name)
    )
}

pub(super) fn user(api: &str, kind: &str, name: &str) -> String {
    format!(
        "\
apiVersion: {api}
kind: {kind}
metadata: {{name: user}}
spec:
  version: v1.30.0
  machineTemplate:
    infrastructureRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: {name}}}
"
    )
}

/// The files' texts after stamping, and what stopped it.
pub(super) fn stamped(files: &[&str], options: Options) -> (Vec<String>, Vec<String>) {
    let names = (b'a'..).map(|letter| format!("{}.yaml", char::from(letter)));
    let sources: Vec<Arc<Source>> = names
        .zip(files)
        .map(|(name, text)| Arc::new(Source::new(name, *text)))
        .collect();
    let plan = planned(&sources, options);
    let problems = problems(&plan).into_iter().map(str::to_owned).collect();
    (texts(&sources, &plan), problems)
}

/// Every name of a template or of a reference, in the text's order.
fn names(text: &str) -> Vec<&str> {
    let named = text
        .split("name: ")
        .skip(1)
        .filter_map(|rest| rest.split(['}', ',', '\n']).next())
        .map(|name| name.trim_matches('"'));
    named.filter(|name| *name != "user").collect()
}

#[test]
fn a_rotated_name_is_the_old_one_with_the_hash_of_the_content() {
    let long = |letters: usize| "a".repeat(letters);
    for (name, stem) in [
        ("a".to_owned(), "a".to_owned()),
        ("md-workernode".into(), "md-workernode".into()),
        ("md-abcdefghij".into(), "md-abcdefghij".into()),
        ("md-012345678".into(), "md-012345678".into()),
        ("md-0123456789a".into(), "md-0123456789a".into()),
        ("md-0123456789".into(), "md".into()),
        ("md-abcdefabcd".into(), "md".into()),
        ("md-0123456789-0123456789".into(), "md-0123456789".into()),
        ("md.0123456789".into(), "md.0123456789".into()),
        ("abcdefabcd".into(), "abcdefabcd".into()),
        ("-abcdefabcd".into(), "-abcdefabcd".into()),
        (long(241), long(241)),
        (long(242), long(242)),
        (long(243), long(242)),
        (long(253), long(242)),
        (format!("{}-0123456789", long(242)), long(242)),
        (format!("{}.{}", long(241), long(11)), long(241)),
        (format!("{}-{}", long(241), long(11)), long(241)),
        (format!("{}-.{}", long(240), long(11)), long(240)),
        (
            format!("a{}", "é".repeat(126)),
            format!("a{}", "é".repeat(120)),
        ),
    ] {
        let (after, problems) = stamped(&[&template(&name)], ROTATED);
        assert_eq!(problems, [""; 0], "{name}");
        let found = names(&after[0]);
        // The template, its copy, its user.
        let [new, copy, moved] = found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((copy, moved), (&*name, new));
        let hash = new
            .strip_prefix(&*stem)
            .and_then(|rest| rest.strip_prefix('-'));
        let is_hash = |hash: &str| {
            hash.len() == 10
                && hash
                    .chars()
                    .all(|digit| matches!(digit, '0'..='9' | 'a'..='f'))
        };
        assert!(hash.is_some_and(is_hash), "{name}: {new}");
        assert!(new.len() <= 253, "{} bytes", new.len());
    }
}

#[test]
fn a_first_image_gives_no_other_name() {
    let with = |image: &str| {
        template("a").replace(
            "{url: first, checksum: '1', checksumType: sha256, format: raw}",
            image,
        )
    };
    for (image, is_renamed) in [
        ("{}", false),
        ("", false),
        ("{url: '', checksum: , checksumType: ''}", false),
        ("{url: '', checksum: '1'}", true),
        ("{url: first}", true),
        ("{diskFormat: raw}", true),
    ] {
        let before = with(image);
        let (after, problems) = stamped(&[&before], ROTATED);
        assert_eq!(problems, [""; 0], "{image}");
        assert!(after[0].contains(&fields(0)[0].1), "{image}: {}", after[0]);
        let count = if is_renamed { 3 } else { 2 };
        assert_eq!(names(&after[0]).len(), count, "{image}: {}", after[0]);
        assert_eq!(names(&after[0])[0] == "a", !is_renamed, "{image}");
        assert_eq!(after[0].contains("metalmark.dev/kept"), is_renamed);
    }
    let without = template("a").replace(
        " {image: {url: first, checksum: '1', checksumType: sha256, format: raw}}",
        " {}",
    );
    assert_eq!(names(&stamped(&[&without], ROTATED).0[0]), ["a", "a"]);
}

/// A name that changes in one file and not in another would leave references in the air.
#[test]
fn a_file_that_cannot_be_edited_stops_the_others_only_where_names_change() {
    let plain = template("a");
    let shared = template("b")
        .replace("url: first", "url: &u first")
        .replacen("format: raw}", "format: raw}, other: *u", 1);
    for rotate in [false, true] {
        let options = Options { rotate, ..ROTATED };
        let (after, problems) = stamped(&[&plain, &shared], options);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(after[0] == plain, rotate, "{}", after[0]);
        assert_eq!(after[1], shared);
    }
}

#[test]
fn content_that_has_its_name_already_gets_no_other() {
    let (once, _) = stamped(&[&template("a")], Options { keep: 0, ..ROTATED });
    let once = &once[0];
    assert_eq!(stamped(&[once], ROTATED).0[0], *once, "nothing to do");
    // Somebody edited the image and left the name: what comes back is the content of that name.
    let edited = once.replace(&fields(0)[0].1, "https://images.example.org/by-hand.raw");
    assert_ne!(edited, *once);
    let (back, problems) = stamped(&[&edited], ROTATED);
    assert_eq!((&back[0], problems.len()), (once, 0));
    // Other words around the image, or in another order, change no image.
    let reordered = once.replace(
        "checksumType: sha256, format: raw",
        "format: raw, checksumType: sha256",
    );
    assert_ne!(reordered, *once);
    assert_eq!(stamped(&[&reordered], ROTATED).0[0], reordered);
}

#[test]
fn a_name_that_is_taken_stops_the_rotation() {
    let (once, _) = stamped(&[&template("a")], Options { keep: 0, ..ROTATED });
    let name = names(&once[0])[0].to_owned();
    let other = format!(
        "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\nmetadata: {{name: {name}}} # metalmark: ignore\nspec: {{}}\n"
    );
    let before = template("a") + &other;
    let (_, problems) = stamped(&[&before], ROTATED);
    assert_eq!(
        problems,
        [format!("its new name would be `{name}`, which is taken")]
    );
    // In another file, of another kind, or in another namespace, it is in nobody's way.
    let (after, problems) = stamped(&[&template("a"), &other], ROTATED);
    assert_eq!(problems, [""; 0]);
    assert_eq!((names(&after[0])[0], &*after[1]), (&*name, &*other));
    for other in [
        other.replace("kind: Metal3MachineTemplate", "kind: Metal3DataTemplate"),
        other.replace(
            &format!("{{name: {name}}}"),
            &format!("{{namespace: other, name: {name}}}"),
        ),
    ] {
        let (after, problems) = stamped(&[&(template("a") + &other)], ROTATED);
        assert_eq!(problems, [""; 0]);
        assert_eq!(names(&after[0])[0], name);
    }
}

#[test]
fn what_is_no_template_keeps_its_name() {
    let host = "\
# metalmark: image=k0
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: host}
spec: {image: {url: first, checksum: '1', checksumType: sha256, format: raw}}
";
    let (after, problems) = stamped(&[host], ROTATED);
    assert_eq!(problems, [""; 0]);
    assert!(after[0].contains(&fields(0)[0].1), "{}", after[0]);
    assert_eq!(names(&after[0]), ["host"]);
}

#[test]
fn two_templates_do_not_get_one_name() {
    let before = format!("{}---\n{}", template("a"), template("a-0123456789"));
    let options = Options { keep: 0, ..ROTATED };
    let (after, problems) = stamped(&[&before], options);
    assert_eq!(problems, [""; 0]);
    let found = names(&after[0]);
    assert_ne!(found[0], found[2], "{}", after[0]);
    assert_eq!((found[1], found[3]), (found[0], found[2]), "{}", after[0]);
    assert_eq!(stamped(&[&after[0]], options).0, after);
}

#[test]
fn a_template_that_an_unknown_kind_refers_to_is_moved_with_it() {
    let whole = template("a");
    let (template, _) = whole.split_once("---\n").expect("two documents");
    let reference = "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: a}";
    let by_group =
        "{apiGroup: infrastructure.cluster.x-k8s.io, kind: Metal3MachineTemplate, name: a}";
    let control_plane = "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind";
    for user in [
        user("controlplane.cluster.x-k8s.io/v1beta2", "CK8sControlPlane", "a"),
        user("controlplane.cluster.x-k8s.io/v1beta1", "K0sControlPlane", "a"),
        user("controlplane.cluster.x-k8s.io/v1alpha2", "OpenshiftAssistedControlPlane", "a"),
        format!("{control_plane}: TalosControlPlane\nmetadata: {{name: user}}\nspec: {{infrastructureTemplate: {reference}}}\n"),
        format!("{control_plane}: MicroK8sControlPlane\nmetadata: {{name: user}}\nspec:\n  infrastructureTemplate: {by_group}\n"),
        format!("apiVersion: example.org/v1\nkind: Fleet\nmetadata: {{name: user}}\npools: [{{from: {{template: {reference}}}}}]\n"),
        // A kustomization needs no kind; after the rename its patch would change nothing, or fail the build.
        "patches:\n  - target: {group: infrastructure.cluster.x-k8s.io, kind: Metal3MachineTemplate, name: a}\n    path: p.yaml\n".to_owned(),
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: user}}\ndata:\n  objects: |\n    {control_plane}: X\n    metadata: {{name: user}}\n    spec: {{ref: {reference}}}\n").replace("\nkind: X", "\n    kind: X"),
    ] {
        let before = [&*format!("{template}---\n{user}"), &user];
        let (after, problems) = stamped(&before, Options { keep: 0, ..ROTATED });
        assert_eq!(problems, [""; 0], "{user}");
        let found = names(&after[0]);
        assert_ne!(found[0], "a", "{}", after[0]);
        // In the same file and in another one.
        assert_eq!((found[1], names(&after[1])[0]), (found[0], found[0]), "{}", after[0]);
    }
}

#[test]
fn what_only_looks_like_the_template_is_not_moved() {
    let whole = template("a");
    let (template, _) = whole.split_once("---\n").expect("two documents");
    for other in [
        "{apiVersion: example.org/v1, kind: Metal3MachineTemplate, name: a}",
        "{apiGroup: example.org, kind: Metal3MachineTemplate, name: a}",
        "{apiVersion: v1, kind: Metal3MachineTemplate, name: a}",
        "{kind: Metal3DataTemplate, name: a}",
        "{kind: Metal3MachineTemplate, name: ab}",
        "{name: a}",
    ] {
        let user = format!(
            "apiVersion: example.org/v1\nkind: Fleet\nmetadata: {{name: user}}\nspec: {{ref: {other}}}\n"
        );
        let (after, problems) = stamped(&[template, &user], ROTATED);
        assert_eq!(problems, [""; 0], "{other}");
        assert_ne!(names(&after[0])[0], "a");
        assert_eq!(after[1], user);
    }
}

#[test]
fn a_reference_that_cannot_be_edited_stops_the_rotation() {
    let whole = template("a");
    let (template, _) = whole.split_once("---\n").expect("two documents");
    let user = user(
        "controlplane.cluster.x-k8s.io/v1beta2",
        "CK8sControlPlane",
        "a",
    );
    let quoted = user.replace('\n', "\\n");
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: user}\ndata:\n  a: ";
    let folded = user.replace('\n', "\n\n    ");
    for user in [
        format!("{config}\"{quoted}\"\n"),
        format!("{config}>\n    {folded}\n"),
    ] {
        let files = [template, &*user];
        let (after, problems) = stamped(&files, ROTATED);
        assert_eq!(problems.len(), 1, "{user}");
        assert_eq!(after, files);
    }
}

#[test]
fn a_name_behind_an_alias_is_a_reference() {
    let whole = template("a");
    let (template, _) = whole.split_once("---\n").expect("two documents");
    let user = "apiVersion: example.org/v1\nkind: Fleet\nmetadata: {name: user}\nspec: {was: [&n a], ref: {kind: Metal3MachineTemplate, name: *n}}\n";
    let (after, problems) = stamped(&[template, user], ROTATED);
    assert_eq!(problems, [""; 0]);
    assert_eq!(names(&after[1]), [names(&after[0])[0]]);
    assert!(after[1].contains("&n a]"), "{}", after[1]);
}

#[test]
fn content_that_comes_back_gets_the_name_that_it_had() {
    let [(_, url), (_, checksum), ..] = fields(0);
    for name in ["a", "a-0123456789", "md-workernode"] {
        let first = template(name)
            .replace("first", &url)
            .replace("'1'", &checksum);
        let to = |image: &str, text: &str| {
            let marker = format!("# metalmark: image={image}\n");
            let text = text.replacen("# metalmark: image=k0\n", &marker, 1);
            let text = text.replacen("# metalmark: image=k1\n", &marker, 1);
            stamped(&[&text], ROTATED).0.remove(0)
        };
        let other = to("k1", &first);
        let back = to("k0", &other);
        assert_eq!(names(&back)[0], name, "{back}");
        assert_eq!(names(&back).last(), Some(&name), "{back}");
        assert_eq!(to("k1", &back), other);
    }
}

/// Two templates of one base whose content comes back: one gets the name that the content had, the other one of its own.
#[test]
fn a_name_that_comes_back_is_given_once() {
    let [(_, url), (_, checksum), ..] = fields(0);
    let first = template("a")
        .replace("first", &url)
        .replace("'1'", &checksum)
        .replace("image=k0", "image=k1");
    let (once, _) = stamped(&[&first], ROTATED);
    let before = format!(
        "{}---\n{}",
        once[0].replace("image=k1", "image=k0"),
        template("a-0123456789")
    );
    let (after, problems) = stamped(&[&before], ROTATED);
    assert_eq!(problems, [""; 0]);
    let marked = after[0].split("---\n");
    let marked = marked.filter(|part| part.contains("image=k0") && !part.contains("/kept"));
    let marked: Vec<&str> = marked.map(|part| names(part)[0]).collect();
    assert_eq!((marked.len(), marked[0]), (2, "a"), "{}", after[0]);
    assert_ne!(marked[1], "a", "{}", after[0]);
    assert!(marked[1].starts_with("a-"), "{}", after[0]);
}
