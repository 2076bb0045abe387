//! Trees of a kernel of a few instructions: calls, tails, entries, switches.

use super::*;

/// A kernel of functions of 16 instructions; what an instruction does is reported by a table.
struct Model {
    symbols: BTreeMap<u64, Symbol>,
    kinds: BTreeMap<u64, Kind>,
    switch: Option<u64>,
}

const KERNEL: u64 = 1 << 63;

impl Model {
    fn new(names: &[&str]) -> Self {
        let symbol = |(index, name): (usize, &&str)| {
            let base = if name.starts_with("user") { 0x1000 } else { KERNEL };
            let start = base + 0x100 * index as u64;
            let place = if base == KERNEL { SymbolPlace::Kernel } else { SymbolPlace::Program };
            (start, Symbol { start, name: (*name).to_owned(), place })
        };
        Self { symbols: names.iter().enumerate().map(symbol).collect(), kinds: BTreeMap::new(), switch: None }
    }
    fn at(&self, name: &str, offset: u64) -> u64 {
        let found = self.symbols.values().find(|symbol| symbol.name == name);
        found.unwrap_or_else(|| panic!("{name}")).start + offset
    }
    fn put(&mut self, name: &str, offset: u64, kind: Kind) {
        let address = self.at(name, offset);
        self.kinds.insert(address, kind);
    }
    /// The tree of these steps on one stack, each a function and an offset.
    fn run(&self, steps: &str) -> Vec<(u32, String, u64, u64)> {
        let steps = steps.split(", ").map(|step| step.split_once(' ').expect("two words"));
        let steps = steps.map(|(name, offset)| (name, offset.parse().expect("an offset"), 0));
        self.run_on(&steps.collect::<Vec<_>>())
    }
    fn run_on(&self, steps: &[(&str, u64, u64)]) -> Vec<(u32, String, u64, u64)> {
        let mut builder = Builder::new(self);
        for &(name, offset, stack) in steps {
            let address = self.at(name, offset);
            builder.step(TraceStep { address, user: address < KERNEL, stack }, true);
        }
        let nodes = builder.finish();
        let sum: u64 = nodes.iter().map(|node| node.own).sum();
        assert_eq!(sum, steps.len() as u64, "no instruction is lost or counted twice");
        nodes.into_iter().map(|node| (node.depth, node.name, node.calls, node.own)).collect()
    }
}

impl Facts for Model {
    fn symbol(&self, address: u64) -> &Symbol {
        self.symbols.range(..=address).next_back().expect("a function").1
    }
    fn kind(&self, address: u64) -> Kind {
        self.kinds.get(&address).copied().unwrap_or(Kind::Plain)
    }
    fn switch_function(&self) -> Option<u64> {
        self.switch
    }
}

fn row(depth: u32, name: &str, calls: u64, own: u64) -> (u32, String, u64, u64) {
    (depth, name.to_owned(), calls, own)
}

#[test]
fn calls_returns_and_tail_calls() {
    let mut model = Model::new(&["user_loop", "entry", "work", "tail", "leaf"]);
    model.put("user_loop", 1, Kind::Enter);
    model.put("entry", 1, Kind::Call);
    model.put("work", 0, Kind::Call);
    model.put("leaf", 0, Kind::Return);
    model.put("work", 6, Kind::Jump);
    model.put("tail", 0, Kind::Return);
    model.put("entry", 7, Kind::Leave);
    let steps = "user_loop 0, user_loop 1, entry 0, entry 1, work 0, leaf 0, work 5, work 6, tail 0, \
                 entry 6, entry 7, user_loop 3";
    assert_eq!(
        model.run(steps),
        [
            row(0, "process that counts", 0, 0),
            row(1, "user_loop", 1, 3),
            row(2, "entry", 1, 4),
            row(3, "work", 1, 3),
            row(4, "leaf", 1, 1),
            row(4, "tail", 1, 1),
        ]
    );
}

#[test]
fn a_retpoline_is_a_jump() {
    let mut model = Model::new(&["caller", "thunk", "target"]);
    model.put("caller", 0, Kind::Call);
    model.put("thunk", 0, Kind::Call); // over a trap, within the thunk
    model.put("thunk", 0x20, Kind::Return); // to the target
    model.put("target", 1, Kind::Return);
    let steps = "caller 0, thunk 0, thunk 28, thunk 32, target 0, target 1, caller 5";
    let tree = model.run(steps);
    assert_eq!(tree[1], row(1, "caller", 1, 2));
    assert_eq!(tree.last().expect("a node"), &row(3, "target", 1, 2), "{tree:?}");
}

#[test]
fn an_interrupt_is_no_call_of_what_it_interrupts() {
    let mut model = Model::new(&["work", "asm_sysvec_timer", "handler"]);
    model.put("work", 1, Kind::Jump);
    model.put("asm_sysvec_timer", 1, Kind::Call);
    model.put("handler", 0, Kind::Return);
    model.put("asm_sysvec_timer", 6, Kind::Leave);
    let steps =
        "work 0, work 1, asm_sysvec_timer 0, asm_sysvec_timer 1, handler 0, asm_sysvec_timer 6, work 9";
    assert_eq!(
        model.run(steps)[1..],
        [row(1, "work", 1, 3), row(2, "asm_sysvec_timer", 1, 3), row(3, "handler", 1, 1)]
    );
}

#[test]
fn two_tasks_have_a_chain_of_calls_each() {
    let mut model = Model::new(&["schedule", "switch_to", "read", "write"]);
    model.switch = Some(model.at("switch_to", 0));
    for function in ["read", "write"] {
        model.put(function, 0, Kind::Call);
        model.put(function, 9, Kind::Jump);
    }
    model.put("schedule", 0, Kind::Call);
    model.put("switch_to", 1, Kind::Return);
    model.put("schedule", 8, Kind::Return);
    let (a, b) = (0x1_0000, 0x2_0000);
    let turn = |function, from, to| {
        [
            (function, 0, from),
            ("schedule", 0, from),
            ("switch_to", 0, from),
            ("switch_to", 1, to),
            ("schedule", 5, to),
            ("schedule", 8, to),
        ]
    };
    // Each waits in its own function; the other goes on behind its own wait.
    let mut steps: Vec<(&str, u64, u64)> = turn("read", a, b).to_vec();
    steps.extend([("write", 5, b), ("write", 9, b)]);
    steps.extend(turn("write", b, a));
    steps.extend([("read", 5, a), ("read", 9, a)]);
    steps.extend(turn("read", a, b));
    steps.extend([("write", 5, b)]);
    let tree = model.run_on(&steps);
    let own = |process: &str, function: &str| {
        let from = tree.iter().position(|node| node.1 == process).expect("the process") + 1;
        let nodes = tree[from..].iter().take_while(|node| node.0 > 0);
        nodes.filter(|node| node.1 == function).map(|node| node.3).sum::<u64>()
    };
    let (ours, theirs) = ("process that counts", "task of the kernel 1");
    assert_eq!([own(ours, "read"), own(ours, "write")], [4, 0], "{tree:?}");
    assert_eq!([own(theirs, "read"), own(theirs, "write")], [0, 4], "{tree:?}");
    assert_eq!([own(ours, "switch_to"), own(theirs, "switch_to")], [4, 2], "{tree:?}");
}

#[test]
fn repetitions_of_a_string_instruction_are_told() {
    let mut model = Model::new(&["clear"]);
    model.put("clear", 1, Kind::Repeated);
    let mut builder = Builder::new(&model);
    for offset in [0, 1, 1, 1, 1, 2] {
        builder.step(TraceStep { address: model.at("clear", offset), user: false, stack: 0 }, true);
    }
    let tree = builder.finish();
    assert_eq!((tree[1].own, tree[1].repeated), (6, 3));
}
