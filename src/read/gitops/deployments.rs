//! Finds the HelmReleases and Applications that a folder or file deploys, including those of ApplicationSets.

use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use oci_artifacts::sha256;
use yaml_tree::place::Place;
use yaml_tree::value::Node;

use crate::error::Error;
use crate::model::finding::Finding;

use super::files::resolve_path;
use super::kustomization::{self, Built};
use super::object::Object;
use super::reader::LayerReader;
use super::{Composition, State, application, application_set, release};
use crate::read::error::ReadError;

/// Whether an object deploys a chart.
pub(super) fn is_one(object: &Object) -> bool {
    is_release(object) || is_argo(object, "Application") || is_argo(object, "ApplicationSet")
}

fn is_release(object: &Object) -> bool {
    object.kind() == "HelmRelease" && object.group() == "helm.toolkit.fluxcd.io"
}

fn is_argo(object: &Object, kind: &str) -> bool {
    object.kind() == kind && object.group() == "argoproj.io"
}

/// Whether a folder without a kustomization, or a file, contains a deployment.
pub(super) fn is_in(reader: &mut LayerReader<'_>, path: &Path) -> Result<bool, ReadError> {
    Ok(build(reader, path)?.is_some_and(|built| built.objects.iter().any(is_one)))
}

/// Composes everything that a path deploys, in the order of its objects.
pub(super) fn all(
    reader: &mut LayerReader<'_>,
    state: &State,
    path: &Path,
) -> Result<Vec<Composition>, ReadError> {
    match build(reader, path)? {
        Some(built) => compose_built(reader, state, &built),
        None => Ok(Vec::new()),
    }
}

/// Composes everything that these objects deploy, in their order.
pub(super) fn compose_built(
    reader: &mut LayerReader<'_>,
    state: &State,
    built: &Built,
) -> Result<Vec<Composition>, ReadError> {
    let mut all = Vec::new();
    for object in built.objects.iter().filter(|object| is_one(object)) {
        all.extend(compose_object(reader, state, built, object)?);
    }
    Ok(all)
}

/// As [`compose_built`], but what does not compose is one composition with the finding, so that the others are composed all the same.
pub(super) fn each_of_built(
    reader: &mut LayerReader<'_>,
    state: &State,
    built: &Built,
) -> Result<Vec<Composition>, Error> {
    let mut all = Vec::new();
    for object in built.objects.iter().filter(|object| is_one(object)) {
        match compose_object(reader, state, built, object) {
            Ok(composed) => all.extend(composed),
            Err(ReadError::Error(error)) => return Err(error),
            Err(ReadError::Finding(finding)) => {
                reader.findings.clear();
                all.push(failure(object, *finding));
            }
        }
    }
    Ok(all)
}

/// What these objects deploy, where nobody knows with which values.
pub(super) fn failed(objects: &[Object], finding: &Finding) -> Vec<Composition> {
    let deployments = objects.iter().filter(|object| is_one(object));
    deployments
        .map(|object| failure(object, finding.clone()))
        .collect()
}

fn failure(object: &Object, finding: Finding) -> Composition {
    Composition {
        chart: chart(object),
        findings: vec![finding],
        ..Composition::empty(object.name().to_owned(), object.tree.place)
    }
}

/// The folders that the Applications in a file deploy, those of ApplicationSets included.
pub(super) fn folders(reader: &mut LayerReader<'_>, file: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut all = Vec::new();
    let found = build(reader, file).and_then(|built| {
        for object in built.iter().flat_map(|built| &built.objects) {
            if is_argo(object, "Application") {
                all.push(object.clone());
            } else if is_argo(object, "ApplicationSet") {
                all.extend(application_set::applications(reader, object)?);
            }
        }
        Ok(())
    });
    reader.findings.clear();
    // What is wrong with one is reported where its values are read.
    if let Err(ReadError::Error(error)) = found {
        return Err(error);
    }
    let path = |source: &Node| resolve_path(Path::new(""), source.text(&["path"])?);
    let paths = all.iter().flat_map(|application| {
        let one = application.tree.get_path(&["spec", "source"]);
        let sources = application.tree.items(&["spec", "sources"]);
        one.into_iter().chain(sources).filter_map(path)
    });
    Ok(paths.collect())
}

/// The folder of the chart that an object names, if it is in this repository.
fn chart(object: &Object) -> Option<PathBuf> {
    let paths: [&[&str]; 2] = [
        &["spec", "chart", "spec", "chart"],
        &["spec", "source", "path"],
    ];
    let mut named = paths.iter().filter_map(|path| object.tree.text(path));
    resolve_path(Path::new(""), named.next()?.trim_start_matches('/'))
}

fn compose_object(
    reader: &mut LayerReader<'_>,
    state: &State,
    built: &Built,
    object: &Object,
) -> Result<Vec<Composition>, ReadError> {
    if is_release(object) {
        let composed = compose_release(reader, state, built, object)?;
        return Ok(vec![with_findings(composed, reader)]);
    }
    let applications = if is_argo(object, "Application") {
        vec![object.clone()]
    } else {
        application_set::applications(reader, object)?
    };
    let mut all = Vec::new();
    for application in applications {
        let composed = compose_application(reader, state, &application)?;
        all.push(with_findings(composed, reader));
    }
    Ok(all)
}

/// The composition with the findings that were collected meanwhile.
fn with_findings(mut composition: Composition, reader: &mut LayerReader<'_>) -> Composition {
    composition.findings.append(&mut reader.findings);
    composition
}

fn compose_release(
    reader: &mut LayerReader<'_>,
    state: &State,
    built: &Built,
    release: &Object,
) -> Result<Composition, ReadError> {
    let composed = release::compose(reader, state, built, release)?;
    if composed
        .missing
        .iter()
        .any(|missing| missing.kind != "HelmChart")
    {
        reader.findings.extend(built.unknown.iter().cloned());
    }
    let spec = |field: &str| {
        release
            .tree
            .text(&["spec", field])
            .filter(|text| !text.is_empty())
    };
    let target = spec("targetNamespace");
    let name = match (spec("releaseName"), target) {
        (Some(name), _) => name.to_owned(),
        (None, Some(namespace)) => format!("{namespace}-{}", release.name()),
        (None, None) => release.name().to_owned(),
    };
    Ok(Composition {
        name: shorten(name),
        namespace: target.unwrap_or(release.namespace()).to_owned(),
        place: release.tree.place,
        chart: composed.chart,
        has_post_renderers: !release.tree.items(&["spec", "postRenderers"]).is_empty(),
        layers: composed.layers,
        missing: composed.missing,
        findings: Vec::new(),
    })
}

/// A release's name as helm-controller shortens one that is longer than Helm accepts
/// (<https://pkg.go.dev/github.com/fluxcd/helm-controller/internal/release#ShortenName>).
fn shorten(name: String) -> String {
    /// In bytes: of Helm's names, and of the two parts.
    const LONGEST: usize = 53;
    const KEPT: usize = 40;
    const DIGITS: usize = 12;
    match name.get(..KEPT) {
        Some(kept) if name.len() > LONGEST => {
            format!(
                "{kept}-{}",
                &HEXLOWER.encode(&sha256(name.as_bytes()))[..DIGITS]
            )
        }
        _ => name,
    }
}

fn compose_application(
    reader: &mut LayerReader<'_>,
    state: &State,
    application: &Object,
) -> Result<Composition, ReadError> {
    let composed = application::compose(reader, state, application)?;
    let at = |path: &[&str]| application.tree.text(path).filter(|text| !text.is_empty());
    // Of several sources one renders the chart.
    let sources = application.tree.items(&["spec", "sources"]);
    let of_sources = sources
        .iter()
        .find_map(|source| source.text(&["helm", "releaseName"]));
    let of_sources = of_sources.filter(|name| !name.is_empty());
    let name = at(&["spec", "source", "helm", "releaseName"]).or(of_sources);
    let name = name.unwrap_or(application.name());
    Ok(Composition {
        name: name.to_owned(),
        namespace: at(&["spec", "destination", "namespace"])
            .unwrap_or_default()
            .to_owned(),
        place: application.tree.place,
        chart: composed.chart,
        has_post_renderers: false,
        layers: composed.layers,
        missing: composed.missing,
        findings: Vec::new(),
    })
}

/// The objects of a folder with a kustomization, of a folder of plain files, or of one file; none if there are none.
pub(super) fn build(reader: &mut LayerReader<'_>, path: &Path) -> Result<Option<Built>, ReadError> {
    if let Some(built) = kustomization::build(reader, path)? {
        return Ok(Some(built));
    }
    if kustomization::find(reader, path)?.is_some() {
        return Ok(None);
    }
    let mut objects = Vec::new();
    let files: Vec<PathBuf> = match reader.files.folder(path)? {
        Some(names) => names.iter().map(|name| path.join(name)).collect(),
        None => vec![path.to_owned()],
    };
    for file in files.iter().filter(|file| is_manifest(file)) {
        if reader.is_own_output(file, Place::NONE)? {
            continue;
        }
        // Values files may be beside manifests; their errors are reported when they are read as values.
        let has_kind = |text: &str| text.lines().any(|line| line.starts_with("kind:"));
        if !reader.has_text(file, has_kind)? {
            continue;
        }
        for document in reader
            .objects(file)?
            .iter()
            .flat_map(|documents| documents.iter())
        {
            if document.get_path(&["apiVersion"]).is_some()
                && document.get_path(&["kind"]).is_some()
            {
                kustomization::add(&mut objects, document);
            }
        }
    }
    Ok((!objects.is_empty()).then(|| Built {
        objects,
        ..Built::default()
    }))
}

fn is_manifest(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "yaml" || extension == "yml")
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn a_name_is_as_long_as_helm_accepts() {
        let fits = "a".repeat(53);
        assert_eq!(shorten(fits.clone()), fits);
        let short = shorten("a".repeat(54));
        assert_eq!(short.len(), 53);
        // `printf 'a%.0s' {1..54} | sha256sum`
        assert_eq!(short, format!("{}-a3f01b693925", "a".repeat(40)));
    }
}
