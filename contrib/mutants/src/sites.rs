//! Where a source file can be changed into a wrong program, and into which one.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// One wrong program: a range of the source, and what stands there instead.
#[derive(Debug, Clone)]
pub struct Site {
    /// Bytes of the source that are replaced; empty for an insertion.
    pub range: Range<usize>,
    /// Bytes of the enclosing function.
    pub function: Range<usize>,
    /// Line of the start, from 1.
    pub line: usize,
    /// What is done.
    pub change: Change,
}

/// How a site is changed.
#[derive(Debug, Clone)]
pub enum Change {
    /// An expression becomes another one.
    Expression(String),
    /// A statement is left out.
    NoStatement,
    /// A function returns this at once.
    Return(String),
}

impl Site {
    /// Source before and after, on one line each.
    pub fn words(&self, source: &str) -> (String, String) {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let before = one_line(&source[self.range.clone()]);
        match &self.change {
            Change::Expression(text) => (before, one_line(text)),
            Change::NoStatement => (before, "(left out)".to_owned()),
            Change::Return(value) => {
                let head = source[self.function.clone()].lines().next().unwrap_or("").trim();
                (one_line(head), format!("return {value}"))
            }
        }
    }
}

/// All sites of a file, in the order of the source. Tests, constants and macros have none.
pub fn of_file(source: &str) -> Result<Vec<Site>, syn::Error> {
    let file = syn::parse_file(source)?;
    let mut constants = Constants::default();
    constants.visit_file(&file);
    let mut finder = Finder { source, constants: constants.0, function: None, sites: Vec::new() };
    finder.visit_file(&file);
    Ok(finder.sites)
}

/// Whether an item exists for tests alone.
fn for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let tokens = match &attribute.meta {
            syn::Meta::List(list) => list.tokens.to_string(),
            _ => String::new(),
        };
        attribute.path().is_ident("test") || (attribute.path().is_ident("cfg") && tokens.contains("test"))
    })
}

/// Names of the file's numeric constants, with how each is changed.
#[derive(Default)]
struct Constants(BTreeMap<String, &'static str>);

impl<'ast> Visit<'ast> for Constants {
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        if let syn::Type::Path(path) = &*item.ty
            && let Some(name) = path.path.get_ident()
        {
            let change = match name.to_string().as_str() {
                "f64" | "f32" => Some("* 1.5"),
                "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" => Some("+ 1"),
                _ => None,
            };
            if let Some(change) = change {
                self.0.insert(item.ident.to_string(), change);
            }
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
}

struct Finder<'a> {
    source: &'a str,
    constants: BTreeMap<String, &'static str>,
    function: Option<Range<usize>>,
    sites: Vec<Site>,
}

/// Calls whose name is exchanged for that of their neighbour.
const NEIGHBOURS: [(&str, &str); 18] = [
    ("min", "max"),
    ("max", "min"),
    ("any", "all"),
    ("all", "any"),
    ("is_some", "is_none"),
    ("is_none", "is_some"),
    ("is_ok", "is_err"),
    ("is_err", "is_ok"),
    ("floor", "ceil"),
    ("ceil", "floor"),
    ("first", "last"),
    ("last", "first"),
    ("skip", "take"),
    ("take_while", "skip_while"),
    ("starts_with", "ends_with"),
    ("saturating_sub", "saturating_add"),
    ("saturating_add", "saturating_sub"),
    ("or", "and"),
];

impl Finder<'_> {
    fn add(&mut self, span: Span, change: Change) {
        self.add_range(span.byte_range(), span.start().line, change);
    }

    fn add_range(&mut self, range: Range<usize>, line: usize, change: Change) {
        if let Some(function) = self.function.clone() {
            self.sites.push(Site { range, function, line, change });
        }
    }

    /// The expression with one token replaced.
    fn replaced(&self, whole: Span, token: Span, text: &str) -> Change {
        let (whole, token) = (whole.byte_range(), token.byte_range());
        let (before, after) = (&self.source[whole.start..token.start], &self.source[token.end..whole.end]);
        Change::Expression(format!("{before}{text}{after}"))
    }

    fn in_function(&mut self, span: Span, signature: &syn::Signature, block: &syn::Block) {
        if signature.constness.is_some() {
            return;
        }
        let before = self.function.replace(span.byte_range());
        self.return_at_once(signature, block);
        visit::visit_block(self, block);
        self.function = before;
    }

    fn return_at_once(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let syn::ReturnType::Type(_, kind) = &signature.output else { return };
        let syn::Type::Path(path) = &**kind else { return };
        let Some(last) = path.path.segments.last() else { return };
        let values: &[&str] = match last.ident.to_string().as_str() {
            "bool" => &["true", "false"],
            "f64" | "f32" => &["0.0", "1.0"],
            "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => &["0", "1"],
            "String" => &["String::new()"],
            "Vec" => &["Vec::new()"],
            "Option" => &["None"],
            "Result" => &["Ok(Default::default())"],
            _ => &[],
        };
        let start = block.brace_token.span.open().byte_range().end;
        let body = self.source[start..block.brace_token.span.close().byte_range().start].trim();
        for value in values.iter().filter(|value| **value != body) {
            let line = block.brace_token.span.open().start().line;
            self.add_range(start..start, line, Change::Return((*value).to_owned()));
        }
    }
}

/// Whether a chain of conditions binds a name: it can neither be swapped nor negated.
fn binds(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => binds(&binary.left) || binds(&binary.right),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !for_tests(&item.attrs) {
            self.in_function(item.span(), &item.sig, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !for_tests(&item.attrs) {
            self.in_function(item.span(), &item.sig, &item.block);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !for_tests(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    // Nothing that is worked out at compile time can be switched at run time.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        if !binds(&branch.cond) {
            let text = &self.source[branch.cond.span().byte_range()];
            self.add(branch.cond.span(), Change::Expression(format!("!({text})")));
        }
        visit::visit_expr_if(self, branch);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        use syn::BinOp;
        let others: &[&str] = match binary.op {
            BinOp::Lt(_) => &["<=", ">="],
            BinOp::Le(_) => &["<", ">"],
            BinOp::Gt(_) => &[">=", "<="],
            BinOp::Ge(_) => &[">", "<"],
            BinOp::Eq(_) => &["!="],
            BinOp::Ne(_) => &["=="],
            BinOp::Add(_) => &["-"],
            BinOp::Sub(_) => &["+"],
            BinOp::Mul(_) => &["/"],
            BinOp::Div(_) => &["*"],
            BinOp::Rem(_) => &["/"],
            BinOp::And(_) if !binds(&binary.left) && !binds(&binary.right) => &["||"],
            BinOp::Or(_) => &["&&"],
            BinOp::AddAssign(_) => &["-="],
            BinOp::SubAssign(_) => &["+="],
            BinOp::MulAssign(_) => &["/="],
            BinOp::BitOrAssign(_) => &["&="],
            _ => &[],
        };
        for other in others {
            let change = self.replaced(binary.span(), binary.op.span(), other);
            self.add(binary.span(), change);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        if matches!(unary.op, syn::UnOp::Not(_) | syn::UnOp::Neg(_)) {
            let change = self.replaced(unary.span(), unary.op.span(), "");
            self.add(unary.span(), change);
        }
        // A negative literal is one thing: its number is changed by leaving out the sign.
        if !matches!(*unary.expr, syn::Expr::Lit(_)) {
            visit::visit_expr_unary(self, unary);
        }
    }

    fn visit_expr_lit(&mut self, literal: &'ast syn::ExprLit) {
        let text = &self.source[literal.span().byte_range()];
        let other = match &literal.lit {
            syn::Lit::Int(number) => number
                .base10_parse::<u64>()
                .ok()
                .map(|value| format!("{}{}", value.saturating_add(1), number.suffix())),
            syn::Lit::Float(number) => {
                let zero = number.base10_parse::<f64>().is_ok_and(|value| value == 0.0);
                Some(if zero { format!("1.0{}", number.suffix()) } else { format!("({text} * 1.5)") })
            }
            syn::Lit::Bool(truth) => Some((!truth.value).to_string()),
            _ => None,
        };
        if let Some(other) = other {
            self.add(literal.span(), Change::Expression(other));
        }
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        if let Some(name) = path.path.get_ident()
            && let Some(change) = self.constants.get(&name.to_string())
        {
            let change = Change::Expression(format!("({name} {change})"));
            self.add(path.span(), change);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        if let Some((_, other)) = NEIGHBOURS.iter().find(|(known, _)| *known == name) {
            let change = self.replaced(call.span(), call.method.span(), other);
            self.add(call.span(), change);
        }
        if name == "is_empty" {
            let text = &self.source[call.span().byte_range()];
            self.add(call.span(), Change::Expression(format!("!({text})")));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_stmt(&mut self, statement: &'ast syn::Stmt) {
        if let syn::Stmt::Expr(expression, Some(_)) = statement
            && matches!(
                expression,
                syn::Expr::MethodCall(_) | syn::Expr::Assign(_) | syn::Expr::Binary(_) | syn::Expr::Call(_)
            )
        {
            self.add(statement.span(), Change::NoStatement);
        }
        visit::visit_stmt(self, statement);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(source: &str) -> Vec<(String, String)> {
        of_file(source).expect("it parses").iter().map(|site| site.words(source)).collect()
    }

    #[test]
    fn operators_literals_and_returns_are_changed() {
        let found = changes("fn f(a: u64) -> bool { a + 1 < 3 }");
        for (before, after) in
            [("a + 1", "a - 1"), ("1", "2"), ("a + 1 < 3", "a + 1 <= 3"), ("a + 1 < 3", "a + 1 >= 3")]
        {
            assert!(found.contains(&(before.into(), after.into())), "{before} to {after}: {found:?}");
        }
        assert!(found.iter().any(|(_, after)| after == "return true"));
        let found = changes("fn f() -> u64 { 1 }");
        assert_eq!(found, [("fn f() -> u64 { 1 }".into(), "return 0".into()), ("1".into(), "2".into())]);
    }

    #[test]
    fn tests_constants_and_bindings_are_left_alone() {
        assert!(changes("#[cfg(test)] mod tests { fn f() -> u64 { 1 + 1 } }").is_empty());
        assert!(changes("const A: u64 = 1 + 1; static B: [u8; 2] = [0; 2];").is_empty());
        let bound = changes("fn f(a: Option<u8>) { if let Some(b) = a && b == c { g() } }");
        assert!(bound.iter().all(|(before, _)| before == "b == c"), "{bound:?}");
    }

    #[test]
    fn a_constant_is_changed_where_it_is_used() {
        let found = changes("const LIMIT: f64 = 0.2; fn f(a: f64) { g(a, LIMIT); }");
        assert!(found.contains(&("LIMIT".into(), "(LIMIT * 1.5)".into())), "{found:?}");
        assert!(found.contains(&("g(a, LIMIT);".into(), "(left out)".into())), "{found:?}");
    }
}
