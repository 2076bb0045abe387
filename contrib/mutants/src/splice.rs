//! Puts the chosen mutants of a file into its source, each behind a switch that is read at run time.

use crate::sites::{Change, Site};

/// A site with the number that switches it on.
#[derive(Debug, Clone)]
pub struct Numbered {
    /// Its number, from 1.
    pub number: u32,
    /// The site.
    pub site: Site,
}

/// The switched source, and for each mutant the bytes that belong to it there.
pub struct Spliced {
    /// The source.
    pub text: String,
    /// Bytes of the switched source, with the number of their mutant; inner ones come later.
    pub places: Vec<(std::ops::Range<usize>, u32)>,
}

/// Puts all of `sites` into `source`. Sites may contain one another; of two with one range the first is the outer one.
pub fn splice(source: &str, sites: &[Numbered]) -> Spliced {
    let mut ordered: Vec<&Numbered> = sites.iter().collect();
    ordered.sort_by_key(|it| (it.site.range.start, usize::MAX - it.site.range.end));
    let mut spliced = Spliced { text: String::new(), places: Vec::new() };
    render(source, 0..source.len(), &ordered, &mut spliced);
    spliced
}

fn render(source: &str, range: std::ops::Range<usize>, sites: &[&Numbered], into: &mut Spliced) {
    let mut at = range.start;
    let mut index = 0;
    while let Some(first) = sites.get(index) {
        let own = first.site.range.clone();
        into.text.push_str(&source[at..own.start]);
        // What lies inside the first, or has its very range, is rendered within it.
        let inner = sites[index + 1..]
            .iter()
            .take_while(|it| it.site.range.end <= own.end && !own.is_empty())
            .count();
        let within = &sites[index + 1..index + 1 + inner];
        let start = into.text.len();
        let number = first.number;
        match &first.site.change {
            Change::Expression(text) => {
                into.text.push_str(&format!("(if crate::oscost_mutant::is({number}) {{ {text} }} else {{ "));
                let place = into.places.len();
                into.places.push((start..start, number));
                render(source, own.clone(), within, into);
                into.text.push_str(" })");
                into.places[place].0.end = into.text.len();
            }
            Change::NoStatement => {
                into.text.push_str(&format!("if !crate::oscost_mutant::is({number}) {{ "));
                let place = into.places.len();
                into.places.push((start..start, number));
                render(source, own.clone(), within, into);
                into.text.push_str(" }");
                into.places[place].0.end = into.text.len();
            }
            Change::Return(value) => {
                into.text.push_str(&format!(" if crate::oscost_mutant::is({number}) {{ return {value}; }} "));
                into.places.push((start..into.text.len(), number));
            }
        }
        at = own.end;
        index += 1 + inner;
    }
    into.text.push_str(&source[at..range.end]);
}

/// The module that every changed crate gets: which mutant is on, and, while tracing, which ones are reached.
pub const SWITCH: &str = r#"//! Which mutant is switched on. Made by contrib/mutants.
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

struct Chosen {
    number: u32,
    trace: Option<std::path::PathBuf>,
}

static CHOSEN: OnceLock<Chosen> = OnceLock::new();
static REACHED: [AtomicBool; 65536] = [const { AtomicBool::new(false) }; 65536];

pub(crate) fn is(number: u32) -> bool {
    let chosen = CHOSEN.get_or_init(|| Chosen {
        number: std::env::var("OSCOST_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0),
        trace: std::env::var_os("OSCOST_MUTANT_TRACE").map(Into::into),
    });
    if let Some(path) = &chosen.trace
        && !REACHED[number as usize % 65536].swap(true, Ordering::Relaxed)
        && let Ok(mut file) = std::fs::OpenOptions::new().append(true).open(path)
    {
        let _ = file.write_all(format!("{number}\n").as_bytes());
    }
    chosen.number == number
}
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sites::of_file;

    #[test]
    fn nested_sites_keep_the_original_in_their_last_branch() {
        let source = "fn f(a: u64) -> u64 { a + 1 * 2 }";
        let sites = of_file(source).expect("it parses");
        let numbered: Vec<Numbered> =
            sites.into_iter().zip(1..).map(|(site, number)| Numbered { number, site }).collect();
        let spliced = splice(source, &numbered);
        assert!(syn::parse_file(&spliced.text).is_ok(), "{}", spliced.text);
        for it in &numbered {
            assert_eq!(spliced.text.matches(&format!("is({})", it.number)).count(), 1);
        }
        assert!(splice(source, &[]).text == source);
    }
}
