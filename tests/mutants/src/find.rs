//! Finds the places of a source file where one small change makes a mutant.

use std::ops::{Range, RangeInclusive};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ReturnType, Stmt, UnOp};

/// How a mutant is spliced into the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Another expression instead of the one in the range.
    Instead(String),
    /// The statement in the range is left out.
    LeaveOut,
    /// A condition is inserted at the range's start (it is empty): the words before it, then "the mutant is not active".
    Unless(&'static str),
    /// Another text instead of the one in the range, in which `ON` is the switch's condition.
    ByHand(String),
    /// At the start of a body (the range is empty): returns that expression.
    Return(String),
}

/// One change at one place of a file.
#[derive(Clone, Debug)]
pub struct Mutant {
    pub range: Range<usize>,
    pub form: Form,
    /// The function that it is in, and what it does, for people and for the key.
    pub function: String,
    pub change: String,
    pub line: usize,
    /// The lines of the function.
    pub scope: RangeInclusive<usize>,
}

/// All mutants of a text, in the order of their places.
pub fn mutants(text: &str) -> Result<Vec<Mutant>, syn::Error> {
    let file = syn::parse_file(text)?;
    let mut finder = Finder {
        text,
        functions: Vec::new(),
        scopes: Vec::new(),
        found: Vec::new(),
    };
    finder.visit_file(&file);
    let mut found = finder.found;
    found.sort_by_key(|mutant| (mutant.range.start, mutant.range.end));
    found.dedup_by(|one, other| one.range == other.range && one.change == other.change);
    Ok(found)
}

struct Finder<'t> {
    text: &'t str,
    functions: Vec<String>,
    /// The lines of the functions around.
    scopes: Vec<RangeInclusive<usize>>,
    found: Vec<Mutant>,
}

/// Methods whose closure is a condition.
const PREDICATES: &[&str] = &[
    "all",
    "any",
    "filter",
    "find",
    "is_none_or",
    "is_ok_and",
    "is_some_and",
    "partition",
    "position",
    "retain",
    "rposition",
    "skip_while",
    "take_while",
];

/// Methods that mean the opposite of each other, or nearly.
const TWINS: &[(&str, &str)] = &[
    ("all", "any"),
    ("first", "last"),
    ("is_err", "is_ok"),
    ("is_none", "is_some"),
    ("max", "min"),
    ("min_by_key", "max_by_key"),
    ("starts_with", "ends_with"),
];

/// Functions that do the same with their two arguments in either order.
const SYMMETRIC: &[&str] = &["eq", "max", "min", "ptr_eq", "swap"];

/// Methods that may be left out, so that their receiver is the answer.
const OPTIONAL: &[&str] = &[
    "or",
    "or_else",
    "then_with",
    "then",
    "trim",
    "trim_end",
    "trim_start",
    "trim_start_matches",
    "trim_end_matches",
    "rev",
    "saturating_sub",
    "to_lowercase",
    "to_ascii_lowercase",
    "filter",
    "take",
    "skip",
    "chain",
    "xor",
    "and",
];

impl Finder<'_> {
    fn add(&mut self, range: Range<usize>, form: Form, change: String) {
        let line = self.text[..range.start].matches('\n').count() + 1;
        let function = self.functions.join("::");
        let scope = self.scopes.last().cloned().unwrap_or(line..=line);
        self.found.push(Mutant {
            range,
            form,
            function,
            change,
            line,
            scope,
        });
    }

    fn enter(&mut self, signature: &syn::Signature, block: &syn::Block) {
        self.functions.push(signature.ident.to_string());
        let (start, end) = (signature.span().start(), block.span().end());
        self.scopes.push(start.line..=end.line);
        self.returns(signature, block);
    }

    fn leave(&mut self) {
        self.functions.pop();
        self.scopes.pop();
    }

    fn source(&self, node: &impl Spanned) -> &str {
        &self.text[node.span().byte_range()]
    }

    fn instead(&mut self, node: &impl Spanned, other: String) {
        let change = format!("`{}` → `{}`", one_line(self.source(node)), one_line(&other));
        self.add(node.span().byte_range(), Form::Instead(other), change);
    }

    /// A place where a condition is evaluated: each of its conditions becomes always true and always false.
    fn condition(&mut self, expression: &Expr) {
        match expression {
            Expr::Paren(inner) => self.condition(&inner.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => self.condition(&unary.expr),
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.condition(&binary.left);
                self.condition(&binary.right);
            }
            // Their operators are changed wherever they are.
            Expr::Binary(_) | Expr::Lit(_) | Expr::If(_) | Expr::Match(_) | Expr::Block(_) => {}
            Expr::Let(condition) => {
                let end = condition.span().byte_range().end;
                let change = format!("`{}` → never", one_line(self.source(condition)));
                self.add(end..end, Form::Unless(" &&"), change);
            }
            leaf => {
                let text = self.source(leaf).to_owned();
                self.instead(leaf, format!("{text} || true"));
                self.instead(leaf, format!("{text} && false"));
            }
        }
    }

    fn binary(&mut self, binary: &syn::ExprBinary) {
        let other = match binary.op {
            BinOp::Eq(_) => "!=",
            BinOp::Ne(_) => "==",
            BinOp::Lt(_) => "<=",
            BinOp::Le(_) => "<",
            BinOp::Gt(_) => ">=",
            BinOp::Ge(_) => ">",
            BinOp::And(_) if !has_let(&binary.left) && !has_let(&binary.right) => "||",
            BinOp::Or(_) => "&&",
            BinOp::Add(_) => "-",
            BinOp::Sub(_) => "+",
            _ => return,
        };
        let (left, right) = (self.source(&*binary.left), self.source(&*binary.right));
        let changed = match other {
            "||" | "&&" => format!("({left}) {other} ({right})"),
            _ => format!("{left} {other} {right}"),
        };
        self.instead(binary, changed);
    }

    fn method(&mut self, call: &syn::ExprMethodCall) {
        let name = call.method.to_string();
        let whole = call.span().byte_range();
        let method = call.method.span().byte_range();
        for (one, other) in TWINS {
            let twin = match () {
                () if name == *one => other,
                () if name == *other => one,
                () => continue,
            };
            let changed = format!(
                "{}{twin}{}",
                &self.text[whole.start..method.start],
                &self.text[method.end..whole.end]
            );
            self.instead(call, changed);
        }
        if OPTIONAL.contains(&&*name) {
            let receiver = self.source(&*call.receiver).to_owned();
            self.instead(call, receiver.clone());
            if name == "or" && call.args.len() == 1 {
                let argument = self.source(&call.args[0]);
                self.instead(call, format!("{argument}.or({receiver})"));
            }
        }
        if PREDICATES.contains(&&*name) {
            for argument in &call.args {
                if let Expr::Closure(closure) = argument {
                    self.condition(&closure.body);
                }
            }
        }
        if matches!(&*name, "then" | "then_some") {
            self.condition(&call.receiver);
        }
    }

    /// What a function may answer without doing anything.
    fn returns(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let answers: &[&str] = match &signature.output {
            ReturnType::Default => &["()"],
            ReturnType::Type(_, kind) => match one_line(self.source(&**kind)) {
                kind if kind == "bool" => &["true", "false"],
                kind if kind.starts_with("Option<") => &["None"],
                kind if kind.starts_with("Result<()") => &["Ok(())"],
                kind if kind.starts_with("Result<bool") => &["Ok(true)", "Ok(false)"],
                kind if kind.starts_with("Result<Option<") => &["Ok(None)"],
                kind if kind.starts_with("Result<Vec<") => &["Ok(Vec::new())"],
                kind if kind.starts_with("Vec<") => &["Vec::new()"],
                kind if kind == "String" => &["String::new()"],
                kind if ["usize", "u64", "u32"].contains(&&*kind) => &["0", "1"],
                _ => &[],
            },
        };
        // A body of one expression that is a literal has no other answer worth a try.
        if block.stmts.is_empty() || matches!(&block.stmts[..], [Stmt::Expr(Expr::Lit(_), None)]) {
            return;
        }
        let start = block.brace_token.span.open().byte_range().end;
        for answer in answers {
            self.add(
                start..start,
                Form::Return((*answer).to_owned()),
                format!("returns `{answer}`"),
            );
        }
        if answers.first() == Some(&"true")
            && let Some(Stmt::Expr(tail, None)) = block.stmts.last()
        {
            self.condition(tail);
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_left_out(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if is_left_out(&function.attrs) || function.sig.constness.is_some() {
            return;
        }
        self.enter(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
        self.leave();
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if is_left_out(&function.attrs) || function.sig.constness.is_some() {
            return;
        }
        self.enter(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
        self.leave();
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.enter(&function.sig, block);
            visit::visit_trait_item_fn(self, function);
            self.leave();
        }
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        if is_left_out(&block.attrs) {
            return;
        }
        let name = one_line(self.source(&*block.self_ty));
        self.functions.push(name);
        visit::visit_item_impl(self, block);
        self.functions.pop();
    }

    // Constants are evaluated by the compiler, which has no switch.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}

    fn visit_expr(&mut self, expression: &'ast Expr) {
        match expression {
            Expr::Binary(binary) => self.binary(binary),
            Expr::If(branch) => self.condition(&branch.cond),
            Expr::While(repeated) if !matches!(&*repeated.cond, Expr::Let(_)) => {
                self.condition(&repeated.cond)
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                let operand = self.source(&*unary.expr).to_owned();
                self.instead(unary, operand);
            }
            Expr::MethodCall(call) => self.method(call),
            Expr::Call(call) if call.args.len() == 2 => {
                let (one, other) = (self.source(&call.args[0]), self.source(&call.args[1]));
                let function = self.source(&*call.func);
                let name = function.rsplit("::").next().unwrap_or(function);
                if one != other && !SYMMETRIC.contains(&name) {
                    self.instead(call, format!("{function}({other}, {one})"));
                }
            }
            Expr::Lit(literal) => {
                if let syn::Lit::Bool(value) = &literal.lit {
                    self.instead(literal, (!value.value).to_string());
                }
            }
            _ => {}
        }
        visit::visit_expr(self, expression);
    }

    fn visit_expr_match(&mut self, expression: &'ast syn::ExprMatch) {
        let wildcard = expression.arms.iter().position(|arm| match &arm.pat {
            syn::Pat::Wild(_) => arm.guard.is_none(),
            // A name in capitals is a constant or a variant.
            syn::Pat::Ident(name) => {
                let lower = name
                    .ident
                    .to_string()
                    .starts_with(|first: char| first.is_lowercase());
                lower && name.subpat.is_none() && arm.guard.is_none()
            }
            _ => false,
        });
        for (index, arm) in expression.arms.iter().enumerate() {
            match &arm.guard {
                Some((_, guard)) => self.condition(guard),
                None if wildcard.is_some_and(|last| index < last) => {
                    let end = arm.pat.span().byte_range().end;
                    let change = format!("arm `{}` left out", one_line(self.source(&arm.pat)));
                    self.add(end..end, Form::Unless(" if"), change);
                }
                None => {}
            }
        }
        visit::visit_expr_match(self, expression);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(expression, Some(_)) = statement {
            let inner = match expression {
                Expr::Try(tried) => &*tried.expr,
                other => other,
            };
            let assigns = matches!(inner, Expr::Binary(binary) if is_assignment(&binary.op));
            if assigns || matches!(inner, Expr::MethodCall(_) | Expr::Call(_) | Expr::Assign(_)) {
                let change = format!("`{}` left out", one_line(self.source(statement)));
                self.add(statement.span().byte_range(), Form::LeaveOut, change);
            }
        }
        visit::visit_stmt(self, statement);
    }
}

fn is_assignment(operator: &BinOp) -> bool {
    matches!(
        operator,
        BinOp::AddAssign(_) | BinOp::SubAssign(_) | BinOp::BitOrAssign(_) | BinOp::BitAndAssign(_)
    )
}

fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Paren(inner) => has_let(&inner.expr),
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

/// Whether code is of tests, or not compiled here: the tool needs Linux.
fn is_left_out(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute
            .meta
            .require_list()
            .map(|list| list.tokens.to_string());
        let is_other = |it: String| it == "test" || it.starts_with("not");
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg") && condition.is_ok_and(is_other))
    })
}

/// A text on one line, at most 90 characters.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(90) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_tests_and_constants_has_no_mutants() {
        let text = "
            const A: bool = 1 < 2;
            const fn b() -> bool { 1 < 2 }
            #[cfg(test)] mod tests { fn c() -> bool { 1 < 2 } }
            #[cfg(not(unix))] fn c() -> bool { 1 < 2 }
            #[test] fn d() { e(1, 2); }
            trait F { fn g(&self) -> bool { self.h() } }
            impl F for G { fn i(&self) -> bool {
                fn j() -> bool { k() }
                j() } }";
        let found = mutants(text).expect("Rust");
        let of = |function: &str| {
            found
                .iter()
                .filter(|it| it.function == function)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            found.len(),
            of("g").len() + of("G::i").len() + of("G::i::j").len()
        );
        assert!(of("g").iter().all(|it| it.scope == (7..=7)) && !of("g").is_empty());
        assert!(of("G::i").iter().all(|it| it.scope == (8..=10)) && !of("G::i").is_empty());
        assert!(of("G::i::j").iter().all(|it| it.scope == (9..=9)) && !of("G::i::j").is_empty());
    }
}
