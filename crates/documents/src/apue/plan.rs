//! Which cells a reproduction runs: by the document's options, and how thorough it is to be.

use oscost_recorddb::workload::Workload;
use oscost_recorddb::{Access, Layout, Primitive};

use oscost_families::record_database::{
    ACCESSES, Cell, LAYOUTS, Locking, MOST_PROCESSES, MOST_RECORDS, PRIMITIVES, WORKLOADS, named,
};

use super::cell::Runs;
use super::published::{FIGURE_20_7, FIGURE_20_8, NREC_20_8};

/// Options of document 001.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApuePlan {
    /// Records that each child writes first; none: as the document has them.
    pub nrec: Vec<u32>,
    /// Numbers of children; none: one, and some more.
    pub children: Vec<u32>,
    /// Ways to lock; none: all that the other options allow.
    pub locks: Vec<Locking>,
    /// What locks.
    pub primitive: Primitive,
    /// Way to the bytes.
    pub access: Access,
    /// Reading of the test program.
    pub workload: Workload,
    /// Layout of the files.
    pub layout: Layout,
    /// One run of each cell, and no interval.
    pub single: bool,
    /// How much is run.
    pub effort: Amount,
}

/// How much is run where the options do not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// A first look.
    Quick,
    /// What fits a minute and a half.
    Default,
    /// Every cell of the document.
    Thorough,
}

impl Default for ApuePlan {
    fn default() -> Self {
        Self {
            nrec: Vec::new(),
            children: Vec::new(),
            locks: Vec::new(),
            primitive: Primitive::Fcntl,
            access: Access::SeekRead,
            workload: Workload::Figure,
            layout: Layout::Book,
            single: false,
            effort: Amount::Default,
        }
    }
}

/// Records of runs that are short enough for several launches.
const SHORT: u32 = 2000;
/// Records of a quick run, and of several children.
pub(super) const FEW: u32 = 500;
/// Children of Figure 20.8's shape where there is no time for all.
const SOME_CHILDREN: [u32; 3] = [1, 2, 4];

impl ApuePlan {
    /// Sets the option of this name to `text`.
    ///
    /// # Errors
    /// In words, with the range or the choice.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        match name {
            "nrec" => self.nrec = numbers(name, text, MOST_RECORDS)?,
            "children" => self.children = numbers(name, text, MOST_PROCESSES)?,
            "lock" => {
                let list = Locking::ALL.map(|locking| (locking, locking.name()));
                self.locks =
                    text.split(',').map(|word| one(name, word.trim(), &list)).collect::<Result<_, _>>()?;
            }
            "primitive" => self.primitive = one(name, text, &PRIMITIVES)?,
            "io" => self.access = one(name, text, &ACCESSES)?,
            "workload" => self.workload = one(name, text, &WORKLOADS)?,
            _ => self.layout = one(name, text, &LAYOUTS)?,
        }
        Ok(())
    }

    /// What there is of the options that does not go together.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self) -> Result<(), String> {
        self.cells().into_iter().find_map(|(cell, _)| cell.misfit()).map_or(Ok(()), Err)?;
        match self.cells().as_slice() {
            [] => Err("no cell is left: several children need locking".to_owned()),
            _ => Ok(()),
        }
    }

    /// The cell of these numbers and this way to lock.
    pub(super) fn cell(&self, locking: Locking, children: u32, nrec: u32) -> Cell {
        let Self { layout, access, workload, primitive, .. } = *self;
        Cell { layout, access, workload, locking, primitive, processes: children, records: nrec }
    }

    /// Ways to lock so many children.
    fn ways(&self, children: u32, nrec: u32) -> Vec<Locking> {
        let asked = |locking: &Locking| match self.locks.as_slice() {
            [] => *locking != Locking::Mandatory || self.cell(*locking, children, nrec).misfit().is_none(),
            locks => locks.contains(locking),
        };
        let safe = |locking: &Locking| children == 1 || *locking != Locking::None;
        Locking::ALL.into_iter().filter(|locking| asked(locking) && safe(locking)).collect()
    }

    /// Whether the numbers are those that the effort chooses.
    pub(super) fn is_default(&self) -> bool {
        self.nrec.is_empty() && self.children.is_empty() && !self.single
    }

    /// Numbers of children and records, and how each is run.
    fn shapes(&self) -> Vec<(u32, u32, Runs)> {
        let mut shapes: Vec<(u32, u32, Runs)> = Vec::new();
        let mut add = |children, nrec, runs| {
            if !shapes.contains(&(children, nrec, runs)) {
                shapes.push((children, nrec, runs));
            }
        };
        if self.nrec.is_empty() && self.children.is_empty() {
            let most = match self.effort {
                Amount::Quick => 0,
                Amount::Default => 6000,
                Amount::Thorough => u32::MAX,
            };
            for nrec in FIGURE_20_7.iter().map(|row| row.nrec).filter(|nrec| *nrec <= most) {
                add(1, nrec, Runs::Single);
                if nrec <= SHORT {
                    add(1, nrec, Runs::Repeated);
                }
            }
            SOME_CHILDREN.into_iter().for_each(|children| add(children, FEW, Runs::Repeated));
            match self.effort {
                Amount::Quick => add(1, FEW, Runs::Single),
                Amount::Default => {}
                Amount::Thorough => {
                    FIGURE_20_8.iter().for_each(|row| add(row.children, NREC_20_8, Runs::Single))
                }
            }
        } else {
            let nrec = match (self.nrec.as_slice(), self.effort) {
                ([], _) if !self.children.is_empty() => vec![FEW],
                ([], Amount::Quick) => vec![FEW],
                ([], _) => vec![SHORT],
                (nrec, _) => nrec.to_vec(),
            };
            let children = if self.children.is_empty() { vec![1] } else { self.children.clone() };
            for &nrec in &nrec {
                for &children in &children {
                    add(children, nrec, Runs::Single);
                    let many = self.layout == Layout::Book && nrec.saturating_mul(children) > SHORT;
                    if !many || self.effort == Amount::Thorough && nrec <= SHORT {
                        add(children, nrec, Runs::Repeated);
                    }
                }
            }
        }
        shapes.retain(|(_, _, runs)| !self.single || *runs == Runs::Single);
        if self.single && shapes.is_empty() {
            shapes.push((1, FEW, Runs::Single));
        }
        shapes
    }

    /// Every cell that is run, and how.
    pub(super) fn cells(&self) -> Vec<(Cell, Runs)> {
        let of = |(children, nrec, runs): (u32, u32, Runs)| {
            let ways = self.ways(children, nrec).into_iter();
            ways.map(move |locking| (self.cell(locking, children, nrec), runs)).collect::<Vec<_>>()
        };
        self.shapes().into_iter().flat_map(of).collect()
    }

    /// Every cell once, by records, children and way to lock.
    pub(super) fn each_cell(&self) -> Vec<Cell> {
        let mut cells: Vec<Cell> = self.cells().into_iter().map(|(cell, _)| cell).collect();
        cells.sort_by_key(|cell| (cell.records, cell.processes, cell.locking as u8));
        cells.dedup();
        cells
    }

    /// Records of one child that are run, and those of the document, in order.
    pub(super) fn rows_of_one_child(&self) -> Vec<u32> {
        let run = self.shapes().into_iter().filter(|(children, ..)| *children == 1).map(|(_, nrec, _)| nrec);
        let mut rows: Vec<u32> = FIGURE_20_7.iter().map(|row| row.nrec).chain(run).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// Records at which several children are run, but for those of Figure 20.8, with the numbers of children.
    pub(super) fn shapes_of_children(&self) -> Vec<(u32, Vec<u32>)> {
        let mut found: Vec<(u32, Vec<u32>)> = Vec::new();
        for (children, nrec, _) in self.shapes() {
            match found.iter_mut().find(|(known, _)| *known == nrec) {
                Some((_, all)) if !all.contains(&children) => all.push(children),
                Some(_) => {}
                None => found.push((nrec, vec![children])),
            }
        }
        found.iter_mut().for_each(|(_, children)| children.sort_unstable());
        found.retain(|(nrec, children)| children.iter().any(|count| *count > 1) && *nrec != NREC_20_8);
        found
    }
}

fn numbers(name: &str, text: &str, most: u32) -> Result<Vec<u32>, String> {
    let parameter = crate::DocumentParameter {
        name: if name == "nrec" { "nrec" } else { "children" },
        least: 1,
        most: u64::from(most),
        list: true,
    };
    let numbers = parameter.parse(text)?;
    Ok(numbers.into_iter().filter_map(|number| u32::try_from(number).ok()).collect())
}

fn one<T: Copy>(name: &str, text: &str, list: &[(T, &'static str)]) -> Result<T, String> {
    named(list, text).ok_or_else(|| {
        let known: Vec<&str> = list.iter().map(|(_, name)| *name).collect();
        format!("--{name} takes {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(plan: &ApuePlan) -> Vec<(u32, u32, Runs)> {
        plan.shapes()
    }

    #[test]
    fn defaults_are_what_fits_each_effort() {
        let quick = ApuePlan { effort: Amount::Quick, ..ApuePlan::default() };
        assert!(quick.cells().iter().all(|(cell, _)| cell.records == FEW));
        let default = shapes(&ApuePlan::default());
        assert!(default.contains(&(1, 2000, Runs::Repeated)) && default.contains(&(4, 500, Runs::Repeated)));
        assert!(default.contains(&(1, 6000, Runs::Single)) && !default.contains(&(1, 6000, Runs::Repeated)));
        assert!(default.iter().all(|(_, nrec, _)| *nrec <= 6000));
        let thorough = shapes(&ApuePlan { effort: Amount::Thorough, ..ApuePlan::default() });
        assert!(
            thorough.contains(&(1, 12_000, Runs::Single)) && thorough.contains(&(16, 2000, Runs::Single))
        );
    }

    #[test]
    fn several_children_never_go_without_locks() {
        let thorough = ApuePlan { effort: Amount::Thorough, ..ApuePlan::default() };
        assert!(
            thorough.cells().iter().all(|(cell, _)| cell.processes == 1 || cell.locking != Locking::None)
        );
        let mut plan = ApuePlan { children: vec![2], locks: vec![Locking::None], ..ApuePlan::default() };
        assert!(plan.check().is_err_and(|why| why.contains("need locking")));
        plan.children = vec![1, 2];
        assert_eq!(plan.check(), Ok(()));
    }

    #[test]
    fn options_are_taken_or_refused_with_what_there_is() {
        let mut plan = ApuePlan::default();
        for (name, text) in [
            ("nrec", "300, 1000"),
            ("children", "1"),
            ("lock", "none,coarse,fine,mandatory"),
            ("primitive", "ofd"),
            ("io", "positioned"),
            ("workload", "text"),
            ("layout", "book"),
        ] {
            plan.set(name, text).expect("in range");
        }
        assert_eq!(plan.check(), Ok(()));
        assert_eq!(plan.cells().len(), 4 * 2 * 2);
        for (name, text, words) in [
            ("nrec", "0", "from 1 to 1000000"),
            ("children", "17", "from 1 to 16"),
            ("lock", "some", "none, coarse, fine, mandatory"),
            ("primitive", "rwlock", "fcntl, ofd, flock, mutex"),
            ("io", "", "seek, positioned, mapped"),
            ("workload", "x", "figure, text"),
            ("layout", "slow", "book, fast"),
        ] {
            assert!(plan.set(name, text).is_err_and(|why| why.contains(words)), "{name} {text}");
        }
        plan.set("primitive", "flock").expect("a primitive");
        assert!(plan.check().is_err_and(|why| why.contains("--primitive fcntl or ofd")));
        plan.locks = Vec::new();
        assert_eq!(plan.check(), Ok(()), "mandatory locking is left out where it cannot be");
        plan.nrec = vec![100_001];
        assert!(plan.check().is_err_and(|why| why.contains("100000 records")));
    }

    #[test]
    fn single_runs_are_once_each() {
        let plan = ApuePlan { nrec: vec![300, 1000], single: true, ..ApuePlan::default() };
        assert!(plan.cells().iter().all(|(_, runs)| *runs == Runs::Single));
        assert_eq!(plan.cells().len(), 8);
    }
}
