//! The values of a chart with those of its dependencies, and which of these are switched on.
//!
//! Source: `processDependencyEnabled`, `processImportValues` and `coalesce` of Helm's pkg/chartutil.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use go_template::Engine;
use yaml_tree::merge;
use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Map, Node, Value};

use super::chart::{ChartTree, Dependency};

/// The key of the values that all dependencies of a chart share.
const GLOBAL: &str = "global";

/// A chart as it is rendered: with the dependencies that are switched on.
pub struct ChartRelease {
    /// The chart.
    pub chart: ChartTree,
    /// Its values, with those of each dependency below its key.
    pub values: Node,
    /// The key of a dependency at which there is no map, which Helm refuses.
    pub mismatch: Option<Arc<str>>,
}

impl ChartTree {
    /// The chart with values of its own and those of a user.
    pub fn with_values(&self, own: &Node, user: &Node, engine: Engine) -> ChartRelease {
        let over_chart = |own: &Node, user: &Node| merge::coalesce(own, user, engine).tree;
        let mismatch = find_mismatch(&over_chart(own, user), &self.dependencies, &over_chart);
        let root = layer_values(own, &self.dependencies, user, &over_chart);
        let dependencies = active_dependencies(&self.dependencies, Some(&root), &[]);
        let own = with_imports(own, &dependencies);
        ChartRelease {
            mismatch,
            values: layer_values(&own, &dependencies, user, &over_chart),
            chart: Self {
                dependencies,
                ..self.clone()
            },
        }
    }
}

impl ChartTree {
    /// The names of the dependencies that are not there, also of those below.
    pub fn missing(&self) -> Vec<&str> {
        let dependencies = self.dependencies.iter();
        let missing = dependencies.flat_map(|one| {
            let own = one.is_missing.then_some(&*one.key);
            own.into_iter().chain(one.chart.missing())
        });
        missing.collect()
    }

    /// Whether dependencies change the values of the chart, as far as their own values do.
    pub fn has_values_below(&self) -> bool {
        self.dependencies.iter().any(|one| {
            let own = one.chart.values.value.as_map();
            own.is_some_and(|own| !own.is_empty()) || one.chart.has_values_below()
        })
    }

    /// The same chart with values that are in no file.
    pub fn strip_places(&self) -> Self {
        let below = |one: &Dependency| Dependency {
            chart: Arc::new(one.chart.strip_places()),
            ..one.clone()
        };
        Self {
            values: self.values.with_places(&mut |_| Place::NONE),
            dependencies: self.dependencies.iter().map(below).collect(),
            ..self.clone()
        }
    }
}

impl Dependency {
    /// Whether it is switched on, by the values of the outermost chart. `above` is the path of the chart that depends on it.
    fn is_on(&self, root: &Node, above: &[&str]) -> bool {
        let flag = |path: &[&str]| match root.get_path(path)?.value {
            Value::Bool(flag) => Some(flag),
            _ => None,
        };
        let mut conditions = self.conditions.iter().map(|path| {
            let path = path.split('.');
            above.iter().copied().chain(path).collect::<Vec<_>>()
        });
        let tags = || {
            let flags = self.tags.iter().map(|tag| flag(&["tags", tag]));
            let flags: Vec<bool> = flags.flatten().collect();
            flags.is_empty() || flags.contains(&true)
        };
        conditions.find_map(|path| flag(&path)).unwrap_or_else(tags)
    }
}

/// The dependencies that are switched on, each with its own, and with the values that it imports. Below a chart that declares
/// none, nothing is switched off.
fn active_dependencies(all: &[Dependency], root: Option<&Node>, above: &[&str]) -> Vec<Dependency> {
    let root = root.filter(|_| all.iter().any(|one| one.is_declared));
    let all = { all.iter() }.filter(|one| root.is_none_or(|root| one.is_on(root, above)));
    let with_own = |one: &Dependency| {
        let path: Vec<&str> = above.iter().copied().chain([&*one.key]).collect();
        let dependencies = active_dependencies(&one.chart.dependencies, root, &path);
        let chart = ChartTree {
            values: with_imports(&one.chart.values, &dependencies),
            dependencies,
            ..(*one.chart).clone()
        };
        Dependency {
            chart: Arc::new(chart),
            ..one.clone()
        }
    };
    all.map(with_own).collect()
}

/// A chart's own values over what it imports of its dependencies.
fn with_imports(own: &Node, dependencies: &[Dependency]) -> Node {
    if dependencies.iter().all(|one| one.imports.is_empty()) {
        return own.clone();
    }
    let all = layer_values(own, dependencies, &empty(), &merge::merge);
    let (all, imported) = (Table::new(&all), Rc::new(Table::default()));
    for (dependency, import) in { dependencies.iter() }
        .flat_map(|dependency| dependency.imports.iter().map(move |one| (dependency, one)))
    {
        let path = { [&*dependency.key].into_iter() }.chain(import.child.split('.'));
        let Some(table) = all.find(path) else {
            continue;
        };
        let parent = import.parent.split('.').filter(|key| !key.is_empty());
        let table = parent
            .rev()
            .fold(table, |table, key| Rc::new(Table::holding(key, table)));
        imported.fill(&table);
    }
    // Helm copies these values, so that what fills them leaves what was imported as it is.
    let values = Table::new(&all.node());
    values.fill(&imported);
    values.node()
}

/// A map as Helm has it: one under several keys is changed under all of them.
#[derive(Default)]
struct Table(RefCell<BTreeMap<Arc<str>, TableEntry>>);

#[derive(Clone)]
struct TableEntry {
    /// Without what is in the table.
    entry: Entry,
    table: Option<Rc<Table>>,
}

impl Table {
    fn new(node: &Node) -> Rc<Self> {
        let entries = node.value.as_map().into_iter().flat_map(|map| map.iter());
        let entries = entries.map(|entry| {
            let is_map = entry.node.value.as_map().is_some();
            let own = TableEntry {
                entry: entry.clone(),
                table: is_map.then(|| Self::new(&entry.node)),
            };
            (Arc::clone(&entry.key), own)
        });
        Rc::new(Self(RefCell::new(entries.collect())))
    }

    fn holding(key: &str, table: Rc<Self>) -> Self {
        let own = TableEntry {
            entry: Entry::holding(key, empty()),
            table: Some(table),
        };
        Self(RefCell::new([(Arc::from(key), own)].into()))
    }

    /// The table at a path.
    fn find<'k>(self: &Rc<Self>, path: impl Iterator<Item = &'k str>) -> Option<Rc<Self>> {
        let mut table = Rc::clone(self);
        for key in path {
            let next = table.0.borrow().get(key)?.table.clone()?;
            table = next;
        }
        Some(table)
    }

    /// Adds what another one has and it has not (`MergeTables` of Helm's pkg/chartutil): the tables of the other one themselves.
    fn fill(&self, other: &Rc<Self>) {
        let added: Vec<TableEntry> = other.0.borrow().values().cloned().collect();
        for added in added {
            let known = self.0.borrow().get(&added.entry.key).cloned();
            match (known, &added.table) {
                (None, _) => {
                    let key = Arc::clone(&added.entry.key);
                    self.0.borrow_mut().insert(key, added);
                }
                (Some(known), Some(more)) => {
                    if let Some(own) = known.table.filter(|own| !Rc::ptr_eq(own, more)) {
                        own.fill(more);
                    }
                }
                _ => {}
            }
        }
    }

    fn node(&self) -> Node {
        let entries = self.0.borrow();
        let entries = entries.values().map(|TableEntry { entry, table }| {
            let node = match table {
                Some(table) => Node {
                    place: entry.node.place,
                    ..table.node()
                },
                None => entry.node.clone(),
            };
            Entry {
                node,
                ..entry.clone()
            }
        });
        Node::from_value(Value::from(entries.collect::<Map>()))
    }
}

/// A user's values over a chart's own ones and those of its dependencies. `over` lays one map over another.
fn layer_values(
    own: &Node,
    dependencies: &[Dependency],
    user: &Node,
    over: &dyn Fn(&Node, &Node) -> Node,
) -> Node {
    let mut values = over(own, user);
    for Dependency { key, chart, .. } in dependencies {
        let key: &str = key;
        // A null in both charts' values removes what the dependency has, so that it stays until then.
        let below = match (map_at(own, &[key]), map_at(user, &[key])) {
            (Some(own), Some(user)) => merge::merge(own, user),
            _ => map_at(&values, &[key]).cloned().unwrap_or_else(empty),
        };
        let below = with_global(below, values.get_path(&[GLOBAL]));
        let below = layer_values(&chart.values, &chart.dependencies, &below, over);
        values = with_entry(values, key, below);
    }
    values
}

/// The key of a dependency, whether it is on or not, at which these values have something else than a map (`coalesceDeps` in Helm's
/// pkg/chartutil).
fn find_mismatch(
    values: &Node,
    dependencies: &[Dependency],
    over: &dyn Fn(&Node, &Node) -> Node,
) -> Option<Arc<str>> {
    dependencies
        .iter()
        .find_map(|Dependency { key, chart, .. }| {
            let below = values.get_path(&[&**key])?;
            if below.value.as_map().is_none() {
                return Some(Arc::clone(key));
            }
            find_mismatch(&over(&chart.values, below), &chart.dependencies, over)
        })
}

/// The values of a dependency with the global ones of its chart, which are over its own. A map and another value do not replace
/// each other.
fn with_global(values: Node, global: Option<&Node>) -> Node {
    let none = empty();
    let own = values.get_path(&[GLOBAL]).unwrap_or(&none);
    let global = global.unwrap_or(&none);
    let (Some(_), Some(all)) = (own.value.as_map(), global.value.as_map()) else {
        return values;
    };
    let is_map = |node: &Node| node.value.as_map().is_some();
    let fits = |entry: &&Entry| {
        let replaced = own.get_path(&[&*entry.key]);
        replaced.is_none_or(|replaced| is_map(replaced) == is_map(&entry.node))
    };
    let fitting: Map = all.iter().filter(fits).cloned().collect();
    let global = Node {
        value: Value::from(fitting),
        place: global.place,
    };
    let global = merge::merge(own, &global);
    with_entry(values, GLOBAL, global)
}

fn empty() -> Node {
    Node::from_value(Value::empty_map())
}

fn map_at<'n>(node: &'n Node, path: &[&str]) -> Option<&'n Node> {
    node.get_path(path)
        .filter(|node| node.value.as_map().is_some())
}

/// A map with another value at a key.
fn with_entry(mut map: Node, key: &str, node: Node) -> Node {
    if map.value.as_map().is_none() {
        map.value = Value::empty_map();
    }
    if let Value::Map(entries) = &mut map.value {
        let entries = Arc::make_mut(entries);
        match entries.get_mut(key) {
            Some(old) => *old = node,
            None => drop(entries.insert(Entry::holding(key, node))),
        }
    }
    map
}
