//! Parses patterns of Go into the engine's representation.

use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{
    Ast, ClassBracketed, ClassSet, ClassSetItem, GroupKind, RepetitionKind, RepetitionRange, Span,
};
use regex_syntax::hir::Hir;
use regex_syntax::hir::translate::Translator;

use super::rewrite::{Rewritten, rewrite};
use super::{Error, error};

/// A parsed pattern.
pub(super) struct Parsed {
    /// The expression in the engine's representation.
    pub(super) hir: Hir,
    /// The names of the groups. The first one is the whole match, which has no name.
    pub(super) names: Vec<Option<String>>,
}

/// The maximum nesting of expressions, because the engine's compiler recurses. Go's limit is 1000.
const DEPTH_LIMIT: u32 = 250;

/// Go's limit on the number of repetitions, with nested repetitions multiplied.
const REPEAT_LIMIT: u32 = 1000;

/// Parses a pattern.
pub(super) fn pattern(text: &str) -> Result<Parsed, Error> {
    let Rewritten { text, names } = rewrite(text)?;
    let mut parser = ParserBuilder::new();
    // Brackets that only group are levels to the parser, and nothing to the compiler.
    let mut parser = parser.nest_limit(4 * DEPTH_LIMIT).octal(true).build();
    let parsed = parser.parse(&text);
    let mut ast = parsed.map_err(|refused| error(refused.kind().to_string()))?;
    prepare(&mut ast)?;
    let hir = Translator::new().translate(&text, &ast);
    Ok(Parsed {
        hir: hir.map_err(|refused| error(refused.kind().to_string()))?,
        names,
    })
}

/// What a part of a pattern is made of.
struct Shape {
    depth: u32,
    /// The product of the nested repetitions inside.
    repeats: u32,
    /// Whether all matches have as many characters.
    is_fixed: bool,
}

/// Refuses what nests or repeats too much, and makes alternations safe to translate.
fn prepare(ast: &mut Ast) -> Result<Shape, Error> {
    let shape = match ast {
        Ast::Repetition(repetition) => {
            let inner = prepare(&mut repetition.ast)?;
            let (is_fixed, times) = match &repetition.op.kind {
                RepetitionKind::Range(RepetitionRange::Exactly(times)) => (true, Some(*times)),
                RepetitionKind::Range(RepetitionRange::Bounded(_, most)) => (false, Some(*most)),
                RepetitionKind::Range(RepetitionRange::AtLeast(least)) => {
                    (false, Some(*least).filter(|least| *least > 0))
                }
                _ => (false, None),
            };
            let repeats = match times {
                None => inner.repeats,
                Some(0) => 0,
                Some(times) => inner.repeats.saturating_mul(times).max(times),
            };
            if repeats > REPEAT_LIMIT && times > Some(1) {
                let message = format!("repetition of more than {REPEAT_LIMIT} times, or backwards");
                return Err(error(message));
            }
            Shape {
                depth: inner.depth + 1,
                repeats,
                is_fixed: inner.is_fixed && is_fixed,
            }
        }
        Ast::Group(group) => {
            let inner = prepare(&mut group.ast)?;
            let is_captured = !matches!(group.kind, GroupKind::NonCapturing(_));
            Shape {
                depth: inner.depth + u32::from(is_captured),
                ..inner
            }
        }
        Ast::Concat(concat) => join(&mut concat.asts)?,
        Ast::Alternation(alternation) => {
            let joined = join(&mut alternation.asts)?;
            // The translator would turn `.*a|.*b` into `.*(?:a|b)`, and thereby prefer the longest `.*` to the first
            // alternative. If the length of an alternative varies, one that never matches prevents that.
            if !joined.is_fixed {
                alternation.asts.push(never(alternation.span));
            }
            Shape {
                is_fixed: false,
                ..joined
            }
        }
        _ => Shape {
            depth: 1,
            repeats: 1,
            is_fixed: true,
        },
    };
    if shape.depth > DEPTH_LIMIT {
        return Err(error(format!("pattern nests deeper than {DEPTH_LIMIT}")));
    }
    Ok(shape)
}

fn join(asts: &mut [Ast]) -> Result<Shape, Error> {
    let mut joined = Shape {
        depth: 0,
        repeats: 0,
        is_fixed: true,
    };
    let mut count = 0;
    for ast in asts.iter_mut().filter(|ast| !matches!(ast, Ast::Flags(_))) {
        let part = prepare(ast)?;
        joined.depth = joined.depth.max(part.depth);
        joined.repeats = joined.repeats.max(part.repeats);
        joined.is_fixed &= part.is_fixed;
        count += 1;
    }
    joined.depth += u32::from(count != 1);
    Ok(joined)
}

/// A class without characters.
fn never(span: Span) -> Ast {
    Ast::class_bracketed(ClassBracketed {
        span,
        negated: false,
        kind: ClassSet::Item(ClassSetItem::Empty(span)),
    })
}
