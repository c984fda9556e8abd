//! The shapes that people write manifests in: only image, name, version and reference lines change, and what is stamped back is
//! as it was.

use std::collections::BTreeMap;

use proptest::prelude::{Strategy, any};
use snapbox::str;

use super::{noble, stamp};
use crate::support::stage::{Is, Stage, Texts, changes, project};
use crate::support::{property, rounds};

/// A template as most write it.
pub(super) const PLAIN: &str = include_str!("../../fixtures/stamp/shapes/01-plain.yaml");

fn shapes() -> Stage {
    project().folder("fixtures/stamp/shapes")
}

/// The changes of all files, each once below the places that have it: the new lines, and how many they replace where that is
/// another number.
fn by_change(before: &Texts, after: &Texts) -> String {
    let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let (mut place, mut old, mut new) = ("", 0, Vec::new());
    let all = changes(before, after);
    for line in all.lines().chain(["end"]) {
        match line.as_bytes()[0] {
            b'-' => old += 1,
            b'+' | b'\\' => new.push(line),
            _ => {
                let count = (old != new.len()).then(|| format!("-{old}"));
                let lines: Vec<&str> = count.as_deref().into_iter().chain(new.drain(..)).collect();
                places.entry(lines.join("\n")).or_default().push(place);
                (place, old) = (line, 0);
            }
        }
    }
    places.remove("");
    let mut all: Vec<_> = places.into_iter().collect();
    all.sort_by(|a, b| a.1.cmp(&b.1));
    let texts = all.into_iter();
    let texts = texts.map(|(lines, places)| format!("{}\n{lines}\n", places.join(" ")));
    texts.collect()
}

#[test]
fn every_shape_changes_only_in_its_image() {
    let stage = shapes();
    let before = stage.texts();
    stage.run("stamp --check").exit(1);
    assert_eq!(stage.texts(), before, "--check writes nothing");
    stamp(&stage, "");
    let after = stage.texts();
    let same = before.keys().filter(|path| before[*path] == after[*path]);
    assert_eq!(same.collect::<Vec<_>>(), ["metalmark.yaml"]);
    by_change(&before, &after).is(str![[r#"
01-plain.yaml:10 06-anchors.yaml:11 08-no-final-newline.yaml:10 09-two-documents.yaml:12 09-two-documents.yaml:25 13-v1beta2.yaml:10 14-selector.yaml:10 21-long-text-around.yaml:22 28-byte-order-mark.yaml:10 30-document-ends.yaml:11
+        url: https://images.example.org/noble-2.raw
+        checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
02-crlf.yaml:10
+        url: https://images.example.org/noble-2.raw\r
+        checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r
03-comments.yaml:12
+        url:   https://images.example.org/noble-2.raw   # the mirror
03-comments.yaml:15
+        checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef # old
04-flow.yaml:3
+  spec: {template: {spec: {image: {url: 'https://images.example.org/noble-2.raw', checksum: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", checksumType: sha256, format: raw}, hostSelector: {}}}}}
05-flow-image.yaml:9
+      image: {url: "https://images.example.org/noble-2.raw", checksum: '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef', checksumType: sha256, format: raw}
07-quoted-keys.yaml:10
+        "url": "https://images.example.org/noble-2.raw"
+        'checksum': '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'
10-list.yaml:13 10-list.yaml:25 29-merge-keys.yaml:24 29-merge-keys.yaml:37
+          url: https://images.example.org/noble-2.raw
+          checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
11-missing-image.yaml:10
-0
+      image:
+        checksum: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
+        checksumType: sha256
+        format: raw
+        url: https://images.example.org/noble-2.raw
12-partial-image.yaml:10
-1
+        url: "https://images.example.org/noble-2.raw"
+        checksum: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
+        checksumType: "sha256"
+        format: "raw"
13-v1beta2.yaml:13
+        diskFormat: raw
15-by-label.yaml:11
+        url: https://images.example.org/jammy-2.qcow2
+        checksum: fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210
15-by-label.yaml:14
+        format: qcow2
16-host.yaml:9
-2
+    checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
+    url: https://images.example.org/noble-2.raw
+    checksumType: sha256
+    format: raw
17-providers.yaml:103
+              - containerDisk: {image: "quay.io/capk/noble:2"}   # the disk
17-providers.yaml:11
-2
+        id: "8f1b2c3d-0000-4000-8000-000000000001"
17-providers.yaml:113
+      sourceNode: pve2
+      templateID: 102  # by number
17-providers.yaml:124
+      imageName: noble-2
17-providers.yaml:135
+        image: {url: "https://images.example.org/noble-2.tar.gz", name: noble-2}
17-providers.yaml:149
+      imageLookupFormat: 'registry.example.org/noble:2'
17-providers.yaml:155
+spec: {template: {spec: {customImage: "kindest/node:v1.34.2", extraMounts: []}}}
17-providers.yaml:166
+          customImage: kindest/node:v1.34.2
17-providers.yaml:177
+          imageUri: oci://registry.example.org/os@sha256:2222222222222222222222222222222222222222222222222222222222222222
17-providers.yaml:22
+      template:   "noble-2"
17-providers.yaml:34
+      ami: {id: ami-0a1b2c3d4e5f60718}
17-providers.yaml:45
+      id:    ami-0a1b2c3d4e5f60718
17-providers.yaml:57
+        computeGallery: {gallery: capi, name: noble, version: 1.34.2}
17-providers.yaml:65
+    image: {computeGallery: {gallery: capi, name: noble, version: "1.34.2"}}
17-providers.yaml:77
+      image: projects/capi/global/images/noble-2
17-providers.yaml:85
+  image: "projects/capi/global/images/noble-2"
19-topology-variable.yaml:12
+        value: https://images.example.org/noble-2.raw
19-topology-variable.yaml:14
+        value: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" # metalmark: image=noble field=checksum
22-helm-values-list.yaml:14 23-configmap.yaml:20 23-configmap.yaml:40 24-resource-set.yaml:25
+            url: https://images.example.org/noble-2.raw
+            checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
22-helm-values-list.yaml:23
+    spec: {template: {spec: {flavor: m1.large, image: {id: 8f1b2c3d-0000-4000-8000-000000000001}}}}
22-helm-values-list.yaml:25
+  url: "https://images.example.org/noble-2.raw"   # metalmark: image=noble field=url
22-helm-values-list.yaml:27
+  checksum: '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'
24-resource-set.yaml:42 25-helm-release.yaml:22
+              url: https://images.example.org/noble-2.raw
+              checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
25-helm-release.yaml:34
+            image: {url: 'https://images.example.org/noble-2.raw', checksum: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", checksumType: sha256, format: raw}
26-kustomize-patch.yaml:11
+      - {op: replace, path: /spec/template/spec/image/checksum, value: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef}
26-kustomize-patch.yaml:24
+              url:   https://images.example.org/noble-2.raw
+              checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
26-kustomize-patch.yaml:9
+        value: https://images.example.org/noble-2.raw   # metalmark: image=noble field=url
27-strategic-patch.yaml:5
+spec: {template: {spec: {image: {url: https://images.example.org/noble-2.raw, checksum: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", checksumType: sha256, format: raw}}}}
31-tags.yaml:10
+        url: !!str https://images.example.org/noble-2.raw
+        checksum: !!str "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
32-beyond-ascii.yaml:12
+        url: https://images.example.org/noble-2.raw # früher: noble-0
+        checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
33-tabs-in-comments.yaml:11
+        url: https://images.example.org/noble-2.raw	# tab
+        checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef   	# both
34-json.json:7
+			"url": "https://images.example.org/noble-2.raw",
+			"checksum": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "checksumType": "sha256",
35-folded-text-around.yaml:21
+          https://images.example.org/noble-2.raw
+        checksum: '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'
36-crlf-configmap.yaml:18
+            url: https://images.example.org/noble-2.raw\r
+            checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r
37-values-in-a-configmap.yaml:20
+                url: https://images.example.org/noble-2.raw
+                checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
37-values-in-a-configmap.yaml:25
+    imageURL: https://images.example.org/noble-2.raw
46-variables.yaml:12
+          url: "https://images.example.org/noble-2.raw"
+          checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
46-variables.yaml:21
+                value: https://images.example.org/noble-2.raw
46-variables.yaml:41
+      schema: {openAPIV3Schema: {type: string, default: "https://images.example.org/noble-2.raw"}}
46-variables.yaml:9
+      - {name: imageURL, value: https://images.example.org/noble-2.raw}

"#]]);
}

/// Stamps all files with that project file.
fn stamp_with(stage: &Stage, project: &str, words: &str) -> Texts {
    stage.write("metalmark.yaml", project);
    stage.run(&format!("stamp {words}")).exit(0);
    let mut files = stage.texts();
    files.remove("metalmark.yaml");
    files
}

/// The same images, each in another build.
fn next_build(project: &str) -> String {
    let texts = [
        ("noble-2", "noble-10"),
        ("jammy-2", "jammy-10"),
        ("noble:2", "noble:10"),
        ("0123456789abcdef", "f0e1d2c3b4a59687"),
        ("fedcba9876543210", "8796a5b4c3d2e1f0"),
        ("2222222222222222", "0000000000000003"),
        ("8f1b2c3d", "d41d8cd9"),
        ("ami-0a1b2c3d", "ami-ffffffff"),
        ("\"1.34.2\"", "\"1.34.3\""),
        ("v1.34.2", "v1.34.3"),
        ("\"102\"", "\"2103\""),
    ];
    let next = |text: String, (from, to): (&str, &str)| text.replace(from, to);
    texts.into_iter().fold(project.to_owned(), next)
}

#[test]
fn every_shape_comes_back_to_its_first_bytes() {
    let stage = shapes();
    let project = stage.read("metalmark.yaml");
    let next = next_build(&project);
    for words in ["", "--rotate --keep 0"] {
        // A name gets its hash with the first change.
        stamp_with(&stage, &next, words);
        let first = stamp_with(&stage, &project, words);
        let second = stamp_with(&stage, &next, words);
        for (path, text) in &first {
            assert_ne!(&second[path], text, "{path}");
        }
        assert_eq!(stamp_with(&stage, &project, words), first);
    }
}

/// The same template where people put it: in a file, in a block of a ConfigMap, in lists of Helm values.
fn place(text: &str, home: usize) -> String {
    let deeper = |pad: &str| {
        let lines = text.lines().map(|line| format!("{pad}{line}\n"));
        lines.collect::<String>()
    };
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n";
    match home {
        0 => text.to_owned(),
        1 => format!("{map}  a.yaml: |\n{}", deeper("    ")),
        2 => format!("{map}  a.yaml: |-\n{}  b: c\n", deeper("      ")),
        3 => format!("extra:\n- |+\n{}\n\n- b\n", deeper("     ")),
        _ => format!("extra:\n  -\n{}", deeper("    ")),
    }
}

/// How one template is written.
#[derive(Clone, Copy, Debug)]
struct Style {
    indent: usize,
    quote: &'static str,
    home: usize,
    has_comments: bool,
    is_crlf: bool,
    is_flow: bool,
    is_cut: bool,
}

fn style() -> impl Strategy<Value = Style> {
    let drawn = (1..5_usize, 0..3_usize, 0..5_usize, any::<[bool; 4]>());
    drawn.prop_map(
        |(indent, quote, home, [has_comments, is_crlf, is_flow, is_cut])| Style {
            indent,
            quote: ["", "'", "\""][quote],
            home,
            has_comments,
            is_crlf,
            is_flow,
            is_cut,
        },
    )
}

impl Style {
    fn eol(self) -> &'static str {
        if self.is_crlf { "\r\n" } else { "\n" }
    }

    /// A template, with that URL and that checksum.
    fn write(self, url: &str, checksum: &str) -> String {
        let quote = self.quote;
        let comment = if self.has_comments {
            "  # kept: \\{as it is"
        } else {
            ""
        };
        let pad = |depth: usize| " ".repeat(self.indent * depth);
        let (url, checksum) = (
            format!("{quote}{url}{quote}"),
            format!("{quote}{checksum}{quote}"),
        );
        let (one, two, three, four) = (pad(1), pad(2), pad(3), pad(4));
        let image = if self.is_flow {
            format!(
                "{three}image: {{url: {url}, checksum: {checksum}, checksumType: sha256, format: raw}}{comment}\n"
            )
        } else {
            format!(
                "{three}image:{comment}\n{four}url: {url}{comment}\n{four}checksum: {checksum}\n{four}checksumType: sha256\n{four}format: raw\n"
            )
        };
        let text = format!(
            "# metalmark: image=noble\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: {quote}Metal3MachineTemplate{quote}\n\
             metadata:{comment}\n{one}name: a\nspec:\n{one}template:\n{two}spec:\n{image}{three}nodes: [1, 2]{comment}\n"
        );
        let mut text = place(&text, self.home).replace('\n', self.eol());
        if self.is_cut {
            text.truncate(text.len() - self.eol().len());
        }
        text
    }
}

#[test]
fn in_every_style_a_stamp_writes_the_url_and_the_checksum_alone_and_is_the_last_one() {
    let sums = [noble(2), next_build(&noble(2))];
    let sums = sums
        .each_ref()
        .map(|text| text.split("sha256: ").nth(1).expect("a sum")[..64].to_owned());
    property(rounds(16, 256), &style(), |style| {
        let stage = project().file(
            "a.yaml",
            style.write("https://images.example.org/noble-1.raw", "ab"),
        );
        let texts = [(2, &sums[0]), (10, &sums[1])].map(|(build, sum)| {
            style.write(
                &format!("https://images.example.org/noble-{build}.raw"),
                sum,
            )
        });
        for (project, text) in [
            (noble(2), &texts[0]),
            (next_build(&noble(2)), &texts[1]),
            (noble(2), &texts[0]),
        ] {
            assert_eq!(
                stamp_with(&stage, &project, "")["a.yaml"],
                *text,
                "{style:?}"
            );
            stage.run("stamp --check").exit(0);
        }
    });
}
