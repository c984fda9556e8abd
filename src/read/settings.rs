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
use super::places::Problems;
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
    problems: &mut Problems<'_>,
) -> Settings {
    if file.version.is_some_and(|version| version != 1) {
        let message = "this metalmark reads version 1 of the project file";
        let help = "write `version: 1`, or install the metalmark that wrote it";
        problems.refuse(message, &["version"], help);
    }
    Settings {
        root: root.to_owned(),
        project: String::new(),
        registries: registries::registries(root, &file.registries, problems),
        images: ImageSettings {
            url: flags
                .image_url
                .clone()
                .or_else(|| file.images.url.clone())
                .unwrap_or_else(|| DEFAULT_URL.to_owned()),
            is_named: flags.image_url.is_some() || file.images.url.is_some(),
            url_spot: match flags.image_url {
                Some(_) => None,
                None => problems.places.spot(&["images", "url"]),
            },
            checksum: flags.checksum.unwrap_or(file.images.checksum),
            serve_all: flags.all_images || file.images.serve_all,
        },
        outputs: outputs(file, flags, problems),
        policy: policy(&file.policy, files, problems),
        matching: flags.matching.unwrap_or(file.matching),
        schemes: schemes(&file.names, problems),
        locking: flags.locking,
        releases: releases(file, problems),
        waves: wave_options::waves(&file.plan, problems),
        capm3_demands_checksum: None,
    }
}

/// The project's naming schemes, those of which are valid.
pub(super) fn schemes(names: &[String], problems: &mut Problems<'_>) -> NameSchemes {
    let mut own = Vec::new();
    for (index, pattern) in names.iter().enumerate() {
        match OwnScheme::new(pattern) {
            Ok(scheme) => own.push(scheme),
            Err(fault) => {
                let message = format!("`{pattern}` is not a valid naming scheme: {fault}");
                let spot = problems.places.item(&["names"], index);
                problems.refuse_at(
                    message,
                    spot,
                    r"write a form such as `golden-{os}{release}-{k8s}`, or a regular expression whose named groups do not hold what follows them: `golden-(?P<os>[a-z]+)-(?P<k8s>1\.\d+\.\d+)`",
                );
            }
        }
    }
    NameSchemes::new(own)
}

/// The addresses of releases, by builder: those that a version can be put into.
fn releases(file: &ProjectFile, problems: &mut Problems<'_>) -> BTreeMap<String, String> {
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
            let help = format!(
                "write the address with the word {RELEASE}: `https://gitlab.com/api/v4/projects/ID/releases/{RELEASE}`"
            );
            problems.refuse(message, &path, help);
        }
        is_address
    });
    releases
}

/// The flags' outputs, else the project file's.
fn outputs(file: &ProjectFile, flags: &Flags, problems: &mut Problems<'_>) -> Vec<Output> {
    let written = |(index, output): (usize, &OutputOptions)| Output {
        target: output.target.clone(),
        path: output.path.clone(),
        options: output.options.clone(),
        spot: problems.places.item(&["outputs"], index),
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
            problems.findings.extend(outputs.iter().filter_map(illegal));
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

fn policy(options: &PolicyOptions, files: &dyn Files, problems: &mut Problems<'_>) -> Policy {
    let signatures = KeyPolicy::new(options, files, problems).read();
    let provenance = provenance::demands(&options.provenance, problems);
    let demanded = Demanded {
        signatures: !signatures.is_empty(),
        provenance: !provenance.is_empty(),
    };
    Policy {
        rules: demanded.levels(&options.rules, &["policy", "rules"], problems),
        scoped: options
            .clusters
            .iter()
            .filter_map(|(text, rules)| read_scope(text, rules, &demanded, problems))
            .collect(),
        waivers: waivers(options, problems),
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
    problems: &mut Problems<'_>,
) -> Option<Scoped> {
    let path = ["policy", "clusters", text];
    match Pattern::parse(text) {
        Ok(pattern) => Some(Scoped {
            pattern,
            rules: demanded.levels(rules, &path, problems),
            spot: problems.places.key(&path[..2], text),
        }),
        Err(error) => {
            problems.refuse_pattern(text, &error, problems.places.spot(&path));
            None
        }
    }
}

/// The rule of an id that a waiver names; none, and a finding, where there is no such rule.
fn rule(id: &str, problems: &mut Problems<'_>) -> Option<RuleId> {
    let found = id.parse().ok();
    if found.is_none() {
        let (message, help) = rule_options::no_rule(id);
        problems.refuse_at(message, problems.places.word(id), help);
    }
    found
}

fn waivers(options: &PolicyOptions, problems: &mut Problems<'_>) -> PatternList<Waiver> {
    let mut waivers = Vec::new();
    for (index, written) in options.waivers.iter().enumerate() {
        let spot = problems.places.item(&["policy", "waivers"], index);
        let until = written.until.as_deref().and_then(Date::parse);
        if let Some(text) = written.until.as_deref().filter(|_| until.is_none()) {
            let message = format!("`until: {text}` is not a date");
            let help = "write the last day it holds as `YYYY-MM-DD`";
            problems.refuse_at(message, spot.clone(), help);
        }
        if ["", NO_REASON].contains(&written.reason.trim()) {
            let message = format!("the waiver of `{}` gives no reason", written.rule);
            problems.refuse_at(message, spot, "write why it is accepted: `reason: …`");
            continue;
        }
        let rule = rule(&written.rule, problems);
        match Pattern::parse(&written.pattern) {
            Ok(pattern) => waivers.extend(rule.map(|rule| Waiver {
                rule,
                pattern,
                reason: written.reason.clone(),
                until,
                spot,
            })),
            Err(error) => problems.refuse_pattern(&written.pattern, &error, spot),
        }
    }
    waivers.into_iter().collect()
}
