//! Builds the call tree from single instructions, by what each instruction does.
//!
//! A call pushes, a return goes to behind the call that it belongs to; a jump into another function is a tail call, which
//! returns for its caller. An instruction that is followed by one that it cannot lead to was interrupted by an exception. A
//! return that belongs to no call (a retpoline's) is a jump. Two tasks have a chain of calls each.

use std::collections::BTreeMap;

use oscost_results::FunctionNode;

use crate::instruction::{Kind, LONGEST};
use crate::log::TraceStep;
use crate::symbols::{Symbol, SymbolPlace};

/// What is known of the instructions beside their order.
pub(crate) trait Facts {
    /// The function of an address.
    fn symbol(&self, address: u64) -> &Symbol;
    /// What the instruction at an address does.
    fn kind(&self, address: u64) -> Kind;
    /// Where the function begins that switches tasks.
    fn switch_function(&self) -> Option<u64>;
}

#[derive(Debug, Default)]
struct Node {
    parent: usize,
    depth: u32,
    name: String,
    place: Option<SymbolPlace>,
    calls: u64,
    own: u64,
    repeated: u64,
    children: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    node: usize,
    start: u64,
    /// Address of the call that it returns to; none for a tail call, which returns with the frame below.
    called_from: Option<u64>,
    /// The kernel was entered, or something interrupted: the frame ends with a return from an exception.
    entered: bool,
}

#[derive(Debug, Default)]
struct Task {
    root: usize,
    frames: Vec<Frame>,
    in_user: bool,
}

/// The tree in the making.
pub(crate) struct Builder<'a, F> {
    facts: &'a F,
    nodes: Vec<Node>,
    by_path: BTreeMap<(usize, u64, u32), usize>,
    tasks: Vec<Task>,
    known: BTreeMap<u64, usize>,
    current: usize,
    /// At which depth the switching function is: when it returns, another task goes on.
    pending: Option<usize>,
    previous: Option<TraceStep>,
}

impl<'a, F: Facts> Builder<'a, F> {
    /// A tree of nothing yet.
    pub(crate) fn new(facts: &'a F) -> Self {
        let mut builder = Self {
            facts,
            nodes: Vec::new(),
            by_path: BTreeMap::new(),
            tasks: Vec::new(),
            known: BTreeMap::new(),
            current: 0,
            pending: None,
            previous: None,
        };
        builder.task();
        builder
    }

    /// A new task with a node of its own.
    fn task(&mut self) -> usize {
        let root = self.nodes.len();
        self.nodes.push(Node { parent: root, ..Node::default() });
        self.tasks.push(Task { root, frames: Vec::new(), in_user: false });
        self.tasks.len() - 1
    }

    /// Takes the next instruction; `counts` tells whether it is in the operation that the tree is of.
    pub(crate) fn step(&mut self, step: TraceStep, counts: bool) {
        self.follow(step, counts);
        let repeats = self.previous.is_some_and(|before| {
            before.address == step.address && self.facts.kind(step.address) == Kind::Repeated
        });
        self.previous = Some(step);
        let task = &mut self.tasks[self.current];
        task.in_user |= step.user;
        let node = task.frames.last().map_or(task.root, |frame| frame.node);
        if counts {
            self.nodes[node].own += 1;
            self.nodes[node].repeated += u64::from(repeats);
        }
        if Some(step.address) == self.facts.switch_function() {
            self.known.insert(task_of(step), self.current);
            self.pending = Some(self.tasks[self.current].frames.len());
        }
    }

    /// Moves along the chain of calls to the function of `step`.
    fn follow(&mut self, step: TraceStep, counts: bool) {
        let symbol = self.facts.symbol(step.address);
        let (start, interrupts) = (symbol.start, interrupts(&symbol.name));
        let Some(before) = self.previous else {
            return self.push(step.address, None, false, counts);
        };
        let kind = self.facts.kind(before.address);
        let behind = is_behind(before.address, step.address);
        if self.facts.symbol(before.address).start == start
            && matches!(kind, Kind::Plain | Kind::Clock | Kind::Jump | Kind::Repeated)
        {
            return;
        }
        if interrupts && start == step.address {
            return self.push(step.address, Some(before.address), true, counts);
        }
        match kind {
            Kind::Call => self.push(step.address, Some(before.address), false, counts),
            Kind::Enter => self.push(step.address, Some(before.address), true, counts),
            Kind::Return => self.give_back(step, counts),
            Kind::Leave => {
                let frames = &mut self.tasks[self.current].frames;
                let entry = frames.iter().rposition(|frame| frame.entered).unwrap_or(0);
                frames.truncate(entry);
                self.arrive(step, counts);
            }
            Kind::Jump => self.arrive(step, counts),
            Kind::Plain | Kind::Clock | Kind::Repeated if behind => self.arrive(step, counts),
            Kind::Plain | Kind::Clock | Kind::Repeated => {
                self.push(step.address, Some(before.address), true, counts)
            }
        }
    }

    /// A return: to behind the call that it belongs to, whoever's frames lie above that.
    fn give_back(&mut self, step: TraceStep, counts: bool) {
        let frames = &mut self.tasks[self.current].frames;
        let belongs = |frame: &Frame| {
            !frame.entered && frame.called_from.is_some_and(|from| is_behind(from, step.address))
        };
        let found = frames.iter().rposition(belongs);
        if let Some(depth) = self.pending
            && found.is_none_or(|found| found < depth)
        {
            // The switching function returns: for the task that it switched to, on whose stack it is by now.
            frames.truncate(found.unwrap_or(depth.saturating_sub(1)));
            self.pending = None;
            let to = task_of(step);
            self.current = match self.known.get(&to) {
                Some(&known) => known,
                None => {
                    let task = self.task();
                    self.known.insert(to, task);
                    task
                }
            };
            return self.arrive(step, counts);
        }
        match found {
            Some(found) => {
                frames.truncate(found);
                self.arrive(step, counts);
            }
            None => {
                frames.pop();
                self.arrive(step, counts);
            }
        }
    }

    /// The chain of calls ends at the function of `step` now: it is the last frame, or lies below tail calls, or is one.
    fn arrive(&mut self, step: TraceStep, counts: bool) {
        let start = self.facts.symbol(step.address).start;
        let frames = &mut self.tasks[self.current].frames;
        if frames.last().is_some_and(|frame| frame.start == start) {
            return;
        }
        let tails = frames.iter().rev().take_while(|frame| frame.called_from.is_none()).count();
        // Back from a part of the function that lies elsewhere.
        let from = frames.len().saturating_sub(tails + 1);
        if step.address != start
            && let Some(found) = frames[from..].iter().rposition(|frame| frame.start == start)
        {
            frames.truncate(from + found + 1);
            return;
        }
        self.push(step.address, None, false, counts);
    }

    fn push(&mut self, address: u64, called_from: Option<u64>, entered: bool, counts: bool) {
        let symbol = self.facts.symbol(address);
        let task = &self.tasks[self.current];
        let parent = task.frames.last().map_or(task.root, |frame| frame.node);
        let depth = self.nodes[parent].depth + 1;
        let node = *self.by_path.entry((parent, symbol.start, depth)).or_insert(self.nodes.len());
        if node == self.nodes.len() {
            self.nodes.push(Node {
                parent,
                depth,
                name: symbol.name.clone(),
                place: Some(symbol.place),
                ..Node::default()
            });
            self.nodes[parent].children.push(node);
        }
        self.nodes[node].calls += u64::from(counts);
        self.tasks[self.current].frames.push(Frame { node, start: symbol.start, called_from, entered });
    }

    /// The tree of what counted, in the order of first calls. What only leads to the operation is left out.
    pub(crate) fn finish(self) -> Vec<FunctionNode> {
        let mut totals: Vec<u64> = self.nodes.iter().map(|node| node.own).collect();
        // Children come after their parents.
        for index in (0..self.nodes.len()).rev() {
            let parent = self.nodes[index].parent;
            if parent != index {
                totals[parent] += totals[index];
            }
        }
        let mut out = Vec::new();
        let mut numbers = [0u32; 2];
        for (index, task) in self.tasks.iter().enumerate().filter(|(_, task)| totals[task.root] > 0) {
            let name = match (index, task.in_user) {
                (0, _) => "process that counts".to_owned(),
                (_, true) => {
                    numbers[0] += 1;
                    format!("partner {}", numbers[0])
                }
                (_, false) => {
                    numbers[1] += 1;
                    format!("task of the kernel {}", numbers[1])
                }
            };
            out.push(node(0, name, "process".to_owned(), &self.nodes[task.root]));
            let mut roots: Vec<usize> = self.nodes[task.root].children.clone();
            roots.retain(|&root| totals[root] > 0);
            // Functions that were entered before the operation and do nothing in it.
            while let [only] = roots[..]
                && self.nodes[only].own == 0
            {
                roots =
                    self.nodes[only].children.iter().copied().filter(|&child| totals[child] > 0).collect();
            }
            for root in roots {
                self.put(root, 1, &totals, &mut out);
            }
        }
        out
    }

    fn put(&self, index: usize, depth: u32, totals: &[u64], out: &mut Vec<FunctionNode>) {
        let found = &self.nodes[index];
        let place = found.place.map_or("process", SymbolPlace::name).to_owned();
        out.push(node(depth, found.name.clone(), place, found));
        for &child in found.children.iter().filter(|&&child| totals[child] > 0) {
            self.put(child, depth + 1, totals, out);
        }
    }
}

fn node(depth: u32, name: String, place: String, node: &Node) -> FunctionNode {
    FunctionNode {
        depth,
        name,
        place,
        // The function in which the operation begins was called before it.
        calls: node.calls.max(u64::from(node.own > 0)),
        own: node.own,
        repeated: node.repeated,
        unknown: serde_json::Map::default(),
    }
}

/// The task on whose stack of the kernel a step is: stacks have 16 KiB or more, and lie apart by at least that.
fn task_of(step: TraceStep) -> u64 {
    step.stack >> 14
}

/// Whether an instruction at `from` may be followed in memory by one at `to`.
fn is_behind(from: u64, to: u64) -> bool {
    to.wrapping_sub(from).wrapping_sub(1) < LONGEST - 1
}

/// Entries of interrupts and exceptions: whatever was executed before them did not lead there.
fn interrupts(name: &str) -> bool {
    name.starts_with("asm_exc_")
        || name.starts_with("asm_sysvec_")
        || name.starts_with("asm_common_interrupt")
        || name.starts_with("irq_entries_start")
        || name == "vectors"
}

#[cfg(test)]
mod tests;
