//! What a project demands to be signed of the images below a prefix, as its project file says it.

use oci_artifacts::Reference;
use oci_artifacts::signature::{Demand, Pattern};
use yaml_tree::place::Spot;

/// The name that the signers have in an entry of the lock.
pub const SIGNER: &str = "signer";

/// One entry of `policy.provenance`.
#[derive(Clone, Debug)]
pub struct ProvenanceDemand {
    /// The images: those whose references start so.
    pub below: Reference,
    /// Who has to have signed.
    pub signer: NamedSigner,
    /// What: all of these.
    pub demands: Vec<Demand>,
    /// Where it is written.
    pub spot: Option<Spot>,
}

/// Who has to have signed, by the names of the files that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedSigner {
    /// A key: its PEM text, or the path of a file that holds one.
    Key(String),
    /// An identity in certificates.
    Certified {
        /// The subject of the certificate.
        subject: Pattern,
        /// Who identified it.
        issuer: String,
        /// The path of a `trusted_root.json`.
        root: String,
    },
}
