//! Doc comments as texts for a model.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The doc comment up to its first heading; blank if there is none.
pub(crate) fn description(attrs: &[Attribute]) -> String {
    let text: Vec<String> = attrs.iter().filter_map(line).collect();
    let text = text.join("\n");
    let indent = text.lines().filter(|line| !line.trim().is_empty()).map(indent_of).min().unwrap_or(0);
    let mut fenced = false;
    let lines = text.lines().map(|line| line.get(indent..).unwrap_or_default().trim_end()).take_while(|line| {
        fenced ^= line.trim_start().starts_with("```");
        fenced || !is_heading(line)
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_heading(line: &str) -> bool {
    line.starts_with('#') && line.trim_start_matches('#').starts_with(' ')
}

/// One line of a comment; a text that another macro makes can't be read here.
fn line(attr: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attr.meta else { return None };
    match &meta.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if meta.path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}
