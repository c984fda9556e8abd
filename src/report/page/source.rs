//! The address at which a code host shows a line of a file.

use std::str::FromStr;

use serde::Serialize;

/// The placeholders of an address.
const PATH: &str = "{path}";
const LINE: &str = "{line}";

/// An address with `{path}`, and mostly `{line}`, in it: `https://gitlab.example/lab/fleet/-/blob/main/{path}#L{line}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceUrl(String);

impl FromStr for SourceUrl {
    type Err = String;

    /// A page must not hold a link that runs a script, so only addresses of web servers are accepted.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let example = "https://gitlab.example/GROUP/PROJECT/-/blob/main/{path}#L{line}";
        let is_web = text.starts_with("https://") || text.starts_with("http://");
        let rest = text.replacen(PATH, "", 1).replacen(LINE, "", 1);
        if is_web && text.contains(PATH) && !rest.contains(['{', '}']) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "write an address with `{PATH}` and `{LINE}`, such as {example}"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SourceUrl;

    #[test]
    fn only_addresses_of_web_servers_with_a_path_are_accepted() {
        for (text, is_valid) in [
            ("https://a.example/{path}#L{line}", true),
            ("http://a.example/{path}", true),
            ("https://a.example/", false),
            ("javascript:{path}", false),
            ("https://a.example/{path}{path}", false),
            ("https://a.example/{path}?{ref}", false),
        ] {
            assert_eq!(text.parse::<SourceUrl>().is_ok(), is_valid, "{text}");
        }
    }
}
