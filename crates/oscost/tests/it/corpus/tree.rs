//! Choices that a fuzzer's bytes make, and edits of a tree of JSON by them: what comes out keeps the shape that a reader asks for.

use serde_json::{Map, Number, Value};

/// A stream of choices. Behind its end every choice is the first.
pub struct Choices<'d>(&'d [u8]);

impl<'d> Choices<'d> {
    pub fn of(data: &'d [u8]) -> Self {
        Self(data)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        byte
    }

    /// A number below `bound`, which is at most 65536.
    pub fn below(&mut self, bound: usize) -> usize {
        let high = if bound > 256 { usize::from(self.byte()) << 8 } else { 0 };
        (high + usize::from(self.byte())) % bound.max(1)
    }

    pub fn number(&mut self) -> u64 {
        let wide = self.below(9);
        (0..wide).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    /// Some bytes, as they come.
    pub fn bytes(&mut self, most: usize) -> &'d [u8] {
        let length = self.below(most + 1).min(self.0.len());
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        bytes
    }

    /// A text that somebody may have meant ill, or the bytes as they come.
    pub fn text(&mut self) -> String {
        match self.below(4) {
            0 => HOSTILE[self.below(HOSTILE.len())].to_owned(),
            1 => HOSTILE[self.below(HOSTILE.len())].repeat(1 + self.below(40)),
            _ => String::from_utf8_lossy(self.bytes(40)).into_owned(),
        }
    }
}

const HOSTILE: &[&str] = &[
    "",
    " ",
    "-",
    "\u{1b}[31m",
    "\u{202e}gnp",
    "</script><script>",
    "=1+1",
    "a|b",
    "\n# EOF\n",
    "\r\n",
    "\u{0}",
    "\"\\",
    "../..",
    "syscall/getppid",
    "semaphore/posix_named",
    "ns",
    "\u{1f469}\u{200d}\u{1f680}",
    "9999999999999999999999",
];

/// At the ends of ranges, and where arithmetic on them leaves the range.
const NUMBERS: &[f64] =
    &[0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, f64::MAX, f64::MIN_POSITIVE, 1e15, 9007199254740992.0];
const WHOLE: &[u64] = &[0, 1, 2, 255, 65_536, u32::MAX as u64, 1 << 53, i64::MAX as u64, u64::MAX];

/// Edits of one input at most.
const EDITS: usize = 24;

/// Edits `tree` as the choices say, until they end.
pub fn edit(tree: &mut Value, choices: &mut Choices<'_>) {
    for _ in 0..EDITS {
        if choices.is_empty() || size(tree) > MOST {
            break;
        }
        let copied = pick(tree, choices).clone();
        change(pick(tree, choices), copied, choices);
    }
}

/// A tree with more nodes is edited no further: copies of copies would fill the memory.
const MOST: usize = 3000;

/// Its nodes.
fn size(tree: &Value) -> usize {
    match tree {
        Value::Array(elements) => 1 + elements.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// A node: down from the root, a child at a time, for as long as a choice says so.
fn pick<'t>(mut node: &'t mut Value, choices: &mut Choices<'_>) -> &'t mut Value {
    for _ in 0..12 {
        let children = match &*node {
            Value::Array(elements) => elements.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        };
        if children == 0 || choices.below(8) == 7 {
            break;
        }
        let at = choices.below(children);
        node = match node {
            Value::Array(elements) => &mut elements[at],
            Value::Object(members) => members.values_mut().nth(at).expect("below its length"),
            _ => unreachable!("without children the way has ended"),
        };
    }
    node
}

fn change(node: &mut Value, copied: Value, choices: &mut Choices<'_>) {
    // Most edits keep the kind of what they change: a reader refuses the others at once, and nothing behind it is reached.
    let way = choices.below(16);
    match (way, &mut *node) {
        (0..=9, Value::Number(number)) => *number = another(number, choices),
        (0..=9, Value::String(text)) => *text = choices.text(),
        (0..=9, Value::Bool(it)) => *it = !*it,
        (0..=2 | 10, Value::Array(elements)) => elements.truncate(choices.below(elements.len() + 1)),
        (3..=6 | 11, Value::Array(elements)) if !elements.is_empty() => {
            let again = elements[choices.below(elements.len())].clone();
            let count = choices.below(6);
            elements.extend(std::iter::repeat_n(again, count));
        }
        (7..=9 | 12, Value::Array(elements)) if elements.len() > 1 => {
            let (one, other) = (choices.below(elements.len()), choices.below(elements.len()));
            elements.swap(one, other);
        }
        (10 | 11, Value::Object(members)) if !members.is_empty() => {
            let name = members.keys().nth(choices.below(members.len())).cloned().expect("below its length");
            let value = members.remove(&name).expect("it was there");
            if way == 11 {
                members.insert(choices.text(), value);
            }
        }
        (13, _) => *node = copied,
        (14, _) => *node = Value::Null,
        (15, _) => *node = of_another_kind(choices),
        _ => {}
    }
}

fn of_another_kind(choices: &mut Choices<'_>) -> Value {
    match choices.below(5) {
        0 => Value::Number(choices.number().into()),
        1 => Value::String(choices.text()),
        2 => Value::Array(Vec::new()),
        3 => Value::Object(Map::new()),
        _ => Value::Bool(true),
    }
}

/// A whole number in place of one, and any in place of another.
fn another(number: &Number, choices: &mut Choices<'_>) -> Number {
    match choices.below(3) {
        0 if number.is_f64() => {
            Number::from_f64(NUMBERS[choices.below(NUMBERS.len())]).unwrap_or_else(|| 0.into())
        }
        0 => WHOLE[choices.below(WHOLE.len())].into(),
        _ => choices.number().into(),
    }
}
