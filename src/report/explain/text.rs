//! Explanations as text.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::pool::{CandidateAccount, FactAccount, PlacedValue};
use super::{ImageAccount, PoolAccount, RuleAccount};

/// A rule's page.
pub(super) fn rule(rule: &RuleAccount, out: &mut dyn Write) -> io::Result<()> {
    let level = rule.level.as_str();
    writeln!(
        out,
        "{} ({level} unless the policy says otherwise)\n",
        rule.rule
    )?;
    writeln!(out, "{}", rule.explanation.trim())
}

/// The pools of a cluster, one after the other.
pub(super) fn pools(pools: &[PoolAccount], out: &mut dyn Write) -> io::Result<()> {
    for (index, pool) in pools.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        self::pool(pool, out)?;
    }
    Ok(())
}

fn pool(pool: &PoolAccount, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}/{} boots {}", pool.cluster, pool.pool, pool.outcome)?;
    if let Some(version) = &pool.k8s_version {
        writeln!(out, "  Kubernetes {}", display_value(version))?;
    }
    writeln!(out, "  {}", pool.why)?;
    for unread in &pool.unread {
        let unread = display_value(unread);
        writeln!(out, "  what machines do at boot is not read: {unread}")?;
    }
    for level in &pool.levels {
        writeln!(out, "  {} says", level.path)?;
        for (name, value) in &level.sets {
            writeln!(out, "    {name}: {}", display_value(value))?;
        }
    }
    if !pool.selector.is_empty() {
        writeln!(out, "  the selector, with what the cluster adds")?;
        for (fact, value) in &pool.selector {
            let value = if value.at.is_none() {
                format!("{}  (from the cluster)", value.value)
            } else {
                display_value(value)
            };
            writeln!(out, "    {fact}: {value}")?;
        }
    }
    if !pool.candidates.is_empty() {
        writeln!(out, "  the images")?;
    }
    for candidate in &pool.candidates {
        self::candidate(candidate, out)?;
    }
    if let Some(other) = &pool.other_mode {
        writeln!(out, "  the other matching mode: {other}")?;
    }
    facts(&pool.facts, "  ", out)
}

fn candidate(candidate: &CandidateAccount, out: &mut dyn Write) -> io::Result<()> {
    if candidate.matches {
        return writeln!(out, "    + {}", candidate.key);
    }
    let differs = candidate.differs.iter().map(|differs| match &differs.has {
        Some(has) => format!("{} is {has}, not {}", differs.fact, differs.wanted),
        None => format!(
            "{} is not known, required is {}",
            differs.fact, differs.wanted
        ),
    });
    writeln!(
        out,
        "    - {}: {}",
        candidate.key,
        differs.collect::<Vec<_>>().join("; ")
    )
}

/// One image, or several that share a key.
pub(super) fn images(images: &[ImageAccount], out: &mut dyn Write) -> io::Result<()> {
    for (index, image) in images.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let uri = image.uri.as_deref().unwrap_or("no reference");
        writeln!(out, "{} ({uri})", image.image)?;
        facts(&image.facts, "  ", out)?;
        writeln!(out, "  used by: {}", list(&image.used_by))?;
        writeln!(out, "  served for: {}", list(&image.served_for))?;
    }
    Ok(())
}

fn facts(
    facts: &BTreeMap<String, FactAccount>,
    indent: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    if !facts.is_empty() {
        writeln!(out, "{indent}facts")?;
    }
    for (name, fact) in facts {
        let at = fact
            .at
            .as_ref()
            .map(|at| format!(", {at}"))
            .unwrap_or_default();
        writeln!(
            out,
            "{indent}  {name}: {}  ({}{at})",
            fact.value, fact.origin
        )?;
    }
    Ok(())
}

fn display_value(value: &PlacedValue) -> String {
    match &value.at {
        Some(at) => format!("{}  ({at})", value.value),
        None => value.value.clone(),
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        "nobody".to_owned()
    } else {
        names.join(", ")
    }
}
