//! `metalmark names`: builds the names of images by a scheme or a form, and tests what is read from names.

use std::collections::BTreeMap;
use std::io::Write;

use capi::image::{Facts, Image, ImageKey, Origin, fact};
use clap::Args;
use yaml_tree::place::Place;
use yaml_tree::suggest::did_you_mean;

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
    let schemes = &read::name_schemes(request)?;
    let Some(what) = &options.what else {
        let own = { schemes.own().iter() }.map(|own| ["names".to_owned(), own.text.clone()]);
        let rows = SCHEMES.iter().flat_map(|scheme| {
            let forms = scheme.forms.iter();
            forms.map(|form| [scheme.id.to_owned(), (*form).to_owned()])
        });
        report::rows(["scheme", "form"], own.chain(rows), &mut terminal.out)?;
        return Ok(Verdict::Clean);
    };
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
        let images = view.images.values().map(Cataloged::new);
        Ok(images.collect::<Vec<_>>())
    })?;
    let mut images = catalogs.results;
    if fleet.workspace.clusters.is_empty() {
        images.push(
            fleet
                .source_images()?
                .values()
                .map(Cataloged::new)
                .collect(),
        );
    }
    let images = images.into_iter().flatten();
    let images: BTreeMap<ImageKey, Cataloged> =
        images.map(|image| (image.key.clone(), image)).collect();
    if images.is_empty() {
        let message = "there is no image whose name is tested";
        let help = "give the facts of one, `--fact k8s-version=1.34.1 …`, or describe it in `images.records`";
        return Err(Error::usage(format!("{message}\nhelp: {help}")));
    }
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
    fn new(image: &Image) -> Self {
        let file = image.facts.text(fact::FILENAME).map(str::to_owned);
        let uri = image.uri.as_ref().map(|uri| uri.value.text());
        let last = uri.and_then(|uri| uri.rsplit('/').next()).map(|last| {
            let untagged = last.split(['@', ':', '?', '#']).next();
            untagged.unwrap_or(last).to_owned()
        });
        Self {
            key: image.key.clone(),
            // Each cluster has those of the file that its provider boots.
            facts: image.facts.select_location([]),
            names: file.into_iter().chain(last).collect(),
        }
    }

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
    /// The first name that is wanted and reads as the facts are; else the first that reads so; else the first one that its own form
    /// reads so; else the first one.
    fn new<'f>(
        builder: &NameBuilder<'f>,
        schemes: &NameSchemes,
        facts: &Facts,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, &'f str> {
        let mut best: Option<(u8, Self)> = None;
        for name in builder.names(facts)? {
            let own = builder.read(&name);
            let read = match builder.own_form() {
                None => own.clone(),
                Some(_) => schemes.read(&name),
            };
            let is_read = own.is_some_and(|own| Difference::find(&own.into(), facts).is_none());
            let fault = find_fault(read, facts, builder.own_form().filter(|_| is_read));
            let rank = match &fault {
                None if is_wanted(&name) => return Ok(Self { name, fault }),
                None => 2,
                Some(_) => u8::from(is_read),
            };
            if best.as_ref().is_none_or(|(highest, _)| rank > *highest) {
                best = Some((rank, Self { name, fault }));
            }
        }
        best.map(|(_, built)| built).ok_or("k8s")
    }
}

/// Why what is read of a name is not what the facts are; `form` would read it.
fn find_fault(read: Option<NameFacts>, facts: &Facts, form: Option<&str>) -> Option<String> {
    let Some(read) = read else {
        let form = form.map_or("a regular expression that does".to_owned(), |form| {
            format!("`{form}`")
        });
        return Some(format!(
            "no scheme reads it: add {form} to `names` in the project file"
        ));
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

/// The facts that names are built of.
const FACTS: [&str; 18] = [
    fact::ARCH,
    fact::BUILD_TIMESTAMP,
    fact::COMMIT_ID,
    fact::COMMIT_TAG,
    fact::COMPRESSION,
    fact::FIRMWARE,
    fact::FLAVOR,
    fact::HARDENED,
    fact::IMAGE_FORMAT,
    fact::K8S_FLAVOR,
    fact::K8S_VERSION,
    fact::OS,
    fact::OS_CHANNEL,
    fact::OS_RELEASE,
    fact::PLATFORM,
    fact::SCHEMATIC,
    fact::SYSEXTS,
    fact::VARIANT,
];

fn fact_value(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=');
    let parts = parts.filter(|(name, value)| !name.is_empty() && !value.is_empty());
    let (name, value) = parts.ok_or("write FACT=VALUE")?;
    if FACTS.contains(&name) {
        return Ok((name.to_owned(), value.to_owned()));
    }
    let of_part = Some(fact_of(name)).filter(|of| FACTS.contains(of));
    Err(
        match of_part.or_else(|| did_you_mean(name, FACTS.iter().copied())) {
            Some(near) => format!("no name states a fact `{name}`: did you mean `{near}`?"),
            None => format!(
                "no name states a fact `{name}`: names state {}",
                FACTS.join(", ")
            ),
        },
    )
}
