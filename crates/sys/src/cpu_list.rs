//! Lists of CPUs as the kernel writes and reads them: "0-3,8". cpuset(7), "List format".

/// More CPUs than any Linux is built for: a longer range is a mistake, and must not cost memory.
const MOST: usize = 65_536;

/// The CPUs of a list, ascending, each once. `None` where the text is no list. An empty text is the empty list.
#[must_use]
pub fn parse(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    let text = text.trim();
    if text.is_empty() {
        return Some(cpus);
    }
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return None;
        }
        cpus.extend(first..=last);
        if cpus.len() > MOST {
            return None;
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

fn number(text: &str) -> Option<usize> {
    // "+1" parses as a number in Rust, and is none in a list.
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&cpu| digits && cpu < MOST)
}

/// The list of `cpus`, which are ascending.
#[must_use]
pub fn format(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let range = |&(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_is_written() {
        for (text, cpus) in [
            ("", vec![]),
            ("0", vec![0]),
            ("0-3", vec![0, 1, 2, 3]),
            ("0-1,3", vec![0, 1, 3]),
            ("7,9-10", vec![7, 9, 10]),
        ] {
            assert_eq!(parse(text), Some(cpus.clone()), "{text}");
            assert_eq!(format(&cpus), text);
        }
        assert_eq!(parse("3,0-1,1\n"), Some(vec![0, 1, 3]));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["a", "1-", "-1", "3-1", "1,,2", "+1", "0-99999999999", "1 2", "0-3:1/2"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
