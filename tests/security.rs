//! docs/SECURITY.md: each threat names a test that is there.

use std::fs;

use super::support::{code, repository};

#[test]
fn every_threat_has_its_test() {
    let page = fs::read_to_string(repository().join("docs/SECURITY.md")).expect("the page");
    let lines = page.lines().filter(|line| line.ends_with("` |"));
    let tests = code::tests();
    let mut rows = 0;
    for line in lines {
        let test = line.rsplit('`').nth(1).expect("a name between backticks");
        assert!(tests.contains(test), "there is no test `{test}`: {line}");
        rows += 1;
    }
    assert!(rows > 30, "{rows} threats");
}
