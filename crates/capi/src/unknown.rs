//! Why nothing is known of a node pool's image.

use std::fmt;

/// The reasons, each with its words: a clause behind `unknown: `.
macro_rules! reasons {
    ($($reason:ident $text:literal;)+) => {
        /// Why it is not known which image a node pool boots, or what that image is to hold.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Unknown {
            $(#[doc = $text] $reason,)+
        }

        impl Unknown {
            /// In words.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$reason => $text,)+
                }
            }
        }
    };
}

reasons! {
    Field "a field of its manifests is not carried out here";
    NotBuilt "its kustomization does not build";
    NotApplied "its manifests are patches of what does not build";
    ChartRefused "its chart does not render";
    DependencyMissing "a dependency of its chart is not in the repository";
    ChartElsewhere "its chart is in another repository";
    ChartUnread "a file of its chart cannot be read";
    ValuesUnknown "the values of its chart are not known";
    Helm "the Helm that renders its chart is not known";
    Capabilities "what its chart renders depends on the cluster";
    ClassPatches "the patches of its ClusterClass cannot be evaluated";
    ClassRefused "Cluster API refuses a patch of its ClusterClass";
    TopologyRefused "Cluster API refuses its topology";
    Extension "a runtime extension may change the image of its ClusterClass";
    NoPool "neither its control plane nor a node pool is among the manifests";
    NoWorker "its control plane has no machines, and no worker is among the manifests";
    NoClass "its ClusterClass is not among the manifests";
    NoTemplate "no reference to a machine template";
    TemplateMissing "its machine template is not among the manifests";
    SeveralTemplates "several machine templates have its template's name";
    NoName "its name is not text";
    NoImage "its machine template names no image";
    Kind "the kind of its machine template is not known";
    NotStamped "its image is not stamped";
    LookedUp "its provider looks up an image of its version";
    Variable "its image or version is a variable";
    Placeholder "its image is a placeholder";
    RunTime "its image depends on a name that is made at run time";
    Secret "its image or version depends on a secret";
    NotSelected "no image selected";
    KeyMissing "its image key is not in the catalog";
    NoMatch "no image matches its selector";
    SeveralMatch "several images match its selector";
    Disagree "its image key and its selector disagree";
    SelectorInvalid "its selector is wrong";
    NoVersion "no Kubernetes version";
    OddVersion "its Kubernetes version is not a version";
    Bare "its image brings no Kubernetes";
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
