//! Rendered files that nothing renders any more, and that nobody can be sure of: they stay, and the report names them.

use oci_artifacts::Digest;
use snapbox::str;

use super::support::stage::{Stage, project};

/// Two clusters, rendered.
fn rendered() -> Stage {
    let values = "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble}}";
    let stage = project()
        .catalog(&["noble rke2 1.31.8+rke2r1"])
        .cluster("a", values)
        .cluster("b", values)
        .settings("outputs: [{target: helm-values, path: rendered}]");
    stage.run("render").exit(0);
    stage
}

/// The list that an earlier version wrote of the rendered files, whose texts had no first line. What they are now.
fn with_list(stage: &Stage, end: &str) {
    let mut list = String::new();
    for path in stage.list("rendered") {
        let text = stage.read(&format!("rendered/{path}"));
        let (_, text) = text.split_once('\n').expect("a first line");
        let maker = match path.split_once('.') {
            Some((name @ ("a" | "b"), _)) => format!("helm-values/{name}"),
            _ => "helm-values".to_owned(),
        };
        list += &format!("{path}\t{}\t{maker}{end}", Digest::compute(text.as_bytes()));
        stage.write(&format!("rendered/{path}"), text.replace('\n', end));
    }
    stage.write("rendered/.metalmark-owned", list);
}

#[test]
fn files_of_a_project_file_that_is_renamed_are_named() {
    let stage = rendered();
    let text = stage.read("metalmark.yaml");
    stage.remove("metalmark.yaml").write("fleet.yaml", &text);
    stage
        .run("render --project fleet.yaml")
        .exit(1)
        .stderr(str![[r#"
error[file-not-owned]: `rendered/a.values.yaml` would be overwritten, and its first line says that `metalmark.yaml` rendered it
--> rendered/a.values.yaml
 = cluster: a
 = help: move the file away if it is yours, or overwrite it: `metalmark render --adopt`, or `--adopt` of the `bundle` command

error[file-not-owned]: `rendered/b.values.yaml` would be overwritten, and its first line says that `metalmark.yaml` rendered it
--> rendered/b.values.yaml
 = cluster: b

2 errors in 2 clusters; 2 node pools checked: 2 proven

"#]]);
    let moved = text.replace("path: rendered", "path: rendered/new");
    stage.write(
        "fleet.yaml",
        moved.replace("{name: b, values: [b.yaml]}", ""),
    );
    stage.run("render --project fleet.yaml").exit(0);
    stage.edit("fleet.yaml", "path: rendered/new", "path: rendered");
    stage
        .run("render --project fleet.yaml --adopt")
        .exit(0)
        .screen(str![[r#"
updated  rendered/a.values.yaml  (adopted)
deleted  rendered/new/a.values.yaml
1 file rendered: 1 updated, 1 deleted
warning[file-not-owned]: `rendered/b.values.yaml` says that `metalmark.yaml` rendered it, but that project file does not exist
--> rendered/b.values.yaml
 = help: find out what deploys it first; `metalmark render --adopt` takes over what is rendered at its path

1 warning; 1 node pool checked: 1 proven

"#]]);
    // Two projects may share a folder.
    stage.write("metalmark.yaml", text);
    let said = stage
        .run("render --project fleet.yaml")
        .exit(0)
        .outcome
        .stderr;
    assert!(!said.contains("there is no such project file"), "{said}");
}

/// Flux went on applying what nobody rendered, and every check was green.
#[test]
fn files_of_an_output_that_is_removed_fail_the_run_until_they_are_gone() {
    let stage = rendered();
    let nested = stage.read("rendered/a.values.yaml");
    stage.write("other/metalmark.yaml", "version: 1\n");
    stage.write("other/rendered/a.values.yaml", nested);
    let Some(stage) = stage.commit("Render") else {
        return;
    };
    // What git does not have is a preview.
    stage
        .run("render --target helm-values --out preview")
        .exit(0);
    stage.run("check").exit(0);
    let with = stage.read("metalmark.yaml");
    stage.edit("metalmark.yaml", "path: rendered", "path: images");
    stage.run("render").exit(1).stderr(str![[r#"
error[output-removed]: `rendered/a.values.yaml` says that metalmark rendered it, and no output has its folder any more (and 1 more)
--> rendered/a.values.yaml
 = help: let what deploys it use a folder of `outputs`, or name its folder below `outputs` again; remove the first line of a file that is yours

1 error; 2 node pools checked: 2 proven

"#]]);
    let waived = "policy: {waivers: [{rule: output-removed, where: '*', reason: moved, until: 2099-01-01}]}\n";
    stage.write(
        "metalmark.yaml",
        format!("{}{waived}", stage.read("metalmark.yaml")),
    );
    stage.run("check").exit(0);
    stage.write("metalmark.yaml", &with);
    stage.edit("metalmark.yaml", "path: rendered", "path: images");
    stage.shell("rm -r rendered").exit(0);
    stage.run("render").exit(0);
}

/// What git has, once the output's folder is another one.
fn moved() -> Option<Stage> {
    let stage = rendered();
    stage.write("shut.yaml", "a: b\n");
    let stage = stage.commit("Render")?;
    stage.edit("metalmark.yaml", "path: rendered", "path: images");
    Some(stage)
}

/// The whole repository was read for one cluster.
#[test]
fn a_run_of_some_clusters_looks_for_no_removed_output() {
    let Some(stage) = moved() else { return };
    stage.run("check").exit(1);
    stage.run("check b").exit(0);
}

#[test]
fn a_project_without_outputs_has_removed_none() {
    let Some(stage) = moved() else { return };
    let outputs = "outputs: [{target: helm-values, path: images}]";
    stage.edit("metalmark.yaml", outputs, "");
    stage.run("check").exit(0);
}

/// A repository that is deployed from has what another one rendered.
#[test]
fn rendered_files_without_a_project_file_are_no_removed_output() {
    let Some(stage) = moved() else { return };
    stage.remove("metalmark.yaml");
    let said = stage.run("check").outcome;
    let said = said.stdout + &said.stderr;
    assert!(!said.contains("output-removed"), "{said}");
}

#[test]
fn a_file_that_may_not_be_read_is_no_removed_output() {
    let Some(stage) = moved() else { return };
    stage.shell("rm -r rendered && chmod 000 shut.yaml").exit(0);
    stage.run("render").exit(0);
}

#[test]
fn what_a_list_names_and_nothing_renders_is_named() {
    let stage = rendered();
    with_list(&stage, "\n");
    stage.edit("metalmark.yaml", ", {name: b, values: [b.yaml]}", "");
    stage.run("render").exit(0).screen(str![[r#"
updated  rendered/a.values.yaml
1 file rendered: 1 updated
warning[file-not-owned]: `rendered/b.values.yaml` is named by a list `.metalmark-owned` of an earlier version, and nothing renders it
--> rendered/b.values.yaml
 = help: find out what deploys it first; `metalmark render --adopt` takes over what is rendered at its path

1 warning; 1 node pool checked: 1 proven

"#]]);
    let before = stage.list("rendered");
    assert!(before.contains(&"b.values.yaml".to_owned()), "{before:?}");
}

#[test]
fn a_list_whose_line_ends_were_converted_names_the_same_files() {
    let stage = rendered();
    let texts = stage.texts();
    with_list(&stage, "\r\n");
    stage.run("render").exit(0);
    assert_eq!(stage.texts(), texts);
}

#[test]
fn some_clusters_alone_are_not_rendered_over_an_earlier_layout() {
    let stage = rendered();
    with_list(&stage, "\n");
    let texts = stage.texts();
    stage.run("render a").exit(1).stderr(str![[r#"
error[file-not-owned]: `rendered/.metalmark-owned` is of an earlier version, whose files are of one piece: some clusters alone cannot be rendered over it
--> rendered/.metalmark-owned
 = help: run `metalmark render` without names once

1 error; 1 node pool checked: 1 proven

"#]]);
    assert_eq!(stage.texts(), texts);
    stage.run("render").exit(0);
    stage.run("render a").exit(0);
}

#[test]
fn a_project_file_among_rendered_files_is_named() {
    let stage = rendered();
    stage.write("rendered/metalmark.yaml", "version: 1\n");
    stage.edit("metalmark.yaml", ", {name: b, values: [b.yaml]}", "");
    stage.run("render").exit(0).stderr(str![[r#"
warning[file-not-owned]: `rendered/metalmark.yaml` is a project file in a folder that this project renders into, so old files there would stay
--> rendered/metalmark.yaml
 = help: move it away, or give the outputs of each project a folder of its own

1 warning; 1 node pool checked: 1 proven

"#]]);
}

/// Two branches gave one cluster two names: git puts its mark before the first line.
#[test]
fn a_rendered_file_in_conflict_is_rendered_again() {
    let stage = rendered();
    let texts = stage.texts();
    for name in ["gone", "a"] {
        let text = stage
            .read("rendered/a.values.yaml")
            .replace("cluster a;", &format!("cluster {name};"));
        let text = format!("<<<<<<< HEAD:x\n{text}=======\n{text}>>>>>>> y\n");
        stage.write(&format!("rendered/{name}.values.yaml"), text);
    }
    stage.run("render").exit(0);
    assert_eq!(stage.texts(), texts);
}
