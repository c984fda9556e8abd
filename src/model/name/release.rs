//! A release of an operating system under all of its names: `noble`, `24.04`, `2404`.

/// A release under both of its names: annotations say `noble`, people write `24.04`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// `noble`; none for systems that only number their releases.
    pub codename: Option<String>,
    /// `24.04`, `15.6`; none for a codename that is not known here.
    pub version: Option<String>,
}

/// Codenames by system. Ubuntu's are what Sylva's annotations carry.
pub(super) const CODENAMES: [(&str, &str, &str); 9] = [
    ("ubuntu", "bionic", "18.04"),
    ("ubuntu", "focal", "20.04"),
    ("ubuntu", "jammy", "22.04"),
    ("ubuntu", "noble", "24.04"),
    ("ubuntu", "resolute", "26.04"),
    ("debian", "buster", "10"),
    ("debian", "bullseye", "11"),
    ("debian", "bookworm", "12"),
    ("debian", "trixie", "13"),
];

impl Release {
    /// Reads `noble`, `24.04`, `2404`, `15-6`. Without the system, a number gets no codename.
    pub fn read(os: Option<&str>, text: &str) -> Self {
        // `24.04 LTS` is `24.04`.
        let text = text.split_whitespace().next().unwrap_or_default();
        let text = text.to_ascii_lowercase();
        if !text.starts_with(|c: char| c.is_ascii_digit()) {
            let known = CODENAMES.iter().find(|(_, codename, _)| *codename == text);
            return Self {
                version: known.map(|(_, _, version)| (*version).to_owned()),
                codename: Some(text),
            };
        }
        let version = if is_year_and_month(&text) {
            format!("{}.{}", &text[..2], &text[2..])
        } else {
            text.replace('-', ".")
        };
        // `24.04.2` is noble too.
        let is_of = |number: &str| {
            let rest = version.strip_prefix(number);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let known = CODENAMES
            .iter()
            .find(|(system, _, number)| Some(*system) == os && is_of(number));
        Self {
            codename: known.map(|(_, codename, _)| (*codename).to_owned()),
            version: Some(version),
        }
    }

    /// What `os-release` says in annotations: the codename where there is one, else the number.
    pub fn label(&self) -> Option<&str> {
        self.codename.as_deref().or(self.version.as_deref())
    }

    /// Whether both mean one release: `24.04` and `noble`.
    pub fn is_same(&self, other: &Self) -> bool {
        let same = |left: &Option<String>, right: &Option<String>| left.is_some() && left == right;
        same(&self.codename, &other.codename) || same(&self.version, &other.version)
    }
}

/// Whether four digits are Ubuntu's year and month without their dot (`2204`), not a year as Windows and Amazon have it.
pub(super) fn is_year_and_month(text: &str) -> bool {
    let all_digits = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    all_digits && ("01"..="12").contains(&&text[2..])
}

#[cfg(test)]
mod tests {
    use super::Release;

    #[test]
    fn a_release_is_known_by_codename_and_number() {
        let ubuntu = |text| Release::read(Some("ubuntu"), text);
        assert!(ubuntu("24.04").is_same(&ubuntu("noble")));
        assert!(ubuntu("2204").is_same(&ubuntu("jammy")));
        assert!(!ubuntu("jammy").is_same(&ubuntu("noble")));
        let opensuse = |text| Release::read(Some("opensuse"), text);
        assert_eq!(opensuse("15-5").label(), Some("15.5"));
        assert_eq!(opensuse("tumbleweed").label(), Some("tumbleweed"));
    }

    #[test]
    fn a_year_is_no_year_and_month() {
        for (os, year) in [("windows", "2022"), ("amazon", "2023")] {
            assert_eq!(Release::read(Some(os), year).label(), Some(year));
        }
    }
}
