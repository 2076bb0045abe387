//! Which cells a reproduction runs: by what the document is set to, and how thorough it is to be.

use oscost_harness::{Given, Level, Setting, Takes};
use oscost_recorddb::workload::Workload;
use oscost_recorddb::{Access, Layout, Primitive};
use oscost_stats::sorting::SmallSort;

use oscost_families::record_database::{
    ACCESSES, Cell, DIRECTORY, LAYOUTS, Locking, MOST_PROCESSES, MOST_RECORDS, PRIMITIVES, WORKLOADS, named,
};

use super::cell::{Runs, is_by_windows};
use super::laboratory::LaboratoryRun;
use super::published::{FIGURE_20_7, FIGURE_20_8, NREC_20_8};

/// What document 001 is set to.
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
    /// How much is run where no numbers are given.
    pub effort: Level,
    /// What the laboratory counted, to be shown beside.
    pub laboratory: Vec<LaboratoryRun>,
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
            effort: Level::Default,
            laboratory: Vec::new(),
        }
    }
}

/// The document's keys.
pub const SETTINGS: &[Setting] = &[
    Setting {
        key: "nrec",
        what: "records that each child writes first",
        takes: Takes::Number { least: 1, most: MOST_RECORDS as u64 },
        many: true,
        default: "2000,6000,12000, and 500 with children",
    },
    Setting {
        key: "children",
        what: "processes on one database",
        takes: Takes::Number { least: 1, most: MOST_PROCESSES as u64 },
        many: true,
        default: "1, and 1,2,4 with nrec 500",
    },
    Setting {
        key: "lock",
        what: "ways to lock",
        takes: Takes::Word(|| Locking::ALL.map(Locking::name).to_vec()),
        many: true,
        default: "all",
    },
    Setting {
        key: "primitive",
        what: "what locks",
        takes: Takes::Word(|| PRIMITIVES.map(|(_, name)| name).to_vec()),
        many: false,
        default: "fcntl",
    },
    Setting {
        key: "io",
        what: "way to the bytes",
        takes: Takes::Word(|| ACCESSES.map(|(_, name)| name).to_vec()),
        many: false,
        default: "seek",
    },
    Setting {
        key: "workload",
        what: "reading of the book's program: as its figure has it, or its text",
        takes: Takes::Word(|| WORKLOADS.map(|(_, name)| name).to_vec()),
        many: false,
        default: "figure",
    },
    Setting {
        key: "layout",
        what: "layout of the files: the book's, or one that is built for speed",
        takes: Takes::Word(|| LAYOUTS.map(|(_, name)| name).to_vec()),
        many: false,
        default: "book",
    },
    Setting {
        key: "single",
        what: "one run of each cell, as the document did: no intervals",
        takes: Takes::Word(|| vec!["yes", "no"]),
        many: false,
        default: "no",
    },
    DIRECTORY,
];

/// Records of runs that are short enough for several launches.
const SHORT: u32 = 2000;
/// Records of a quick run, and of several children.
pub(super) const FEW: u32 = 500;
/// Children of Figure 20.8's shape where there is no time for all.
const SOME_CHILDREN: [u32; 3] = [1, 2, 4];

impl ApuePlan {
    /// The plan of these values.
    ///
    /// # Errors
    /// In words: values that do not go together.
    pub fn of(given: &Given, effort: Level) -> Result<Self, String> {
        let numbers =
            |key| given.numbers(key).iter().filter_map(|&number| u32::try_from(number).ok()).collect();
        let default = Self::default();
        let plan = Self {
            nrec: numbers("nrec"),
            children: numbers("children"),
            locks: Locking::ALL.into_iter().filter(|it| given.words("lock").contains(&it.name())).collect(),
            primitive: one(given, "primitive", &PRIMITIVES, default.primitive),
            access: one(given, "io", &ACCESSES, default.access),
            workload: one(given, "workload", &WORKLOADS, default.workload),
            layout: one(given, "layout", &LAYOUTS, default.layout),
            single: given.word("single") == Some("yes"),
            effort,
            ..default
        };
        plan.check().map(|()| plan)
    }

    /// Whether its values go together.
    ///
    /// # Errors
    /// In words.
    fn check(&self) -> Result<(), String> {
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
                Level::Quick => 0,
                _ => u32::MAX,
            };
            for nrec in FIGURE_20_7.iter().map(|row| row.nrec).filter(|nrec| *nrec <= most) {
                add(1, nrec, Runs::Single);
                add(1, nrec, Runs::Repeated);
            }
            SOME_CHILDREN.into_iter().for_each(|children| add(children, FEW, Runs::Repeated));
            match self.effort {
                Level::Quick => add(1, FEW, Runs::Single),
                Level::Thorough => {
                    FIGURE_20_8.iter().for_each(|row| add(row.children, NREC_20_8, Runs::Single))
                }
                _ => {}
            }
        } else {
            let nrec = match (self.nrec.as_slice(), self.effort) {
                ([], _) if !self.children.is_empty() => vec![FEW],
                ([], Level::Quick) => vec![FEW],
                ([], _) => vec![SHORT],
                (nrec, _) => nrec.to_vec(),
            };
            let children = if self.children.is_empty() { vec![1] } else { self.children.clone() };
            for &nrec in &nrec {
                for &children in &children {
                    add(children, nrec, Runs::Single);
                    let windows = is_by_windows(&self.cell(Locking::None, children, nrec), Runs::Repeated);
                    let many = self.layout == Layout::Book && nrec.saturating_mul(children) > SHORT;
                    if windows || !many || self.effort == Level::Thorough && nrec <= SHORT {
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
        cells.small_sort_by_key(|cell| (cell.records, cell.processes, cell.locking as u8));
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

fn one<T: Copy>(given: &Given, key: &str, list: &[(T, &'static str)], default: T) -> T {
    given.word(key).and_then(|word| named(list, word)).unwrap_or(default)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn shapes(plan: &ApuePlan) -> Vec<(u32, u32, Runs)> {
        plan.shapes()
    }

    #[test]
    fn defaults_are_what_fits_each_effort() {
        let quick = ApuePlan { effort: Level::Quick, ..ApuePlan::default() };
        assert!(quick.cells().iter().all(|(cell, _)| cell.records == FEW));
        let default = shapes(&ApuePlan::default());
        assert!(default.contains(&(1, 2000, Runs::Repeated)) && default.contains(&(4, 500, Runs::Repeated)));
        for nrec in [6000, 12_000] {
            for runs in [Runs::Single, Runs::Repeated] {
                assert!(default.contains(&(1, nrec, runs)), "{nrec} {runs:?}");
            }
        }
        assert!(default.iter().all(|(children, nrec, _)| *children == 1 || *nrec == FEW));
        let thorough = shapes(&ApuePlan { effort: Level::Thorough, ..ApuePlan::default() });
        assert!(
            thorough.contains(&(1, 12_000, Runs::Single)) && thorough.contains(&(16, 2000, Runs::Single))
        );
    }

    #[test]
    fn several_children_never_go_without_locks() {
        let thorough = ApuePlan { effort: Level::Thorough, ..ApuePlan::default() };
        assert!(
            thorough.cells().iter().all(|(cell, _)| cell.processes == 1 || cell.locking != Locking::None)
        );
        let mut plan = ApuePlan { children: vec![2], locks: vec![Locking::None], ..ApuePlan::default() };
        assert!(plan.check().is_err_and(|why| why.contains("need locking")));
        plan.children = vec![1, 2];
        assert_eq!(plan.check(), Ok(()));
    }

    fn given(settings: &[(&str, &str)]) -> Given {
        let mut given = Given::default();
        for (key, text) in settings {
            let setting = SETTINGS.iter().find(|setting| setting.key == *key).expect("a key");
            given.set(setting, OsStr::new(text)).expect("a value");
        }
        given
    }

    #[test]
    fn values_make_the_plan_or_are_refused() {
        let mut settings = vec![
            ("nrec", "300, 1000"),
            ("children", "1"),
            ("primitive", "ofd"),
            ("io", "positioned"),
            ("workload", "text"),
            ("layout", "book"),
        ];
        let plan = |settings: &[(&str, &str)]| ApuePlan::of(&given(settings), Level::Default);
        let locks = ("lock", "none,coarse,fine,mandatory");
        let whole = plan(&[&settings[..], &[locks]].concat()).expect("they go together");
        assert_eq!(whole.cells().len(), 4 * 2 * 2);
        assert_eq!((whole.primitive, whole.access), (Primitive::Ofd, Access::Positioned));
        settings[2].1 = "flock";
        let refused = plan(&[&settings[..], &[locks]].concat()).expect_err("mandatory locks");
        assert!(refused.contains("primitive=fcntl or ofd"), "{refused}");
        assert!(plan(&settings).is_ok(), "mandatory locking is left out where it cannot be");
        settings[0].1 = "100001";
        assert!(plan(&settings).is_err_and(|why| why.contains("100000 records")));
        assert!(plan(&[("single", "yes")]).is_ok_and(|plan| plan.single));
    }

    #[test]
    fn single_runs_are_once_each() {
        let plan = ApuePlan { nrec: vec![300, 1000], single: true, ..ApuePlan::default() };
        assert!(plan.cells().iter().all(|(_, runs)| *runs == Runs::Single));
        assert_eq!(plan.cells().len(), 8);
    }
}
