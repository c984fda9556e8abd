//! What people say of the images of manifests in their repository: in markers beside the fields, and in the
//! project file.

use std::collections::BTreeMap;
use std::sync::Arc;

use yaml_tree::place::Spot;

use super::pattern::Pattern;
use super::selector::Selector;

/// The image that people request for an object or a field.
#[derive(Clone, Debug)]
pub struct ImageRequest {
    /// The image.
    pub image: RequestedImage,
    /// What of the image is written into the field; none where the object's own image fields are meant.
    pub field: Option<Arc<str>>,
    /// The region of the machines, where images are kept by region.
    pub region: Option<Arc<str>>,
    /// Where it is said.
    pub spot: Option<Spot>,
}

/// Which image is requested.
#[derive(Clone, Debug)]
pub enum RequestedImage {
    /// The image of that key.
    Image(Arc<str>),
    /// The one image that matches.
    Selector(Selector),
    /// None: the object is left alone on purpose.
    Nothing,
}

/// An entry of `stamps:`: which objects, and their image.
#[derive(Clone, Debug)]
pub struct StampEntry {
    /// The kind; any where none is given.
    pub kind: Option<Pattern>,
    /// The name; any where none is given.
    pub name: Option<Pattern>,
    /// The namespace; any where none is given.
    pub namespace: Option<Pattern>,
    /// Labels that the object has.
    pub labels: BTreeMap<String, String>,
    /// What of the image the variables of a Cluster or a ClusterClass get, by the variable's name; empty where objects with
    /// images of their own are meant.
    pub variables: BTreeMap<String, Arc<str>>,
    /// What they boot.
    pub request: ImageRequest,
}
