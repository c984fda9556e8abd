//! A name of an image, read by every scheme: it fits one at most.

use capi::image::is_valid_key;
use metalmark::model::name::{NameFacts, Release, SCHEMES, architecture, key_of};
use metalmark::model::version::Version;

pub(super) fn run(data: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(data) else {
        return false;
    };
    let is_read = NameFacts::parse(name).is_some();
    let fits = SCHEMES.iter().filter(|scheme| scheme.read(name).is_some());
    let fitting: Vec<&str> = fits.map(|scheme| scheme.id).collect();
    assert!(fitting.len() <= 1, "{name:?} fits {fitting:?}");
    if let Ok(key) = key_of(name) {
        assert_eq!(key_of(&key), Ok(key.clone()), "of {name:?}");
        assert!(is_valid_key(&key), "{key:?} of {name:?}");
    }
    let _ = (Release::read(None, name), architecture(name));
    if let Some(version) = Version::parse(name) {
        assert_eq!(Version::parse(name), Some(version));
    }
    is_read
}
