//! Makes the settings from the project file and the flags, and validates them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::files::Files;
use crate::model::date::Date;
use crate::model::finding::Finding;
use crate::model::judgment::Grade;
use crate::model::name::{NameSchemes, OwnScheme};
use crate::model::output_path;
use crate::model::pattern::{Pattern, PatternList};
use crate::model::policy::{NO_REASON, Policy, Scoped, Waiver};
use crate::model::rule::RuleId;
use crate::model::settings::{ImageSettings, Output, RELEASE, Settings};

use super::Flags;
use super::key_policy::{Demanded, KeyPolicy};
use super::places::{Places, bad_pattern};
use super::project::{FailOn, OutputOptions, PolicyOptions, ProjectFile, ReleaseOptions};
use super::rule_options::{self, RuleOptions};
use super::wave_options;
use super::{provenance, registries};

/// Where an image server of Sylva serves an image inside its management cluster (sylva-core, unit os-image-server;
/// docs/sylva.md#the-image-server).
const DEFAULT_URL: &str =
    "http://os-image-server-{{ image.key }}.os-images.svc.cluster.local:8080/{{ image.filename }}";

/// The settings that hold.
pub(super) fn settings(
    root: &Path,
    file: &ProjectFile,
    flags: &Flags,
    files: &dyn Files,
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> Settings {
    if file.version.is_some_and(|version| version != 1) {
        let message = "this metalmark reads version 1 of the project file";
        let help = "write `version: 1`, or install the metalmark that wrote it";
        findings.push(places.finding(message, &["version"]).help(help));
    }
    Settings {
        root: root.to_owned(),
        project: String::new(),
        registries: registries::registries(root, &file.registries, places, findings),
        images: ImageSettings {
            url: flags
                .image_url
                .clone()
                .or_else(|| file.images.url.clone())
                .unwrap_or_else(|| DEFAULT_URL.to_owned()),
            is_named: flags.image_url.is_some() || file.images.url.is_some(),
            url_spot: match flags.image_url {
                Some(_) => None,
                None => places.spot(&["images", "url"]),
            },
            checksum: flags.checksum.unwrap_or(file.images.checksum),
            serve_all: flags.all_images || file.images.serve_all,
        },
        outputs: outputs(file, flags, places, findings),
        policy: policy(&file.policy, files, places, findings),
        matching: flags.matching.unwrap_or(file.matching),
        schemes: schemes(&file.names, places, findings),
        locking: flags.locking,
        releases: releases(file, places, findings),
        waves: wave_options::waves(&file.plan, places, findings),
        capm3_demands_checksum: None,
    }
}

/// The project's naming schemes, those of which are valid.
pub(super) fn schemes(
    names: &[String],
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> NameSchemes {
    let mut own = Vec::new();
    for (index, pattern) in names.iter().enumerate() {
        match OwnScheme::new(pattern) {
            Ok(scheme) => own.push(scheme),
            Err(fault) => {
                let message = format!("`{pattern}` is not a valid naming scheme: {fault}");
                let finding = places.item_finding(message, &["names"], index);
                findings.push(finding.help(
                    r"write a form such as `golden-{os}{release}-{k8s}`, or a regular expression whose named groups do not hold what follows them: `golden-(?P<os>[a-z]+)-(?P<k8s>1\.\d+\.\d+)`",
                ));
            }
        }
    }
    NameSchemes::new(own)
}

/// The addresses of releases, by builder: those that a version can be put into.
fn releases(
    file: &ProjectFile,
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> BTreeMap<String, String> {
    let mut releases = match &file.update.releases {
        ReleaseOptions::All(address) => [(String::new(), address.clone())].into(),
        ReleaseOptions::ByRegistry(releases) => releases.clone(),
    };
    releases.retain(|name, address| {
        let is_address = address.starts_with("http") && address.contains(RELEASE);
        if !is_address {
            let mut path = vec!["update", "releases"];
            path.extend(Some(name.as_str()).filter(|name| !name.is_empty()));
            let message = format!(
                "`{}` is not an address of a release with `{RELEASE}` in its version's place",
                path[1..].join(".")
            );
            findings.push(places.finding(message, &path).help(format!(
                "write the address with the word {RELEASE}: `https://gitlab.com/api/v4/projects/ID/releases/{RELEASE}`"
            )));
        }
        is_address
    });
    releases
}

/// The flags' outputs, else the project file's.
fn outputs(
    file: &ProjectFile,
    flags: &Flags,
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> Vec<Output> {
    let written = |(index, output): (usize, &OutputOptions)| Output {
        target: output.target.clone(),
        path: output.path.clone(),
        options: output.options.clone(),
        spot: places.item(&["outputs"], index),
    };
    match &flags.out {
        Some(_) => {
            let typed = |target: &String| Output {
                target: target.clone(),
                path: String::new(),
                options: BTreeMap::new(),
                spot: None,
            };
            flags.targets.iter().map(typed).collect()
        }
        None => {
            let outputs: Vec<Output> = file.outputs.iter().enumerate().map(written).collect();
            findings.extend(outputs.iter().filter_map(illegal));
            outputs
        }
    }
}

/// An output's folder that is not below the project, or that no file may be written to. The rest of its path is known when its
/// expressions are.
fn illegal(output: &Output) -> Option<Finding> {
    let folder = output_path::root(output.path.trim_start_matches("./")).0;
    let fault = match folder {
        "" | "." => return None,
        folder => output_path::fault(folder)?,
    };
    let message = format!("the output path `{}` {fault}", output.path);
    let finding = Finding::new(RuleId::ProjectFile, message).with_label(output.spot.clone(), "");
    Some(finding.help("name a folder below the project file"))
}

fn policy(
    options: &PolicyOptions,
    files: &dyn Files,
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> Policy {
    let signatures = KeyPolicy::new(options, files, places, findings).read();
    let provenance = provenance::demands(&options.provenance, places, findings);
    let demanded = Demanded {
        signatures: !signatures.is_empty(),
        provenance: !provenance.is_empty(),
    };
    Policy {
        rules: demanded.levels(&options.rules, &["policy", "rules"], places, findings),
        scoped: options
            .clusters
            .iter()
            .filter_map(|(text, rules)| read_scope(text, rules, &demanded, places, findings))
            .collect(),
        waivers: waivers(options, places, findings),
        fail_on: options.fail_on.map(|worst| match worst {
            FailOn::Unknown => Grade::Unknown,
            FailOn::Unproven => Grade::Unproven,
            FailOn::ByName => Grade::ByName,
        }),
        signatures,
        provenance,
    }
}

fn read_scope(
    text: &str,
    rules: &RuleOptions,
    demanded: &Demanded,
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> Option<Scoped> {
    let path = ["policy", "clusters", text];
    match Pattern::parse(text) {
        Ok(pattern) => Some(Scoped {
            pattern,
            rules: demanded.levels(rules, &path, places, findings),
        }),
        Err(error) => {
            findings.push(bad_pattern(text, &error).with_label(places.spot(&path), ""));
            None
        }
    }
}

/// The rule of an id that a waiver names; none, and a finding, where there is no such rule.
fn rule(id: &str, places: &Places<'_>, findings: &mut Vec<Finding>) -> Option<RuleId> {
    let found = id.parse().ok();
    if found.is_none() {
        let (message, help) = rule_options::no_rule(id);
        let finding = Finding::new(RuleId::ProjectFile, message).with_label(places.word(id), "");
        findings.push(finding.help(help));
    }
    found
}

fn waivers(
    options: &PolicyOptions,
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> PatternList<Waiver> {
    let mut waivers = Vec::new();
    for (index, written) in options.waivers.iter().enumerate() {
        let spot = places.item(&["policy", "waivers"], index);
        let until = written.until.as_deref().and_then(Date::parse);
        if let Some(text) = written.until.as_deref().filter(|_| until.is_none()) {
            let message = format!("`until: {text}` is not a date");
            let finding = Finding::new(RuleId::ProjectFile, message).with_label(spot.clone(), "");
            findings.push(finding.help("write the last day it holds as `YYYY-MM-DD`"));
        }
        if ["", NO_REASON].contains(&written.reason.trim()) {
            let message = format!("the waiver of `{}` gives no reason", written.rule);
            let finding = Finding::new(RuleId::ProjectFile, message).with_label(spot, "");
            findings.push(finding.help("write why it is accepted: `reason: …`"));
            continue;
        }
        let rule = rule(&written.rule, places, findings);
        match Pattern::parse(&written.pattern) {
            Ok(pattern) => waivers.extend(rule.map(|rule| Waiver {
                rule,
                pattern,
                reason: written.reason.clone(),
                until,
                spot,
            })),
            Err(error) => findings.push(bad_pattern(&written.pattern, &error).with_label(spot, "")),
        }
    }
    waivers.into_iter().collect()
}
