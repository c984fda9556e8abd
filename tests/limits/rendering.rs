//! The limits of a template of a repository: how long it runs, and how deep it builds.

use metalmark::model::ownership::Owner;

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
fn the_longest_text_is_written_and_a_longer_one_is_not() {
    // Beside the line that says whose it is, the head and the line break behind the tags.
    let around = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n# \n";
    let around = Owner::Cluster("a".into()).line("").len() + around.len();
    most((16 << 20) - around, "than 16 MiB", |length| {
        let line = "a".repeat(1000);
        let rest = "a".repeat(length % 1000);
        let lines = format!(
            "{{% for i in range({}) %}}{line}{{% endfor %}}",
            length / 1000
        );
        rendered(&format!("# {lines}{rest}\n"))
    });
}

#[test]
fn as_much_is_filtered_as_is_stated() {
    // A thousand bytes are read, and as many made.
    most((16 << 20) / 2000, "more than 16 MiB", |times| {
        let filter = format!("{{{{ '{}' | lower | replace('a', '') }}}}", "a".repeat(500));
        rendered(&format!(
            "# {{% for i in range({times}) %}}{filter}{{% endfor %}}\n"
        ))
    });
}

#[test]
fn what_templates_may_not_use_is_named_at_its_place() {
    for (template, words) in [
        ("{{ 'a' ~ 'b' }}", "`~` is not available"),
        ("{{ 1 + 1 }}", "`+` is not available"),
        ("{{ 'a' * 3 }}", "`*` is not available"),
        ("{{ 2 ** 3 }}", "`**` is not available"),
        ("{{ 'a%s' % 3 }}", "`%` is not available"),
        (
            "{% set a %}b{% endset %}",
            "the tag `endset` is not available",
        ),
        (
            "{% macro a() %}{% endmacro %}",
            "the tag `macro` is not available",
        ),
        (
            "{% filter upper %}b{% endfilter %}",
            "the tag `filter` is not available",
        ),
        ("{% extends 'a' %}", "the tag `extends` is not available"),
        (
            "{% for a in [] recursive %}{% endfor %}",
            "`recursive` is not available",
        ),
        ("{% set b = [a] %}", "constants only"),
        ("{% set b = {'x': [(a)]} %}", "constants only"),
        ("{% if a in [b] %}{% endif %}", "constants only"),
        ("{% set b = a, a %}", "tuples are not available"),
        ("{% set b = c[(a, a)] %}", "tuples are not available"),
        ("{{ a[1:] }}", "slices are not available"),
        ("{{ a.b[c | length:] }}", "slices are not available"),
        ("{{ 'a' | indent(3) }}", "unknown filter"),
        ("{{ a | map(attribute='x') }}", "unknown filter"),
        ("{{ namespace() }}", "unknown function"),
    ] {
        let refused = rendered(&format!("# {template}\n")).expect_err(template);
        assert!(refused.contains(words), "{template}: {refused}");
        assert!(
            refused.contains("cluster.yaml.j2:4:"),
            "{template}: {refused}"
        );
    }
}

#[test]
fn what_templates_may_use_is_taken() {
    for template in [
        "{% set a, b = [1, 2] %}{{ a - b / 2 // 1 }}",
        "{% for a, b in {'x': [1, none], 'y': -1.5} | items %}{{ a }}{% if not loop.last %},{% endif %}{% endfor %}",
        "{% with a = 1, b = 2 %}{{ a if a is odd else b }}{% endwith %}",
        "{{ ['b', true, 1] | join('-') | replace('-', '.') | upper }}",
        "{{ (range(3) | list)[(1)] }}{% if (1) in [1, 2] and 'a' is startingwith('a') %}{% endif %}",
        "{% raw %}{{ a ~ b }}{% endraw %}{# ~ #}",
    ] {
        assert_eq!(rendered(&format!("# {template}\n")), Ok(()), "{template}");
    }
}

#[test]
fn the_page_lists_what_templates_may_use() {
    let page = include_str!("../../docs/outputs.md");
    let code = include_str!("../../src/render/language.rs");
    let listed = &page[page.find("## Templates").expect("the section")..];
    let named = code
        .lines()
        .filter_map(|line| line.trim().split_once("(\""))
        .filter(|(before, _)| {
            ["", "environment.add_test", "environment.add_filter"].contains(before)
        })
        .map(|(_, name)| name.split('"').next().expect("a name"));
    let missing: Vec<_> = named
        .filter(|name| !listed.contains(&format!("`{name}`")))
        .collect();
    assert!(missing.is_empty(), "docs/outputs.md lacks {missing:?}");
}
