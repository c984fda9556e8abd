//! The limits of a template of a repository: how long it runs, and how deep it builds.

use metalmark::model::ownership::LONGEST_LINE;

use super::most;
use crate::support::stage::{Stage, project};

const VALUES: &str = "\
os_images: {img: {uri: 'https://r.example/img.raw', sha256: '6f30bca4668f41d58dd8f5512799a73e9097369259e4dd2bf1a9b2562eb14e3f', image-format: raw, k8s-version: '1.31.8+rke2r1'}}
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
  capm3: {image_key: img}
";
/// A project with a template instead of a built-in one.
pub(super) fn with_template(template: &str) -> Stage {
    let own = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n{template}");
    project()
        .cluster("a", VALUES)
        .settings("outputs: [{target: manifests, path: out}]\ntemplates: own")
        .file("own/manifests/cluster.yaml.j2", own)
}

/// Renders a template; the words where it is refused.
fn rendered(template: &str) -> Result<(), String> {
    let outcome = with_template(template).run("render --stdout").outcome;
    let screen = outcome.stdout + &outcome.stderr;
    match screen.contains("template-error") || screen.contains("than 16 MiB") {
        true => Err(screen),
        false if screen.contains("kind: ConfigMap") => Ok(()),
        false => panic!("it is not rendered: {screen}"),
    }
}

#[test]
fn a_template_takes_about_as_many_instructions_as_is_stated() {
    // A turn takes three instructions.
    let turns = |count: usize| {
        let inner = "{% for b in range(1000) %}{% endfor %}";
        rendered(&format!(
            "{{% for a in range({}) %}}{inner}{{% endfor %}}\n",
            count / 1000
        ))
    };
    assert_eq!(turns(600_000), Ok(()));
    let refused = turns(700_000).expect_err("too many");
    assert!(refused.contains("fuel"), "{refused}");
}

#[test]
fn a_template_builds_as_deep_as_is_stated() {
    most(64, "a value is nested too deeply", |depth| {
        let list = "[".repeat(depth - 1) + "1" + &"]".repeat(depth - 1);
        rendered(&format!("data:\n  {{{{ {list} | yaml(2) }}}}\n"))
    });
}

#[test]
fn a_template_is_as_long_as_is_stated() {
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n# \n".len();
    most(65_536 - head, "it has more than 65536 bytes", |length| {
        rendered(&format!("# {}\n", "a".repeat(length)))
    });
}

/// Each sign is an expression in another one.
#[test]
fn a_template_is_as_deep_as_it_is_long() {
    let deepest = format!("# {{{{ {}1 }}}}\n", "-".repeat(65_000));
    assert_eq!(rendered(&deepest), Ok(()));
    let path = format!("out{{{{ 1 if 0 else {}1 }}}}", "-".repeat(60_000));
    let settings = format!("outputs: [{{target: manifests, path: \"{path}\"}}]");
    let stage = project().cluster("a", VALUES).settings(&settings);
    let outcome = stage.run("render").outcome;
    assert!(outcome.stdout.contains("out1/a.yaml"), "{}", outcome.stderr);
}

/// A loop built values that were deeper than any stack: the run ended without a place.
#[test]
fn a_template_keeps_nothing_that_a_loop_makes() {
    let loops = "{% for i in range(100000) %}{% set n.x = {\"a\": n.x} %}{% endfor %}";
    let refused = rendered(&format!("{{% set n = namespace(x=1) %}}{loops}\n"));
    let refused = refused.expect_err("what is kept grows");
    assert!(
        refused.contains("unknown function: namespace is unknown"),
        "{refused}"
    );
}

#[test]
fn the_longest_text_is_written_and_a_longer_one_is_not() {
    // Beside it, the head and the line break behind the tags.
    let around = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n# \n".len();
    most(
        (16 << 20) - LONGEST_LINE - around,
        "it writes more than",
        |length| {
            let line = "a".repeat(1000);
            let rest = "a".repeat(length % 1000);
            let lines = format!(
                "{{% for i in range({}) %}}{line}{{% endfor %}}",
                length / 1000
            );
            rendered(&format!("# {lines}{rest}\n"))
        },
    );
}
