//! Which Kubernetes an operating system supports, as its project publishes it.
//!
//! `talos.tsv` has a row for each minor of Talos: the Kubernetes minors from the first to the last, where that is read, and on which
//! day. Talos refuses a machine configuration for others. The constants of its package `compatibility` count, and its support
//! matrix before 1.8. A release that no row is about may support any.

use std::sync::LazyLock;

/// What one minor of Talos supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TalosSupport {
    /// The minor of Talos 1.
    pub talos: u32,
    /// The first minor of Kubernetes 1.
    pub from: u32,
    /// The last one.
    pub to: u32,
    /// The address of what says so.
    pub source: &'static str,
    /// The day of reading, `YYYY-MM-DD`.
    pub read_on: &'static str,
}

static TALOS: LazyLock<Vec<TalosSupport>> = LazyLock::new(|| {
    let rows = include_str!("talos.tsv").lines().skip(1);
    rows.map(|row| parse(row).expect("each row has its columns"))
        .collect()
});

fn parse(row: &'static str) -> Option<TalosSupport> {
    let columns: Vec<&str> = row.split('\t').collect();
    let [talos, from, to, source, read_on] = columns[..] else {
        return None;
    };
    let minor = |text: &str| text.strip_prefix("1.")?.parse().ok();
    Some(TalosSupport {
        talos: minor(talos)?,
        from: minor(from)?,
        to: minor(to)?,
        source,
        read_on,
    })
}

/// What a release of Talos supports: `1.12.4`, with or without `v`.
pub fn find_talos_support(release: &str) -> Option<&'static TalosSupport> {
    let minor = release.trim_start_matches('v').strip_prefix("1.")?;
    let minor: u32 = minor.split('.').next()?.parse().ok()?;
    TALOS.iter().find(|row| row.talos == minor)
}

/// The release that a text names behind the word Talos: of an image, of its factory, or of an installer.
pub fn find_talos_release(text: &str) -> Option<&str> {
    let text = text.get(text.to_ascii_lowercase().find("talos")?..)?;
    let starts = text.match_indices("1.").map(|(at, _)| at);
    starts.filter_map(|at| release_at(text, at)).next()
}

/// A whole release at a place of a text.
fn release_at(text: &str, at: usize) -> Option<&str> {
    let before = text[..at].strip_suffix('v').unwrap_or(&text[..at]);
    let rest = &text[at..];
    let end = rest.find(|c: char| c != '.' && !c.is_ascii_digit());
    let release = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
    let is_own = !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '.');
    (is_own && release.split('.').count() == 3).then_some(release)
}

#[cfg(test)]
mod tests {
    use super::{TALOS, find_talos_release, find_talos_support};

    #[test]
    fn each_minor_of_talos_supports_a_range() {
        let range = |release| find_talos_support(release).map(|row| (row.from, row.to));
        assert_eq!(range("1.12.4"), Some((30, 35)));
        assert_eq!(range("v1.13.0"), Some((31, 36)));
        assert_eq!(range("1.99.0"), None);
        assert_eq!(range("2.12.0"), None);
        assert_eq!(TALOS.len(), 12);
        for row in TALOS.iter() {
            assert!(
                row.from < row.to && row.source.starts_with("https://"),
                "{row:?}"
            );
            assert_eq!(row.read_on.len(), 10);
        }
    }

    #[test]
    fn a_release_is_read_behind_the_word() {
        for (text, release) in [
            ("talos-v1.12.4-metal-amd64", Some("1.12.4")),
            (
                "factory.talos.dev/image/ce4c1/v1.11.5/metal-amd64.iso",
                Some("1.11.5"),
            ),
            (
                "factory.talos.dev/openstack-installer/ce4c1:v1.12.4",
                Some("1.12.4"),
            ),
            ("Talos 1.9.0", Some("1.9.0")),
            ("ubuntu-v1.12.4", None),
            ("k8s-1.33.1-talos", None),
            ("talos-1.12", None),
            ("talos-v11.12.4-x1.2.3", None),
        ] {
            assert_eq!(find_talos_release(text), release, "{text}");
        }
    }
}
