//! Paths in the values, such as `cluster.machine_deployments.md0.capm3`.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// Keys and list indices from the root of the values. Cloning and extending are cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct Path(Option<Rc<Link>>);

#[derive(Debug)]
struct Link {
    parent: Path,
    step: PathStep,
    depth: u32,
}

#[derive(Debug)]
enum PathStep {
    Key(Arc<str>),
    Index(usize),
}

impl Path {
    /// The path of an entry of this map.
    pub(super) fn key(&self, key: &Arc<str>) -> Self {
        self.then(PathStep::Key(Arc::clone(key)))
    }

    /// The path of an item of this list.
    pub(super) fn index(&self, index: usize) -> Self {
        self.then(PathStep::Index(index))
    }

    /// The number of steps.
    pub(super) fn depth(&self) -> u32 {
        self.0.as_ref().map_or(0, |link| link.depth)
    }

    /// Whether the first steps are these keys.
    pub(super) fn begins_with(&self, keys: &[&str]) -> bool {
        let mut path = self;
        while let Some(link) = &path.0 {
            if link.depth as usize == keys.len() {
                return path.is(keys);
            }
            path = &link.parent;
        }
        false
    }

    /// Whether the steps are these keys.
    fn is(&self, keys: &[&str]) -> bool {
        match (&self.0, keys.split_last()) {
            (None, None) => true,
            (Some(link), Some((last, keys))) => {
                matches!(&link.step, PathStep::Key(own) if **own == **last) && link.parent.is(keys)
            }
            _ => false,
        }
    }

    fn then(&self, step: PathStep) -> Self {
        Self(Some(Rc::new(Link {
            parent: self.clone(),
            step,
            depth: self.depth() + 1,
        })))
    }
}

impl FromIterator<Arc<str>> for Path {
    fn from_iter<I: IntoIterator<Item = Arc<str>>>(keys: I) -> Self {
        keys.into_iter()
            .fold(Self::default(), |path, key| path.key(&key))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(link) = &self.0 else {
            return Ok(());
        };
        link.parent.fmt(f)?;
        match &link.step {
            PathStep::Index(index) => write!(f, "[{index}]"),
            PathStep::Key(key) => {
                if link.parent.0.is_some() {
                    f.write_str(".")?;
                }
                if key.contains('.') {
                    write!(f, "\"{key}\"")
                } else {
                    f.write_str(key)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Path;
    use std::sync::Arc;

    #[test]
    fn keys_with_dots_are_quoted() {
        let path: Path = ["a", "1.30"].map(Arc::from).into_iter().collect();
        assert_eq!(path.index(2).to_string(), "a.\"1.30\"[2]");
        assert!(path.begins_with(&["a"]) && path.begins_with(&["a", "1.30"]));
        assert!(!path.begins_with(&["1.30"]) && !path.begins_with(&["a", "1.30", "b"]));
    }
}
