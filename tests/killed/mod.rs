//! Whatever ends a run, at any moment: each file is whole, old or new; nothing foreign is touched; the next run puts all in
//! order and leaves no litter.
//!
//! Each command is killed a few times; 30 times where `METALMARK_LONG` is 1, N times as often where it is N.
//! `METALMARK_KILL_SEED` draws other moments.

pub(crate) mod case;
mod meanwhile;
mod no_room;
mod streams;
mod system_calls;
mod together;

use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use metalmark::model::manifest::{OWNERSHIP_FILE, RUN_FILE, STAGED};

use tempfile::TempDir;

use crate::support::{copy_of, is_long, rounds};
use case::{CASES, Case, Tree, tree};

/// What a command makes of its workspace where nothing disturbs it.
pub(crate) struct Undisturbed {
    pristine: TempDir,
    before: Tree,
    after: Tree,
    status: Option<i32>,
    took: Duration,
}

pub(crate) fn undisturbed(case: &Case) -> Undisturbed {
    let pristine = (case.workspace)();
    let workspace = copy_of(pristine.path());
    let before = tree(workspace.path());
    let start = Instant::now();
    let (status, said) = case.run(workspace.path());
    let took = start.elapsed();
    assert!(
        status.is_some_and(|status| status < 2),
        "{}: {said}",
        case.name
    );
    let after = tree(workspace.path());
    assert_ne!(before, after, "{}: there is something to do", case.name);
    let edited = |tree: &Tree| tree.get(&Path::new(case.within).join(case.edits)).cloned();
    assert_ne!(edited(&before), edited(&after), "{}", case.name);
    Undisturbed {
        pristine,
        before,
        after,
        status,
        took,
    }
}

/// What is neither old nor new, and no run leaves behind for good.
pub(crate) fn is_litter(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(STAGED) || name == RUN_FILE
}

impl Undisturbed {
    /// The workspace, as it was before any run.
    pub(crate) fn fresh(&self) -> TempDir {
        copy_of(self.pristine.path())
    }

    /// Every file is whole; none is missing that should stay.
    pub(crate) fn assert_whole(&self, left: &Tree, reported: &str) {
        for (path, standing) in left.iter().filter(|(path, _)| !is_litter(path)) {
            let is_unfinished = path.ends_with(OWNERSHIP_FILE)
                && String::from_utf8_lossy(&standing.0).contains("# unfinished")
                && standing.0.ends_with(b"\n");
            let is_whole = [&self.before, &self.after]
                .iter()
                .any(|tree| tree.get(path) == Some(standing));
            let text = String::from_utf8_lossy(&standing.0);
            assert!(
                is_whole || is_unfinished,
                "{reported}: {}:\n{text}",
                path.display()
            );
        }
        for path in self
            .before
            .keys()
            .filter(|path| self.after.contains_key(*path))
        {
            assert!(
                left.contains_key(path),
                "{reported}: {} is gone",
                path.display()
            );
        }
    }

    /// The next run completes, with the bytes of one that nothing disturbed.
    pub(crate) fn assert_fixed(&self, case: &Case, workspace: &Path, reported: &str) {
        let (status, said) = case.run(workspace);
        assert_eq!(status, self.status, "{reported}: the next run: {said}");
        let repaired = tree(workspace);
        let names = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&repaired), names(&self.after), "{reported}");
        assert!(repaired == self.after, "{reported}: other bytes");
    }
}

/// SplitMix64: small, and the same on each machine (<https://prng.di.unimi.it/splitmix64.c>).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded(more: &str) -> Self {
        let given = std::env::var("METALMARK_KILL_SEED").ok();
        let seed: u64 = given.and_then(|seed| seed.parse().ok()).unwrap_or(1);
        say(&format!("METALMARK_KILL_SEED={seed}"));
        let mixed = more.bytes().fold(seed, |sum: u64, byte| {
            sum.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        Self(mixed)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }
}

#[expect(
    clippy::print_stdout,
    reason = "the drawn case is printed where a test fails"
)]
fn say(text: &str) {
    println!("{text}");
}

/// When a run is ended.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// That long after its start.
    AfterStart(Duration),
    /// That long after it began to write.
    AfterFirstWrite(Duration),
}

impl Moment {
    /// Half of them anywhere in the run, half of them while it writes, the early ones oftener.
    fn draw(random: &mut Random, took: Duration) -> Self {
        let run = u64::try_from(took.as_micros()).expect("a short run");
        match random.below(2) {
            0 => Self::AfterStart(Duration::from_micros(random.below(run * 5 / 4))),
            _ => {
                let scale = random.below(14);
                Self::AfterFirstWrite(Duration::from_micros(random.below(1 << scale)))
            }
        }
    }

    fn wait(self, child: &mut Child, root: &Path) {
        let pause = match self {
            Self::AfterStart(pause) => pause,
            Self::AfterFirstWrite(pause) => {
                let file = root.join(RUN_FILE);
                while !file.exists() && child.try_wait().expect("a child").is_none() {}
                pause
            }
        };
        let start = Instant::now();
        if pause > Duration::from_millis(1) {
            std::thread::sleep(pause)
        } else {
            while start.elapsed() < pause {}
        }
    }
}

fn signal(child: &Child, name: &str) {
    let process = child.id().to_string();
    // It may have ended by itself.
    let kill = Command::new("kill").args(["-s", name, &process]).output();
    kill.expect("kill runs");
}

fn killed(name: &str) {
    let case = CASES.iter().find(|case| case.name == name).expect("a case");
    let calm = undisturbed(case);
    let mut random = Random::seeded(name);
    let (mut ended, mut writing) = (0, 0);
    let kills = rounds(5, 30);
    for kill in 0..kills {
        let workspace = calm.fresh();
        let moment = Moment::draw(&mut random, calm.took);
        let reported = format!("{name}, kill {kill}, {moment:?}");
        let mut child = case.command(workspace.path()).spawn().expect("it starts");
        moment.wait(&mut child, &case.root(workspace.path()));
        // It may have ended by itself.
        let _ = child.kill();
        ended += u64::from(child.wait().expect("it ends").code().is_none());
        let left = tree(workspace.path());
        calm.assert_whole(&left, &reported);
        writing += u64::from(left.keys().any(|path| is_litter(path)));
        calm.assert_fixed(case, workspace.path(), &reported);
    }
    say(&format!(
        "{name}: {kills} kills, {ended} before its end, {writing} while it wrote"
    ));
    assert!(ended > kills / 8, "the kills come too late");
    // Of a few, none may meet it.
    assert!(
        !is_long() || writing > kills / 20,
        "the kills miss the writing"
    );
}

#[test]
fn render_is_killed() {
    killed("render");
}

#[test]
fn lock_is_killed() {
    killed("lock");
}

#[test]
fn update_is_killed() {
    killed("update");
}

#[test]
fn stamp_is_killed() {
    killed("stamp");
}

#[test]
fn stamp_rotate_is_killed() {
    killed("stamp --rotate");
}

#[test]
fn check_fix_is_killed() {
    killed("check --fix");
}

#[test]
fn every_command_of_the_table_is_killed() {
    let tested = [
        "render",
        "lock",
        "update",
        "stamp",
        "stamp --rotate",
        "check --fix",
        // Too short to be met by chance: `system_calls` meets each of its writes.
        "bundle unpack",
    ];
    let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    assert_eq!(names, tested);
}

#[test]
fn a_termination_signal_ends_a_run_as_it_ends_any_program() {
    use std::os::unix::process::ExitStatusExt;
    for (turn, (name, number)) in [("INT", 2), ("TERM", 15), ("HUP", 1)]
        .into_iter()
        .enumerate()
    {
        let mut random = Random::seeded(name);
        // Each signal meets each command in the long form.
        let is_met = |(index, _): &(usize, &Case)| is_long() || index % 3 == turn;
        for (_, case) in CASES.iter().enumerate().filter(is_met) {
            let calm = undisturbed(case);
            let workspace = calm.fresh();
            let mut child = case.command(workspace.path()).spawn().expect("it starts");
            let pause = Duration::from_micros(random.below(500));
            Moment::AfterFirstWrite(pause).wait(&mut child, &case.root(workspace.path()));
            signal(&child, name);
            let status = child.wait().expect("it ends");
            let reported = format!("{}, {name}: {status}", case.name);
            assert!(
                status.signal() == Some(number)
                    || (status.code().is_some() && status.code() == calm.status),
                "{reported}"
            );
            calm.assert_whole(&tree(workspace.path()), &reported);
            calm.assert_fixed(case, workspace.path(), &reported);
        }
    }
}
