//! Where objects are: a file, or a string in one that holds manifests itself.

use std::sync::Arc;

use yaml_tree::Spelling;
use yaml_tree::edit::{Edit, Step, Target};
use yaml_tree::place::{Place, Source, Sources, Spot};

use crate::secrets;

/// A text that holds objects.
pub struct Text {
    /// The file; of a string its value, whose places are those of the nodes in it.
    pub source: Arc<Source>,
    /// The files that a build is made of, which places refer to; none for a file or string.
    files: Option<Arc<Sources>>,
    /// The place of the string; none for a file.
    pub host: Option<Host>,
}

/// The string that holds a text.
pub struct Host {
    /// The text that holds the string.
    pub text: Arc<Text>,
    /// The document in the file.
    pub document: usize,
    /// The way to the string.
    pub steps: Vec<Step>,
    /// The place of the string.
    pub place: Place,
    /// Whether it is in the configuration of one of kustomize's own transformers, whose texts are patches.
    is_of_transformer: bool,
    /// Why nothing can be changed in it, in one clause.
    pub frozen: Option<&'static str>,
    /// The place that findings name instead, so that no line of a Secret is shown.
    reported_at: Option<Place>,
    spelling: Spelling,
}

/// A string that holds a text.
pub(super) struct Inner<'a> {
    /// The document and the way to it.
    pub(super) at: (usize, Vec<Step>),
    /// Its place.
    pub(super) place: Place,
    /// The text.
    pub(super) value: &'a str,
    /// The name of the Secret that holds it.
    pub(super) secret: Option<Place>,
    /// Whether it is in the configuration of one of kustomize's own transformers.
    pub(super) is_of_transformer: bool,
    /// Whether the text was decoded from base64.
    pub(super) is_encoded: bool,
}

/// Why a string is read, and not edited.
const FOLDED: &str =
    "it is in a folded string, whose lines are not those of the manifest: write it with `|`";
const QUOTED: &str = "it is in a quoted string: write it as a block, behind `|`";
const ENCODED: &str = "it is in base64: write it under `stringData`, behind `|`";
const UNFOLLOWED: &str = "it is in a string that is written elsewhere";

impl Text {
    /// The text of a file.
    pub fn from_file(source: Arc<Source>) -> Arc<Self> {
        Arc::new(Self {
            source,
            files: None,
            host: None,
        })
    }

    /// The text of what a file builds from these files.
    pub fn from_build(source: Arc<Source>, files: Arc<Sources>) -> Arc<Self> {
        Arc::new(Self {
            source,
            files: Some(files),
            host: None,
        })
    }

    /// The text of a string in this text.
    pub(super) fn inner(self: &Arc<Self>, inner: Inner<'_>) -> Arc<Self> {
        let (place, outer) = (inner.place, &self.source.text);
        let spelled = outer.get(place.start as usize..place.end as usize);
        let own = match spelled.and_then(|spelled| spelled.chars().next()) {
            _ if inner.is_encoded => Some(ENCODED),
            Some('|') => None,
            Some('>') => Some(FOLDED),
            Some(_) => Some(QUOTED),
            None => Some(UNFOLLOWED),
        };
        let outer_frozen = self.host.as_ref().and_then(|host| host.frozen);
        let (document, steps) = inner.at;
        let path = Arc::clone(&self.source.path);
        let is_secret = inner.secret.is_some() || self.source.is_secret_file;
        let source = if is_secret {
            secrets::secret_source(path, inner.value)
        } else {
            secrets::source(path, inner.value)
        };
        let source = Source {
            is_hidden: self.source.is_hidden,
            ..source
        };
        Arc::new(Self {
            source: Arc::new(source),
            files: None,
            host: Some(Host {
                text: Arc::clone(self),
                document,
                steps,
                place,
                is_of_transformer: inner.is_of_transformer,
                frozen: own.or(outer_frozen),
                reported_at: inner.secret.filter(|_| own.is_some()),
                spelling: Spelling::new(outer, place, inner.value),
            }),
        })
    }

    /// The file that holds it, directly or through other texts.
    pub fn file(&self) -> &Arc<Source> {
        match &self.host {
            Some(host) => host.text.file(),
            None => &self.source,
        }
    }

    /// Whether its places are those of its file.
    pub fn is_file(&self) -> bool {
        self.files.is_none() && self.host.is_none()
    }

    /// Whether it is what a file builds.
    pub fn is_build(&self) -> bool {
        self.files.is_some()
    }

    /// Whether what is at these steps of it is a patch of kustomize, by where it is written: in a kustomization, in an object
    /// of Flux or Argo CD that contains a part of one, or in a transformer.
    pub(super) fn holds_patch(&self, steps: &[Step]) -> bool {
        let is_of_patch = |host: &Host| host.is_of_transformer || is_of_patches(&host.steps);
        is_of_patches(steps) || is_outermost(steps) && self.host.as_ref().is_some_and(is_of_patch)
    }

    /// Why nothing in it can be changed.
    pub fn read_only_reason(&self) -> Option<&'static str> {
        self.host.as_ref().and_then(|host| host.frozen)
    }

    /// The place in the file of a place in this text.
    pub fn spot(&self, place: Place) -> Option<Spot> {
        if !place.is_known() {
            return None;
        }
        if let Some(files) = &self.files {
            return files.resolve(place);
        }
        match &self.host {
            Some(Host {
                text,
                reported_at: Some(place),
                ..
            }) => text.spot(*place),
            Some(host) => {
                let range = place.start as usize..place.end as usize;
                host.text
                    .spot(host.spelling.place(&self.source.text, range))
            }
            None => Some(Spot::new(&self.source, place)),
        }
    }

    /// Edits of this text, as edits of its file.
    pub fn outward(&self, edits: Vec<Edit>) -> Vec<Edit> {
        match &self.host {
            Some(host) if !edits.is_empty() => {
                let at = Target::Path(host.document, host.steps.clone());
                host.text.outward(vec![Edit::Within { at, edits }])
            }
            _ => edits,
        }
    }

    /// The number of strings that it is nested in.
    pub(super) fn depth(&self) -> usize {
        let outer = |host: &Host| host.text.depth() + 1;
        self.host.as_ref().map_or(0, outer)
    }
}

/// Whether steps lead to a document, or to an item of a list of objects that is one.
pub(super) fn is_outermost(steps: &[Step]) -> bool {
    let is_list = |step: &Step| matches!(step, Step::Index(_)) || *step == Step::from("items");
    steps.iter().all(is_list)
}

/// Whether steps lead to a patch in one of the fields that kustomize has for them.
fn is_of_patches(steps: &[Step]) -> bool {
    let is = |step: &Step, keys: &[&str]| matches!(step, Step::Key(key) if keys.contains(&&**key));
    match steps {
        [.., list, Step::Index(_), patch] if is(patch, &["patch"]) => {
            is(list, &["patches", "patchesJson6902"])
        }
        [.., list, Step::Index(_)] => is(list, &["patchesStrategicMerge"]),
        _ => false,
    }
}

/// A file's text may be a secret.
impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Text")
            .field("source", &self.source)
            .field("depth", &self.depth())
            .finish_non_exhaustive()
    }
}
