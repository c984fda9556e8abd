//! Archives that an enemy made are refused, each with its reason; archives that others make are read.

mod layers;
mod written;

use oci_artifacts::archive::{Limits, ReadError, Reason, Tree, read};

use crate::support::tarball::{Tarball, gzip};

fn small() -> Limits {
    Limits {
        packed: 1 << 20,
        unpacked: 4 << 20,
        file: 1 << 20,
        entries: 100,
        names: 4096,
        path: 200,
        depth: 8,
        ratio: 50,
        ratio_from: 64 << 10,
        extension: 1024,
    }
}

fn taken(bytes: &[u8]) -> Tree {
    match read(bytes, small()) {
        Ok(tree) => tree,
        Err(error) => panic!("refused: {error:?}"),
    }
}

fn refused(bytes: &[u8]) -> Reason {
    match read(bytes, small()) {
        Ok(tree) => panic!("taken: {:?}", tree.files.keys()),
        Err(ReadError::Refused(refusal)) => refusal.reason,
        Err(ReadError::World(error)) => panic!("{error}"),
    }
}

fn content(tree: &Tree, path: &str) -> Vec<u8> {
    use oci_artifacts::Body;
    use std::io::Read;
    let mut bytes = Vec::new();
    let mut reader = tree.files[path].content.open().expect("kept");
    reader.read_to_end(&mut bytes).expect("kept");
    bytes
}

#[test]
fn names_that_lead_out_are_refused() {
    for path in [
        "/etc/passwd",
        "../a",
        "a/../../b",
        "..",
        "a\\..\\..\\b",
        "C:\\a",
        "\\\\host\\a",
    ] {
        let reason = refused(&Tarball::new().file(path, b"x").end());
        assert_eq!(reason, Reason::Outside, "{path}");
        let named = Tarball::new()
            .pax(b'x', &[("path", path)])
            .file("a", b"x")
            .end();
        assert_eq!(refused(&named), Reason::Outside, "{path}");
        let long = Tarball::new().entry(b'L', b"././@LongLink", "", path.as_bytes());
        assert_eq!(
            refused(&long.file("a", b"x").end()),
            Reason::Outside,
            "{path}"
        );
        let folder = Tarball::new().folder(path).end();
        assert_eq!(refused(&folder), Reason::Outside, "{path}");
    }
}

#[test]
fn names_that_some_system_cannot_hold_are_refused() {
    for path in [
        "nul",
        "a/COM1.txt",
        "a.",
        "a\nb",
        "ab:c",
        ".git/hooks/post-checkout",
        "a//b",
    ] {
        let reason = refused(&Tarball::new().file(path, b"x").end());
        assert!(
            matches!(reason, Reason::IllegalPath(_)),
            "{path}: {reason:?}"
        );
    }
    let latin = Tarball::new().entry(b'0', b"gr\xf6\xdfe", "", b"");
    assert_eq!(refused(&latin.end()), Reason::UnreadableName);
    let nul = Tarball::new().pax(b'x', &[("path", "a\0b")]).file("a", b"");
    assert_eq!(refused(&nul.end()), Reason::UnreadableName);
    let empty = Tarball::new().file("", b"");
    assert!(matches!(refused(&empty.end()), Reason::IllegalPath(_)));
}

#[test]
fn what_is_no_file_and_no_folder_is_refused() {
    let kinds = [
        (b'2', Reason::SymbolicLink("b".to_owned())),
        (b'3', Reason::Special("character device")),
        (b'4', Reason::Special("block device")),
        (b'6', Reason::Special("named pipe")),
        (b'S', Reason::Sparse),
        (b'V', Reason::UnknownType("V".to_owned())),
        (0xff, Reason::UnknownType("\\u{ff}".to_owned())),
    ];
    for (kind, reason) in kinds {
        assert_eq!(refused(&Tarball::new().link(kind, "a", "b").end()), reason);
    }
    let sparse = Tarball::new()
        .pax(b'x', &[("GNU.sparse.major", "1")])
        .file("a", b"x");
    assert_eq!(refused(&sparse.end()), Reason::Sparse);
}

#[test]
fn a_hard_link_is_the_file_before_it_or_nothing() {
    let inside = Tarball::new()
        .file("a", b"text")
        .link(b'1', "b/c", "./a")
        .end();
    let tree = taken(&inside);
    assert_eq!(content(&tree, "b/c"), b"text");
    for target in ["/etc/passwd", "../a", "later", "b", ""] {
        let out = Tarball::new()
            .folder("b")
            .link(b'1', "a", target)
            .file("later", b"");
        assert!(
            matches!(refused(&out.end()), Reason::HardLink(_)),
            "{target}"
        );
    }
    let with_content = Tarball::new()
        .file("a", b"")
        .entry(b'1', b"b", "a", b"content");
    assert!(matches!(refused(&with_content.end()), Reason::Malformed(_)));
}

#[test]
fn a_symbolic_link_is_the_file_that_it_leads_to_or_nothing() {
    let inside = Tarball::new()
        .link(b'2', "bin/a", "../lib/a.so")
        .link(b'2', "lib/a.so", "a.so.1")
        .file("lib/a.so.1", b"text")
        .end();
    let tree = taken(&inside);
    for path in ["bin/a", "lib/a.so", "lib/a.so.1"] {
        assert_eq!(content(&tree, path), b"text", "{path}");
    }
    for target in ["/etc/passwd", "../a", "nowhere", "folder", "a", "b", ""] {
        let out = Tarball::new()
            .folder("folder")
            .link(b'2', "a", target)
            .link(b'2', "b", "a");
        let reason = refused(&out.end());
        assert!(
            matches!(reason, Reason::SymbolicLink(_)),
            "{target}: {reason:?}"
        );
    }
    let long = |count: usize| {
        let links = (0..count).fold(Tarball::new(), |tar, number| {
            tar.link(b'2', &format!("l{number}"), &format!("l{}", number + 1))
        });
        links.file(&format!("l{count}"), b"text").end()
    };
    assert_eq!(content(&taken(&long(40)), "l0"), b"text");
    assert_eq!(refused(&long(41)), Reason::SymbolicLink("l1".to_owned()));
    let twice = Tarball::new()
        .file("f", b"")
        .link(b'2', "a", "f")
        .link(b'2', "a", "f");
    assert_eq!(refused(&twice.end()), Reason::Duplicate);
    for both in [
        Tarball::new()
            .file("f", b"")
            .link(b'2', "a", "f")
            .file("a", b""),
        Tarball::new()
            .file("f", b"")
            .file("a", b"")
            .link(b'2', "a", "f"),
    ] {
        assert_eq!(refused(&both.end()), Reason::Duplicate);
    }
    let below = Tarball::new()
        .file("f", b"")
        .link(b'2', "a", "f")
        .file("a/b", b"");
    assert_eq!(refused(&below.end()), Reason::FileAndFolder);
}

/// A link has no bytes in the archive, and a file's when it is unpacked.
#[test]
fn links_count_as_the_files_that_they_become() {
    let large = vec![b'x'; 600 << 10];
    for kind in [b'1', b'2'] {
        let links = |count: usize| {
            let tar = Tarball::new().file("f", &large);
            let linked = (0..count).fold(tar, |tar, n| tar.link(kind, &format!("l{n}"), "f"));
            linked.end()
        };
        assert_eq!(taken(&links(5)).files.len(), 6);
        assert_eq!(refused(&links(6)), Reason::UnpackedTooLarge(4 << 20));
    }
}

#[test]
fn a_path_occurs_once_and_is_one_thing() {
    let twice = Tarball::new().file("a/b", b"1").file("./a/b", b"2").end();
    assert_eq!(refused(&twice), Reason::Duplicate);
    for both in [
        Tarball::new().file("a", b"").file("a/b", b""),
        Tarball::new().file("a/b", b"").file("a", b""),
        Tarball::new().folder("a").file("a", b""),
        Tarball::new().file("a", b"").folder("a"),
    ] {
        assert_eq!(refused(&both.end()), Reason::FileAndFolder);
    }
    assert_eq!(
        taken(&Tarball::new().folder("a").folder("a/").end())
            .folders
            .len(),
        1
    );
}

#[test]
fn limits_are_reported_with_their_numbers() {
    let many = (0..101).fold(Tarball::new(), |tar, n| tar.file(&format!("f{n}"), b""));
    assert_eq!(refused(&many.end()), Reason::TooManyEntries(100));
    let long = "x/".repeat(101);
    let long = Tarball::new().pax(b'x', &[("path", &long)]).file("a", b"");
    assert_eq!(refused(&long.end()), Reason::PathTooLong(200));
    assert_eq!(
        refused(&Tarball::new().file("a/b/c/d/e/f/g/h/i", b"").end()),
        Reason::TooDeep(8)
    );
    let huge = Tarball::new().lying("a", "77777777777", b"");
    assert_eq!(refused(&huge.end()), Reason::FileTooLarge(1 << 20));
    let large = Tarball::new().lying("a", "\u{0}", b"").end();
    assert!(matches!(refused(&large), Reason::Malformed(_)));
    let names = (0..60).fold(Tarball::new(), |tar, n| {
        tar.file(&format!("{n}{}", "x".repeat(90)), b"")
    });
    assert_eq!(refused(&names.end()), Reason::NamesTooLong(4096));
    let deep = (0..90).fold(Tarball::new(), |tar, n| {
        tar.file(&format!("{n:0>20}/b/c/d/e/f/g/h"), b"")
    });
    assert_eq!(refused(&deep.end()), Reason::NamesTooLong(4096));
    let extension = Tarball::new()
        .entry(b'L', b"", "", &[b'x'; 1025])
        .file("a", b"");
    assert_eq!(refused(&extension.end()), Reason::ExtensionTooLarge(1024));
    let bytes = [b'x'; 1 << 20];
    let total = (0..5).fold(Tarball::new(), |tar, n| tar.file(&format!("f{n}"), &bytes));
    assert_eq!(refused(&total.end()[..]), Reason::PackedTooLarge(1 << 20));
}

#[test]
fn what_unpacks_beyond_measure_is_refused_while_it_unpacks() {
    let zeros = vec![0; 1 << 20];
    let bomb = (0..3)
        .fold(Tarball::new(), |tar, n| tar.file(&format!("f{n}"), &zeros))
        .end();
    assert_eq!(refused(&gzip(&bomb)), Reason::Ratio(50));
    let patient = Limits {
        ratio: 100_000,
        ..small()
    };
    let add_behind = |length| Tarball::new().file("a", b"x").raw(&vec![0; length]).end();
    // What no file has is counted too.
    let read = read(&gzip(&add_behind(5 << 20))[..], patient).map(|_| ());
    let Err(ReadError::Refused(refusal)) = read else {
        panic!("taken");
    };
    assert_eq!(refusal.reason, Reason::UnpackedTooLarge(4 << 20));
    assert_eq!(refused(&gzip(&add_behind(2 << 20))), Reason::Ratio(50));
}

#[test]
fn a_stream_that_is_cut_anywhere_is_refused() {
    let tar = Tarball::new()
        .file("a/b", b"some text")
        .file("c", &[7; 700])
        .end();
    for end in (0..tar.len() - 512).step_by(37) {
        let reason = refused(&tar[..end]);
        assert!(
            matches!(reason, Reason::Truncated | Reason::NotTar),
            "{end}: {reason:?}"
        );
    }
    let packed = gzip(&tar);
    for end in 2..packed.len() {
        let reason = refused(&packed[..end]);
        assert!(matches!(reason, Reason::Truncated), "{end}: {reason:?}");
    }
}

/// As umoci writes its layers.
#[test]
fn an_archive_without_its_end_is_taken_where_gzip_proves_that_it_is_whole() {
    let tar = Tarball::new().file("a", b"text").end();
    for end in [512 + 4, 1024] {
        assert_eq!(content(&taken(&gzip(&tar[..end])), "a"), b"text");
        assert_eq!(refused(&tar[..end]), Reason::Truncated);
    }
    assert_eq!(refused(&gzip(&tar[..512 + 5])), Reason::Truncated);
    assert_eq!(refused(&gzip(&tar[..512 + 3])), Reason::Truncated);
}

#[test]
fn broken_streams_are_refused() {
    let tar = Tarball::new().file("a", b"some text").end();
    let packed = gzip(&tar);
    for (index, _) in packed.iter().enumerate().skip(10) {
        let mut broken = packed.clone();
        broken[index] ^= 0x55;
        // The last bits of a deflate stream mean nothing.
        if let Ok(tree) = read(&broken[..], small()) {
            assert_eq!(content(&tree, "a"), b"some text");
        }
    }
    assert_eq!(refused(b""), Reason::NotTar);
    assert_eq!(refused(&[b'x'; 5000]), Reason::NotTar);
    assert_eq!(
        refused(&[0x28, 0xb5, 0x2f, 0xfd, 0]),
        Reason::Compression("zstd")
    );
    assert_eq!(refused(b"\xfd7zXZ\0\0"), Reason::Compression("xz"));
    assert_eq!(refused(b"BZh9"), Reason::Compression("bzip2"));
    let sum = Tarball::new().file("a", b"x").raw(&[b'x'; 512]).end();
    assert!(matches!(refused(&sum), Reason::Malformed(_)));
}

#[test]
fn text_behind_the_end_is_refused() {
    let tar = Tarball::new().file("a", b"text").end();
    assert_eq!(refused(&[&tar[..], b"x"].concat()), Reason::Trailing);
    let hidden = Tarball::new().file("b", b"hidden").end();
    assert_eq!(refused(&[&tar[..], &hidden].concat()), Reason::Trailing);
    let packed = gzip(&tar);
    assert_eq!(refused(&[&packed[..], b"x"].concat()), Reason::Trailing);
    assert_eq!(
        refused(&[&packed[..], &gzip(&hidden)].concat()),
        Reason::Trailing
    );
    taken(&[&packed[..], &gzip(&[0; 5000])].concat());
}

#[test]
fn gzip_in_several_members_is_one_stream() {
    let tar = Tarball::new().file("a", b"text").file("b", b"more").end();
    let (one, other) = tar.split_at(700);
    let tree = taken(&[gzip(one), gzip(b""), gzip(other)].concat());
    assert_eq!(content(&tree, "b"), b"more");
}

#[test]
fn headers_that_two_readers_would_read_in_two_ways_are_refused() {
    let sizes = Tarball::new()
        .pax(b'x', &[("size", "0")])
        .file("a", &[0; 512]);
    assert!(matches!(refused(&sizes.end()), Reason::Malformed(_)));
    let names = Tarball::new()
        .entry(b'L', b"", "", b"one")
        .entry(b'L', b"", "", b"two");
    assert!(matches!(
        refused(&names.file("a", b"").end()),
        Reason::Malformed(_)
    ));
    let records = Tarball::new()
        .pax(b'x', &[("path", "b")])
        .pax(b'x', &[("path", "c")]);
    assert!(matches!(
        refused(&records.file("a", b"").end()),
        Reason::Malformed(_)
    ));
    let global = Tarball::new().pax(b'g', &[("path", "b")]).file("a", b"");
    assert!(matches!(refused(&global.end()), Reason::Malformed(_)));
    let cut = Tarball::new().entry(b'0', b"a\0b", "", b"");
    assert!(matches!(refused(&cut.end()), Reason::UnreadableName));
    let long = Tarball::new().entry(b'L', b"", "", b"a\0b\0");
    assert!(matches!(
        refused(&long.file("a", b"").end()),
        Reason::UnreadableName
    ));
    let folder = Tarball::new().entry(b'5', b"a", "", &[0; 512]);
    assert!(matches!(refused(&folder.end()), Reason::Malformed(_)));
    let last = Tarball::new().file("a", b"").pax(b'x', &[("path", "b")]);
    assert!(matches!(refused(&last.end()), Reason::Malformed(_)));
}

#[test]
fn long_names_are_read_as_both_formats_write_them() {
    let long = format!("{}/{}", "x".repeat(90), "y".repeat(90));
    let gnu = Tarball::new().entry(b'L', b"././@LongLink", "", format!("{long}\0").as_bytes());
    assert!(
        taken(&gnu.file("cut", b"1").end())
            .files
            .contains_key(&long)
    );
    let pax = Tarball::new().pax(b'g', &[("comment", "0123")]);
    let pax = pax.pax(b'x', &[("mtime", "1.5"), ("path", &long), ("size", "1")]);
    assert!(
        taken(&pax.file("cut", b"1").end())
            .files
            .contains_key(&long)
    );
}
