//! The functions that templates of charts have, and those of other programs have not.

/// Cluster API: Helm's own, and those whose result differs from run to run.
pub(super) const NOT_IN_CLUSTER_API: &[&str] = &[
    "date",
    "dateInZone",
    "dateModify",
    "date_in_zone",
    "date_modify",
    "fromJsonArray",
    "fromToml",
    "fromYaml",
    "fromYamlArray",
    "getHostByName",
    "htmlDate",
    "htmlDateInZone",
    "include",
    "lookup",
    "mustToYaml",
    "now",
    "randAlpha",
    "randAlphaNum",
    "randAscii",
    "randBytes",
    "randNumeric",
    "required",
    "toToml",
    "toYaml",
    "toYamlPretty",
    "tpl",
    "uuidv4",
];

/// Argo CD's ApplicationSets: most of Helm's own, and those that read the environment.
pub(super) const NOT_IN_ARGO_CD: &[&str] = &[
    "env",
    "expandenv",
    "fromJsonArray",
    "fromToml",
    "getHostByName",
    "include",
    "lookup",
    "mustToToml",
    "mustToYaml",
    "required",
    "toToml",
    "toYamlPretty",
    "tpl",
];
