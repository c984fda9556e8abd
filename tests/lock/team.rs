//! Twenty days of a team: two merge requests a day, made side by side, landed in every way that code hosts have.
//!
//! No two of a day are about one cluster, because git cannot know what its rendered file is then. Everything else has to merge, and
//! what git cannot merge of the lock, `metalmark lock` has to.

use std::fmt::Write as _;

use snapbox::str;

use super::{push, registry};
use crate::git::{commit, git};
use crate::support::stage::{Is, Stage, project};

const PROJECT: &str = "version: 1
values: [catalog-a.yaml, catalog-b.yaml, release.yaml]
clusters: [{each: clusters/*/values.yaml}]
registries: {mirrors: {registry.example.org/os: 'oci-layout:registry'}}
outputs:
  - {target: manifests, path: 'rendered/{{ cluster.name }}'}
  - {target: flux, path: rendered/flux}
";

/// The last part of the versions that the builder releases, the first of which is used on the first day.
const RELEASES: [&str; 4] = ["0.4.12", "0.4.13", "0.4.14", "0.4.15"];

/// Images by the letters of their keys, in the order in which they are added to the catalogs, the first two on the first day.
const LETTERS: &str = "ahbcdefgijkl";

/// What a merge request does.
#[derive(Clone, Debug, PartialEq)]
enum Work {
    Add(String),
    Delete(String),
    Rename(String),
    Image(String),
    Scale(String),
    /// Adds an image to one of the catalogs.
    Catalog(char),
    Release,
    Policy,
    /// Takes back what landed last.
    Revert,
}

impl Work {
    /// What all clusters are made of.
    fn is_shared(&self) -> bool {
        matches!(
            self,
            Self::Catalog(_) | Self::Release | Self::Policy | Self::Revert
        )
    }

    /// Whether two may be made side by side by people who do not talk.
    fn is_apart_from(&self, other: &Self) -> bool {
        let is_of_all = |work: &Self| matches!(work, Self::Release | Self::Revert);
        let touches_one = |work: &Self| !matches!(work, Self::Catalog(_) | Self::Add(_));
        let is_same = match (self.cluster(), other.cluster()) {
            (Some(one), Some(other)) => one == other,
            _ => self == other,
        };
        let meets = |one: &Self, other: &Self| is_of_all(one) && touches_one(other);
        !is_same && !meets(self, other) && !meets(other, self)
    }

    fn cluster(&self) -> Option<&str> {
        match self {
            Self::Add(name)
            | Self::Delete(name)
            | Self::Rename(name)
            | Self::Image(name)
            | Self::Scale(name) => Some(name),
            _ => None,
        }
    }
}

/// How a branch comes into main.
#[derive(Clone, Copy, Debug)]
enum Landing {
    Merge,
    Rebase,
    Squash,
    Pick,
}

const LANDINGS: [Landing; 4] = [
    Landing::Merge,
    Landing::Rebase,
    Landing::Squash,
    Landing::Pick,
];

struct Team {
    stage: Stage,
    /// The state of what is drawn.
    seed: u64,
    /// How many clusters, images and releases there were so far.
    clusters: usize,
    images: usize,
    releases: usize,
}

fn values(name: &str) -> String {
    format!("clusters/{name}/values.yaml")
}

impl Team {
    fn new(seed: u64) -> Option<Self> {
        let stage = project().file("metalmark.yaml", PROJECT);
        let mut layout = registry(&stage);
        for letter in LETTERS.chars() {
            for version in RELEASES {
                push(&mut layout, &format!("image-{letter}"), version, "a");
            }
        }
        let mut team = Self {
            stage,
            seed,
            clusters: 0,
            images: 0,
            releases: 0,
        };
        for catalog in ['a', 'b'] {
            team.stage.write(
                &format!("catalog-{catalog}.yaml"),
                "sylva_diskimagebuilder_images:\n",
            );
            team.edit(&Work::Catalog(catalog));
        }
        team.edit(&Work::Release);
        for _ in 0..5 {
            let name = team.name();
            team.edit(&Work::Add(name));
        }
        team.stage = team.stage.commit("Begin")?;
        for (name, value) in [
            ("user.name", "Author"),
            ("user.email", "author@example.org"),
        ] {
            git(team.stage.path(), &["config", name, value]);
        }
        team.stage.run("init").exit(0);
        team.settle();
        commit(team.stage.path(), "Render the clusters");
        Some(team)
    }

    /// A number below another one.
    fn draw(&mut self, below: usize) -> usize {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as usize % below
    }

    /// The name of a cluster that there never was: it begins with any letter, so that new ones have all kinds of neighbors.
    fn name(&mut self) -> String {
        self.clusters += 1;
        let letter = char::from(b'a' + self.draw(26) as u8);
        format!("{letter}-{}", self.clusters)
    }

    /// What somebody does next, by the clusters that there are.
    fn next(&mut self) -> Work {
        let there: Vec<String> = self.stage.list("clusters");
        let at = self.draw(there.len());
        let (cluster, _) = there[at].split_once('/').expect("a folder");
        let cluster = cluster.to_owned();
        match self.draw(12) {
            0 | 1 => Work::Add(self.name()),
            2 if there.len() > 4 => Work::Delete(cluster),
            3 | 4 => Work::Rename(cluster),
            5 | 6 => Work::Image(cluster),
            7 | 8 if self.images + 1 < LETTERS.len() => Work::Catalog(['a', 'b'][self.draw(2)]),
            9 if self.releases < RELEASES.len() => Work::Release,
            10 => Work::Policy,
            11 => Work::Revert,
            _ => Work::Scale(cluster),
        }
    }

    /// Does it in the work tree.
    fn edit(&mut self, work: &Work) {
        match work {
            Work::Add(name) => {
                let image = LETTERS.chars().next().expect("a letter");
                let text = format!(
                    "cluster:\n  name: {name}\n  k8s_version: v1.31.8+rke2r1\n  capi_providers:\n    infra_provider: capm3\n    \
                     bootstrap_provider: cabpr\n  capm3:\n    image_key: image-{image}\n  control_plane_replicas: 1\n"
                );
                self.stage.write(&values(name), text);
            }
            Work::Delete(name) => {
                self.stage.remove(&values(name));
            }
            Work::Rename(name) => {
                let (new, text) = (self.name(), self.stage.read(&values(name)));
                self.stage.remove(&values(name));
                self.stage.write(&values(&new), text.replace(name, &new));
            }
            Work::Image(name) => {
                let text = self.stage.read(&values(name));
                let (from, to) = if text.contains("image-a") {
                    ("image-a", "image-h")
                } else {
                    ("image-h", "image-a")
                };
                self.stage.edit(&values(name), from, to);
            }
            Work::Scale(name) => {
                let text = self
                    .stage
                    .read(&values(name))
                    .replace("replicas: ", "replicas: 1");
                self.stage.write(&values(name), text);
            }
            Work::Catalog(catalog) => {
                let file = format!("catalog-{catalog}.yaml");
                let letter = LETTERS.chars().nth(self.images).expect("an image");
                let line = format!("  image-{letter}: {{os_images_oci_registry: sylva}}\n");
                self.images += 1;
                self.stage.write(&file, self.stage.read(&file) + &line);
            }
            Work::Release => {
                let text = format!(
                    "os_images_oci_registries:\n  sylva:\n    url: oci://registry.example.org/os\n    tag: {}\n",
                    RELEASES[self.releases]
                );
                self.releases += 1;
                self.stage.write("release.yaml", text);
            }
            Work::Policy => {
                let text = self.stage.read("metalmark.yaml");
                let text = match text.split_once("policy:") {
                    Some((text, _)) => text.to_owned(),
                    None => text + "policy: {rules: {image-unused: off}}\n",
                };
                self.stage.write("metalmark.yaml", text);
            }
            Work::Revert => {
                let merged = git(self.stage.path(), &["rev-list", "--parents", "-n1", "main"]);
                let parent = if merged.split(' ').count() > 2 {
                    "-m1"
                } else {
                    "--no-edit"
                };
                git(
                    self.stage.path(),
                    &["revert", "--no-commit", parent, "main"],
                );
            }
        }
    }

    /// What everybody types after a conflict, and where main is red.
    fn settle(&self) {
        self.stage.run("lock").exit(0);
        self.stage.run("render --frozen").exit(0);
    }

    /// A branch with a merge request, as its author leaves it.
    fn request(&mut self, branch: &str, work: &Work) {
        git(
            self.stage.path(),
            &["checkout", "--quiet", "-B", branch, "main"],
        );
        self.edit(work);
        if work.is_shared() {
            self.stage.run("lock").exit(0);
        }
        self.stage.run("render --frozen").exit(0);
        commit(self.stage.path(), branch);
        git(self.stage.path(), &["checkout", "--quiet", "main"]);
    }

    /// Lands a branch. What git could not merge, all of it in the lock.
    fn land(&self, branch: &str, landing: Landing) -> Vec<String> {
        let (begin, end) = match landing {
            Landing::Merge => (
                format!("git merge --quiet --no-ff --no-edit {branch}"),
                "git commit --quiet --no-edit",
            ),
            Landing::Rebase => (
                format!("git checkout --quiet {branch} && git rebase --quiet main"),
                "git -c core.editor=true rebase --continue",
            ),
            Landing::Squash => (
                format!("git merge --quiet --squash {branch} && git commit --quiet -m squashed"),
                "git commit --quiet -m squashed",
            ),
            Landing::Pick => (
                format!("git cherry-pick {branch}"),
                "git -c core.editor=true cherry-pick --continue",
            ),
        };
        let landed = self.stage.shell(&begin).outcome;
        let mut unmerged = Vec::new();
        if landed.status != 0 {
            let listed = git(
                self.stage.path(),
                &["diff", "--name-only", "--diff-filter=U"],
            );
            unmerged.extend(listed.lines().map(str::to_owned));
            let is_lock = |path: &String| path.starts_with("metalmark.");
            assert!(
                !unmerged.is_empty() && unmerged.iter().all(is_lock),
                "{unmerged:?} {}",
                landed.stderr
            );
            self.settle();
            let end = self.stage.shell(&format!("git add --all && {end}")).outcome;
            assert_eq!(end.status, 0, "{}", end.stderr);
        }
        if matches!(landing, Landing::Rebase) {
            git(self.stage.path(), &["checkout", "--quiet", "-B", "main"]);
        }
        unmerged
    }

    /// A day, in a line: what was done, how it landed, what git could not merge, and whether main was red, with its cause.
    fn day(&mut self) -> String {
        let one = self.next();
        let other = loop {
            let other = self.next();
            if other.is_apart_from(&one) {
                break other;
            }
        };
        let mut line = String::new();
        self.request("one", &one);
        self.request("other", &other);
        for (branch, work) in [("one", &one), ("other", &other)] {
            let landing = LANDINGS[self.draw(4)];
            let unmerged = self.land(branch, landing);
            write!(line, "{work:?} by {landing:?}; ").expect("written");
            if !unmerged.is_empty() {
                write!(line, "merged {}; ", unmerged.join(", ")).expect("written");
            }
        }
        let check = self.stage.run("render --check --frozen").outcome;
        if check.status == 0 {
            line += "green";
        } else {
            assert!(
                one.is_shared() || other.is_shared(),
                "{line}{}{}",
                check.stdout,
                check.stderr
            );
            self.settle();
            assert_ne!(
                git(self.stage.path(), &["status", "--porcelain"]),
                "",
                "{line}{}",
                check.stderr
            );
            commit(self.stage.path(), "Render what met");
            line += "red until rendered";
        }
        line
    }
}

#[test]
fn a_team_of_twenty_days_meets_in_nothing_that_metalmark_writes() {
    let Some(mut team) = Team::new(48) else {
        return;
    };
    let mut days = String::new();
    for day in 1..=20 {
        if day == 11 {
            team.stage.remove(".gitattributes");
            commit(team.stage.path(), "Do without attributes");
        }
        writeln!(days, "{day}: {}", team.day()).expect("written");
    }
    days.is(str![[r#"
1: Rename("o-1") by Pick; Add("z-6") by Rebase; green
2: Add("v-8") by Rebase; Policy by Squash; green
3: Rename("k-4") by Squash; Catalog('a') by Pick; green
4: Catalog('a') by Squash; Image("s-7") by Rebase; green
5: Catalog('b') by Squash; Add("o-10") by Pick; green
6: Image("h-9") by Pick; Delete("z-6") by Merge; green
7: Catalog('a') by Pick; Catalog('b') by Squash; merged metalmark.lock; green
8: Rename("h-9") by Rebase; Catalog('a') by Merge; green
9: Image("o-10") by Merge; Delete("b-3") by Rebase; green
10: Image("s-11") by Squash; Image("i-2") by Rebase; green
11: Revert by Merge; Catalog('a') by Rebase; green
12: Catalog('b') by Pick; Delete("s-11") by Pick; green
13: Image("v-8") by Pick; Rename("n-5") by Squash; green
14: Release by Pick; Catalog('b') by Squash; merged metalmark.lock; green
15: Image("i-2") by Squash; Scale("o-10") by Squash; green
16: Scale("s-7") by Pick; Image("v-8") by Merge; green
17: Image("p-12") by Rebase; Rename("i-2") by Squash; green
18: Rename("v-8") by Pick; Add("b-14") by Pick; green
19: Scale("r-15") by Squash; Image("p-12") by Squash; green
20: Image("r-15") by Pick; Delete("o-10") by Pick; green

"#]]);
}
