//! What is reported about manifests in a project without Sylva values.

use std::fs;

use capi::providers::{self, Edit, FieldStep, Stamp};
use metalmark::edit::stamp::{changes, problems};
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

use super::{files, fixtures};
use crate::support::{Metalmark, copy_of, golden};

/// Runs `stamp` over a fixture and holds what it says against the golden text.
fn assert_printed(name: &str) {
    let scratch = copy_of(&fixtures().join(name));
    let _ = fs::remove_file(scratch.path().join("printed.txt"));
    let before = files(scratch.path());
    let outcome = Metalmark::within(scratch.path()).args(["stamp"]).run();
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    let printed = format!("{}{}", outcome.stdout, outcome.stderr);
    golden(&fixtures().join(name).join("printed.txt"), &printed);
    assert_eq!(
        files(scratch.path()),
        before,
        "an error prevents every edit"
    );
}

#[test]
fn what_cannot_be_edited_is_reported_at_its_place() {
    assert_printed("refused");
}

#[test]
fn versions_flavors_and_formats_are_compared_with_the_images() {
    assert_printed("findings");
}

#[test]
fn an_image_is_stamped_where_enough_is_known_of_it_and_its_machines_boot_it() {
    let (served, pulled) = ("https://s/a", "oci://s/a");
    let no_format = "nothing says the format of image `k`";
    let no_checksum = "nothing says the checksum of image `k`";
    let no_vhd = "capm3 cannot boot image `k`, whose format is `vhd`";
    let no_vmdk = "capg cannot boot image `k`, whose format is `vmdk`";
    for (provider, url, format, checksum, expected) in [
        ("capm3", served, "raw", "00", &[][..]),
        ("capm3", served, "", "00", &[no_format]),
        ("capm3", served, "raw", "", &[no_checksum]),
        ("capm3", served, "", "", &[no_format, no_checksum]),
        ("capm3", pulled, "raw", "", &[]),
        ("capm3", served, "vhd", "00", &[no_vhd]),
        // Metal3 takes it, and its machines refuse it later.
        ("capm3", served, "vmdk", "00", &[]),
        ("capg", served, "vmdk", "00", &[no_vmdk]),
        ("capo", served, "raw", "", &[]),
        // What a snapshot was made from is of no interest.
        ("hetzner", served, "", "", &[]),
        ("hetzner", served, "vhd", "", &[]),
    ] {
        let given = |text: &str| (!text.is_empty()).then(|| text.into());
        let stamp = Stamp {
            key: given("k"),
            url: url.into(),
            format: given(format),
            checksum: given(checksum),
            ..Stamp::default()
        };
        let provider = providers::find(provider).expect("a provider");
        let found = problems(&stamp, provider, &provider.data().kinds[0]);
        assert_eq!(
            found,
            expected,
            "{} {url} {format} {checksum}",
            provider.data().name
        );
    }
}

#[test]
fn a_field_that_changes_takes_with_it_what_is_below_it_and_nothing_else() {
    let text = "a: x\nb: {c: x, d: x}\n";
    let read = yaml_tree::read(text, FileId(0), Engine::Kubectl).expect("YAML");
    let edit = |path: &[&'static str], value: Option<&str>| Edit {
        path: path.iter().copied().map(FieldStep::Key).collect(),
        value: value.map(Into::into),
    };
    for (outer, is_edited) in [
        (edit(&["a"], None), true),
        (edit(&["b"], Some("y")), false),
        (edit(&["b", "d"], None), true),
    ] {
        let wanted = [outer, edit(&["b", "c"], Some("y"))];
        let found = changes(&read.documents[0], 0, &[], &wanted).expect("no list");
        let edited: Vec<bool> = found.iter().map(|change| change.edit.is_some()).collect();
        assert_eq!(edited, [true, is_edited], "{}", wanted[0]);
    }
}
