//! The machines that the project as it is typed replaces, compared with the commit that the change starts from.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;

use crossbeam_channel::{Sender, bounded, unbounded};

use crate::error::Error;
use crate::model::date::Date;
use crate::pipeline::compare::{self, Base, Sides};
use crate::read::Request;
use crate::report::impact::Machines;

use super::project::{Texts, read_project};

/// The machines that are replaced, by `cluster/pool`.
pub(super) type Rolls = BTreeMap<String, Machines>;

/// Finds the commits that changes start from, on a thread of its own: it runs git, which a sandbox forbids to threads that are
/// started later.
pub struct Bases {
    queries: Sender<Query>,
}

/// A project whose base is requested.
struct Query {
    request: Request,
    root: PathBuf,
    answer: Sender<Result<Base, Error>>,
}

impl Bases {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has none to spare.
    pub fn start() -> Result<Self, Error> {
        let (queries, received) = unbounded::<Query>();
        let started = thread::Builder::new().spawn(move || {
            let mut known: BTreeMap<PathBuf, Base> = BTreeMap::new();
            for query in received {
                let Query {
                    request,
                    root,
                    answer,
                } = query;
                let base = Base::open(&request, &root, None, "HEAD", known.get(&root));
                if let Ok(base) = &base {
                    known.insert(root, base.clone());
                }
                // Nobody waits for it any more where the server has ended.
                let _ = answer.send(base);
            }
        });
        started.map_err(|cause| Error::Thread { cause })?;
        Ok(Self { queries })
    }

    fn query(&self, request: &Request, root: PathBuf) -> Result<Base, Error> {
        let (answer, answered) = bounded(1);
        let request = request.clone();
        let query = Query {
            request,
            root,
            answer,
        };
        let gone = || Error::usage("the thread that runs git has ended");
        self.queries.send(query).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    }
}

/// The machines that a project with these texts replaces.
///
/// # Errors
/// There is no repository, or no commit to compare with; a file cannot be read.
pub(super) fn rolls(
    bases: &Bases,
    request: &Request,
    texts: &Texts,
    today: Date,
) -> Result<Rolls, Error> {
    let (location, after) = read_project(request, texts)?;
    let base = bases.query(request, location.root.clone())?;
    let sides = Sides::new(request, &location, base, after)?;
    let change = compare::sides(sides, today, |_, _| ())?;
    let mut rolls = Rolls::new();
    for cluster in &change.impact.clusters {
        let rolled =
            { cluster.pools.iter() }.filter_map(|pool| Some((pool, pool.machines_to_roll()?)));
        rolls.extend(rolled.map(|(pool, machines)| {
            let name = format!("{}/{}", cluster.cluster, pool.pool);
            (name, machines)
        }));
    }
    Ok(rolls)
}

/// How many machines these are, in words.
pub(super) fn words(machines: &[Machines]) -> Option<String> {
    let numbers = machines.iter().map(|machines| match machines {
        Machines::Number(number) => Some(*number),
        Machines::All => None,
    });
    match numbers.sum::<Option<u32>>() {
        Some(0) => None,
        Some(1) => Some("1 machine rolls".to_owned()),
        Some(number) => Some(format!("{number} machines roll")),
        None => Some("all machines roll".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Machines, words};

    #[test]
    fn machines_are_counted_where_their_number_is_known() {
        use Machines::{All, Number};
        assert_eq!(words(&[]), None);
        assert_eq!(words(&[Number(0)]), None);
        assert_eq!(words(&[Number(1)]).as_deref(), Some("1 machine rolls"));
        let both = words(&[Number(1), Number(2)]);
        assert_eq!(both.as_deref(), Some("3 machines roll"));
        let unknown = words(&[Number(1), All]);
        assert_eq!(unknown.as_deref(), Some("all machines roll"));
    }
}
