//! Several machines on which the founding documents were reproduced: the verdict of each beside those of the others.

use oscost_results::document::FOUNDING_DOCUMENTS;
use oscost_results::{Judgement, Reproduction};

use super::documents::judgement;
use crate::blocks::{Cell, Column, Part, Place, Table, View};
use crate::named::Named;
use crate::words::{distinct, plain};

/// What the documents are together.
pub(super) const TITLE: &str = "Five classic measurements, twenty-five years on";

/// A machine, and what became of the documents there.
type Machine<'a> = (String, &'a [Reproduction]);

/// A table for each document that several of `results` hold; `None` where there is none.
pub(crate) fn view(results: &[Named<'_>]) -> Option<View> {
    let head =
        |named: &Named<'_>| plain(&format!("{} ({})", named.result.machine.cpu_model, named.name), true);
    let machines: Vec<Machine<'_>> =
        results.iter().map(|named| (head(named), &*named.result.reproductions)).collect();
    let parts: Vec<Part> = tables(&machines).into_iter().map(Part::Table).collect();
    (!parts.is_empty()).then(|| View::new(TITLE, parts))
}

fn tables(machines: &[Machine<'_>]) -> Vec<Table> {
    let of = |document: &str| -> Vec<Machine<'_>> {
        let has = |(_, rows): &&Machine<'_>| rows.iter().any(|row| row.document == document);
        machines.iter().filter(has).cloned().collect()
    };
    let known = FOUNDING_DOCUMENTS.iter().map(|document| (document, of(document.name)));
    let several = known.filter(|(_, machines)| machines.len() > 1);
    several.map(|(document, machines)| table(document.name, document.title, &machines)).collect()
}

/// One document: a row for each of its statements, a column for each machine.
fn table(document: &str, title: &str, machines: &[Machine<'_>]) -> Table {
    let own = |row: &&Reproduction| row.document == document && !row.ours;
    let stated = |rows: &[Reproduction]| -> Vec<String> {
        rows.iter().filter(own).filter_map(|row| row.statement.clone()).collect()
    };
    let statements = distinct(machines.iter().flat_map(|(_, rows)| stated(rows)));
    let cell = |rows: &[Reproduction], statement: &str| -> Cell {
        let same = |row: &&Reproduction| own(row) && row.statement.as_deref() == Some(statement);
        let Some(row) = rows.iter().find(same) else { return "-".into() };
        let (word, tone) = judgement(row.verdict);
        // Of a figure of its machine the number is what differs.
        match row.verdict {
            Some(Judgement::ItsMachine) if !row.because.is_empty() => plain(&row.because, true).into(),
            _ => Cell { tone: Some(tone), ..word.into() },
        }
    };
    let columns = std::iter::once("statement").chain(machines.iter().map(|(head, _)| &**head));
    let rows = statements.iter().map(|statement| {
        let name = Cell::from(plain(statement, true));
        std::iter::once(name).chain(machines.iter().map(|(_, rows)| cell(rows, statement))).collect()
    });
    Table {
        title: title.to_owned(),
        rows: rows.collect(),
        columns: columns.map(|head| Column::new(head, Place::Left)).collect(),
        ..Table::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(verdict: Judgement, because: &str) -> Reproduction {
        let row = json!({"document": "ostep", "place": "", "statement": "a sentence", "unit": "", "because": because});
        Reproduction { verdict: Some(verdict), ..serde_json::from_value(row).expect("a row") }
    }

    fn machine<'a>(name: &str, rows: &'a [Reproduction]) -> Machine<'a> {
        (name.to_owned(), rows)
    }

    #[test]
    fn machines_stand_beside_one_another() {
        let (one, other) = (
            [row(Judgement::Holds, "")],
            [row(Judgement::ItsMachine, "there 3 ns, here 140 ns (139.5 .. 141)")],
        );
        assert!(tables(&[machine("a", &one), machine("b", &[])]).is_empty(), "one machine is no gallery");
        let tables = tables(&[machine("a", &one), machine("b", &other), machine("c", &[])]);
        let [table] = &tables[..] else { panic!("one document") };
        let texts: Vec<&str> = table.rows[0].iter().map(|cell| &*cell.text).collect();
        assert_eq!(texts, ["a sentence", "holds", "there 3 ns, here 140 ns (139.5 .. 141)"]);
        assert_eq!(table.columns.len(), 3);
    }
}
