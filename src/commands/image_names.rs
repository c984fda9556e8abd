//! `metalmark names`: builds the names of images by a scheme or a form, and tests what is read from names.

use std::collections::BTreeMap;
use std::io::Write;

use capi::image::{Facts, ImageKey, Origin, fact};
use clap::Args;
use yaml_tree::place::Place;

use crate::error::Error;
use crate::model::date::Date;
use crate::model::name::{Difference, NameBuilder, NameFacts, NameSchemes, SCHEMES, key_of};
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{Terminal, Verdict};
use crate::read::{self, Request};
use crate::report;

/// Which names are built or tested.
#[derive(Clone, Debug, Args)]
pub struct NamesOptions {
    /// A scheme, a form such as `{os}-{release}-{k8s}`, or the name of an image; without it, the schemes are listed.
    #[arg(value_name = "SCHEME|FORM|NAME")]
    pub what: Option<String>,
    /// A fact of the one image whose name is built, such as `k8s-version=1.31.8+rke2r1`; without any, all of the catalog.
    #[arg(long = "fact", value_name = "FACT=VALUE", value_parser = fact_value)]
    pub facts: Vec<(String, String)>,
}

/// An image of the catalog, and what it is called there.
struct Cataloged {
    key: ImageKey,
    facts: Facts,
    /// Its file, and what ends its reference.
    names: Vec<String>,
}

/// Lists the schemes, builds names, or says what a name states.
///
/// # Errors
/// A form is none, a fact is missing, or the project cannot be read.
pub fn image_names(
    request: &Request,
    options: &NamesOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let Some(what) = &options.what else {
        let rows = SCHEMES.iter().flat_map(|scheme| {
            let forms = scheme.forms.iter();
            forms.map(|form| [scheme.id.to_owned(), (*form).to_owned()])
        });
        report::rows(["scheme", "form"], rows, &mut terminal.out)?;
        return Ok(Verdict::Clean);
    };
    let schemes = &read_schemes(request)?;
    let builder = match SCHEMES.iter().find(|scheme| scheme.id == what) {
        Some(scheme) => NameBuilder::from_scheme(scheme),
        None if what.contains('{') => NameBuilder::from_form(what)
            .map_err(|fault| Error::usage(format!("`{what}` is not a form of names: {fault}")))?,
        None => return test_name(what, schemes, terminal),
    };
    if options.facts.is_empty() {
        return test_catalog(request, &builder, today, terminal);
    }
    let given = options.facts.iter();
    let given = given.map(|(name, value)| (name, value.as_str(), Place::NONE));
    let facts = Facts::new(Origin::Values, given);
    let built = Built::new(&builder, schemes, &facts, |_| true);
    let built = built.map_err(|part| {
        Error::usage(format!(
            "nothing is known for `{{{part}}}`: give `--fact {}=…`",
            fact_of(part)
        ))
    })?;
    writeln!(terminal.out, "{}", built.name)?;
    match built.fault {
        None => Ok(Verdict::Clean),
        Some(fault) => {
            writeln!(terminal.err, "{fault}")?;
            Ok(Verdict::Findings)
        }
    }
}

/// The schemes of the project, if there is one; the built-in ones are everywhere.
fn read_schemes(request: &Request) -> Result<NameSchemes, Error> {
    let mut request = request.clone();
    request.flags.manifests = true;
    request.flags.without_project = true;
    request.flags.discovers = false;
    Ok(read::workspace(&request)?.settings.schemes.clone())
}

/// What a name states, by the first scheme that reads it.
fn test_name(name: &str, schemes: &NameSchemes, terminal: &mut Terminal) -> Result<Verdict, Error> {
    let Some(read) = schemes.read_location(name) else {
        writeln!(
            terminal.err,
            "no scheme reads `{name}`: `metalmark names` lists them, and `names` in the project file adds others"
        )?;
        return Ok(Verdict::Findings);
    };
    let rows = [["scheme".to_owned(), read.scheme.to_owned()]].into_iter();
    let facts = read.facts().into_iter();
    let rows = rows.chain(facts.map(|(name, value)| [name.to_owned(), value]));
    report::rows(["fact", "value"], rows, &mut terminal.out)?;
    Ok(Verdict::Clean)
}

/// The name of each image of the catalog, and whether it is one: read as its facts, as the catalog has it, and no other image's.
fn test_catalog(
    request: &Request,
    builder: &NameBuilder<'_>,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let fleet = Fleet::open(read::workspace(request)?, today)?;
    let schemes = &fleet.workspace.settings.schemes;
    let catalogs = fleet.check(|view, _, _| {
        let images = view.images.values().map(|image| {
            let file = image.facts.text(fact::FILENAME).map(str::to_owned);
            let uri = image.uri.as_ref().map(|uri| uri.value.text());
            let last = uri.and_then(|uri| uri.rsplit('/').next()).map(|last| {
                let untagged = last.split(['@', ':', '?', '#']).next();
                untagged.unwrap_or(last).to_owned()
            });
            Cataloged {
                key: image.key.clone(),
                facts: image.facts.clone(),
                names: file.into_iter().chain(last).collect(),
            }
        });
        Ok(images.collect::<Vec<_>>())
    })?;
    let images = catalogs.results.into_iter().flatten();
    let images: BTreeMap<ImageKey, Cataloged> =
        images.map(|image| (image.key.clone(), image)).collect();
    let mut owners: BTreeMap<String, ImageKey> = BTreeMap::new();
    let (mut rows, mut verdict) = (Vec::new(), Verdict::Clean);
    for image in images.values() {
        let (name, fault) =
            match Built::new(builder, schemes, &image.facts, |it| image.is_called(it)) {
                Err(part) => (
                    "-".to_owned(),
                    Some(format!("nothing is known for `{{{part}}}`")),
                ),
                Ok(built) => {
                    let other = owners.insert(built.name.clone(), image.key.clone());
                    let other = other.map(|other| format!("is the name of `{other}` too"));
                    let fault = built.fault.or(other);
                    let fault = fault
                        .or_else(|| (!image.is_called(&built.name)).then(|| image.catalog_name()));
                    (built.name, fault)
                }
            };
        verdict = if fault.is_some() {
            Verdict::Findings
        } else {
            verdict
        };
        let fault = fault.unwrap_or_else(|| "ok".to_owned());
        rows.push([image.key.to_string(), name, fault]);
    }
    report::rows(["image", "name", "test"], rows, &mut terminal.out)?;
    Ok(verdict)
}

impl Cataloged {
    /// Whether the catalog has the image under that name: as its key, its file or in its reference.
    fn is_called(&self, name: &str) -> bool {
        key_of(name).is_ok_and(|key| key == self.key) || self.names.iter().any(|own| own == name)
    }

    /// What it is called.
    fn catalog_name(&self) -> String {
        let names = self.names.first().map_or(&*self.key, String::as_str);
        format!("is `{names}` in the catalog")
    }
}

/// The name of an image by a builder.
struct Built {
    name: String,
    /// What is wrong with it.
    fault: Option<String>,
}

impl Built {
    /// The first name that is wanted and reads as the facts are; else the first that reads so; else the first one.
    fn new<'f>(
        builder: &NameBuilder<'f>,
        schemes: &NameSchemes,
        facts: &Facts,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, &'f str> {
        let tested = builder.names(facts)?.into_iter().map(|name| Self {
            fault: find_fault(builder, schemes, facts, &name),
            name,
        });
        let mut best: Option<Self> = None;
        for built in tested {
            if built.fault.is_none() && is_wanted(&built.name) {
                return Ok(built);
            }
            if best
                .as_ref()
                .is_none_or(|best| best.fault.is_some() && built.fault.is_none())
            {
                best = Some(built);
            }
        }
        best.ok_or("k8s")
    }
}

/// Why a name does not say what the facts do.
fn find_fault(
    builder: &NameBuilder<'_>,
    schemes: &NameSchemes,
    facts: &Facts,
    name: &str,
) -> Option<String> {
    let read: Option<NameFacts> = if builder.is_scheme() {
        builder.read(name)
    } else {
        schemes.read(name)
    };
    let Some(read) = read else {
        return Some("no scheme reads it".to_owned());
    };
    let Difference { fact, said, own } = Difference::find(&Facts::from(read), facts)?;
    Some(format!("says {fact} `{said}`, and the image has `{own}`"))
}

/// The fact that a part of a name states.
fn fact_of(part: &str) -> &str {
    match part {
        "k8s" => fact::K8S_VERSION,
        "release" | "version" => fact::OS_RELEASE,
        "k8s_flavor" => fact::K8S_FLAVOR,
        "channel" => fact::OS_CHANNEL,
        "builder" => fact::COMMIT_TAG,
        "format" => fact::IMAGE_FORMAT,
        "timestamp" => fact::BUILD_TIMESTAMP,
        "commit" => fact::COMMIT_ID,
        "sysext" => fact::SYSEXTS,
        same => same,
    }
}

fn fact_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("write FACT=VALUE".to_owned()),
    }
}
