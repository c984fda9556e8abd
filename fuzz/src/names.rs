//! A name of an image: read by every scheme, and written back as the name that says the same.

use metalmark::model::image::{Facts, is_valid_key};
use metalmark::model::name::{NameFacts, Release, SCHEMES, architecture, key_of};
use metalmark::model::version::Version;

pub(super) fn run(data: &[u8]) {
    let Ok(name) = std::str::from_utf8(data) else {
        return;
    };
    let _ = NameFacts::parse(name);
    let mut fitting = Vec::new();
    for scheme in SCHEMES {
        let Some(said) = scheme.read(name) else {
            continue;
        };
        fitting.push(scheme.id);
        if let Some(written) = scheme.name(&said) {
            assert_eq!(scheme.read(&written), Some(said), "{name} is {written}");
        }
        let _ = NameFacts::of(scheme, &Facts::default());
    }
    assert!(fitting.len() <= 1, "{name:?} fits {fitting:?}");
    if let Ok(key) = key_of(name) {
        assert_eq!(key_of(&key), Ok(key.clone()), "of {name:?}");
        assert!(is_valid_key(&key), "{key:?} of {name:?}");
    }
    let _ = (Release::read(None, name), architecture(name));
    if let Some(version) = Version::parse(name) {
        assert_eq!(Version::parse(name), Some(version));
    }
}
