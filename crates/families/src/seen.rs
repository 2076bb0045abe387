//! For tests: a set-up on given CPUs, and what a series said.

use std::collections::BTreeMap;

use oscost_harness::{Keeper, PostCondition, SetUp, Sink};

/// Runs `body` with a set-up on these CPUs, of which the partner has the last.
pub fn with_set_up<T>(cpus: &[usize], body: impl FnOnce(&mut SetUp<'_>) -> T) -> T {
    let mut keeper = Keeper::in_private_namespaces();
    body(&mut SetUp {
        cpu: cpus[0],
        partner_cpu: cpus[cpus.len() - 1],
        cpus,
        host_system_v_limits: None,
        keeper: &mut keeper,
        directory: None,
    })
}

/// What a series said.
#[derive(Debug, Default)]
pub struct Seen {
    pub quantities: BTreeMap<&'static str, f64>,
    pub operations: u64,
    pub conditions: Vec<PostCondition>,
    pub said: Vec<String>,
}

impl Seen {
    /// Whether the post-condition of this name was looked at, and did not hold.
    pub fn is_broken(&self, name: &str) -> bool {
        self.conditions.iter().any(|it| it.name == name && !it.holds())
    }
}

impl Sink for Seen {
    fn quantity(&mut self, name: &'static str, value: f64) {
        self.quantities.insert(name, value);
    }
    fn observation(&mut self, _: f64) {}
    fn operations(&mut self, count: u64) {
        self.operations += count;
    }
    fn post_condition(&mut self, found: PostCondition) {
        self.conditions.push(found);
    }
    fn say(&mut self, words: String) {
        self.said.push(words);
    }
}
