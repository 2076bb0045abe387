//! The best speed seen of a machine's cores, kept in a small file beside the runs.
//!
//! It belongs to a processor, by its name and model: on another one it says nothing, and a new one begins. The kernel entry
//! in it is one of a boot. Whatever is in the file that no processor can do is refused.

use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::place::{self, NewFile, PRIVATE};
use crate::{CoreConstants, PathError, Store};

const FILE: &str = "core.constants";
/// Processors that are remembered: a store in a home directory may be that of several machines.
const MOST: usize = 16;
/// No file of so few numbers is longer.
const MOST_BYTES: u64 = 64 << 10;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    cores: Vec<KeptCore>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptCore {
    processor: String,
    #[serde(default)]
    boot_id: Option<String>,
    #[serde(flatten)]
    constants: CoreConstants,
}

impl CoreConstants {
    /// Whether a processor can be like that: a cycle between a hundredth and a hundred ns, at most 64 instructions in a
    /// cycle, an entry between one cycle and a ms.
    #[must_use]
    pub fn is_plausible(&self) -> bool {
        let within = |value: f64, low: f64, high: f64| value.is_finite() && (low..=high).contains(&value);
        within(self.chain_ns, 0.01, 100.0)
            && within(self.throughput_ns, self.chain_ns / 64.0, self.chain_ns * 64.0)
            && self.entry_ns.is_none_or(|entry_ns| within(entry_ns, self.chain_ns, 1e6))
    }
}

impl Store {
    /// What is remembered of this processor; the kernel entry only of this boot.
    ///
    /// # Errors
    /// There is such a file, and it cannot be read. One that holds something else is as good as none: what is in it is
    /// learnt again.
    pub fn core(&self, processor: &str, boot_id: Option<&str>) -> Result<Option<CoreConstants>, PathError> {
        let found = self.kept()?.cores.into_iter().find(|core| core.processor == processor);
        Ok(found.map(|core| {
            let same = boot_id.is_some() && core.boot_id.as_deref() == boot_id;
            CoreConstants { entry_ns: core.constants.entry_ns.filter(|_| same), ..core.constants }
        }))
    }

    /// Remembers it, in place of what was remembered of this processor.
    ///
    /// # Errors
    /// The file cannot be written; the old one is as it was.
    pub fn keep_core(
        &self,
        processor: &str,
        boot_id: Option<&str>,
        constants: CoreConstants,
    ) -> Result<(), PathError> {
        if !constants.is_plausible() {
            return Ok(());
        }
        let mut kept = self.kept().unwrap_or_default();
        kept.cores.retain(|core| core.processor != processor);
        let excess = (kept.cores.len() + 1).saturating_sub(MOST);
        kept.cores.drain(..excess);
        let boot_id = boot_id.map(str::to_owned);
        kept.cores.push(KeptCore { processor: processor.to_owned(), boot_id, constants });
        let path = self.directory().join(FILE);
        let directory = self.open()?;
        let write = || {
            let mut new = NewFile::begin(&directory, PRIVATE)?;
            serde_json::to_writer_pretty(new.file(), &kept)?;
            new.file().write_all(b"\n")?;
            new.replace(FILE)
        };
        write().map_err(PathError::of("save", &path))
    }

    fn kept(&self) -> Result<Kept, PathError> {
        let path = self.directory().join(FILE);
        let bytes = match place::read(&path, MOST_BYTES, false) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Kept::default()),
            bytes => bytes.map_err(PathError::of("read", &path))?.unwrap_or_default(),
        };
        let mut kept: Kept = serde_json::from_slice(&bytes).unwrap_or_default();
        kept.cores.retain(|core| core.constants.is_plausible());
        kept.cores.truncate(MOST);
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: CoreConstants = CoreConstants { chain_ns: 0.25, throughput_ns: 0.04, entry_ns: Some(67.5) };

    #[test]
    fn what_is_kept_is_of_a_processor_and_its_entry_of_a_boot() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path().join("runs"));
        assert_eq!(store.core("a", None).unwrap(), None);
        store.keep_core("a", Some("boot"), CORE).unwrap();
        store.keep_core("b", Some("boot"), CoreConstants { chain_ns: 0.3, ..CORE }).unwrap();
        assert_eq!(store.core("a", Some("boot")).unwrap(), Some(CORE));
        let without = Some(CoreConstants { entry_ns: None, ..CORE });
        assert_eq!(store.core("a", Some("next boot")).unwrap(), without);
        assert_eq!(store.core("a", None).unwrap(), without, "who does not know the boot knows no entry");
        assert_eq!(store.core("c", Some("boot")).unwrap(), None, "a new processor begins anew");
        store.keep_core("a", Some("boot"), CoreConstants { chain_ns: 0.2, ..CORE }).unwrap();
        assert_eq!(store.core("a", Some("boot")).unwrap().map(|core| core.chain_ns), Some(0.2));
        assert!(store.runs().unwrap().is_empty(), "it is no run");
    }

    #[test]
    fn only_so_many_processors_are_kept_the_oldest_goes() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path());
        for processor in 0..20 {
            store.keep_core(&processor.to_string(), None, CORE).unwrap();
        }
        assert_eq!(store.core("3", None).unwrap(), None);
        assert!(store.core("4", None).unwrap().is_some());
        assert!(store.core("19", None).unwrap().is_some());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_in_its_place_is_not_waited_for() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(FILE);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let error = Store::at(home.path()).core("a", None).unwrap_err().to_string();
        assert!(error.contains("not a file"), "{error}");
    }

    #[test]
    fn hostile_content_is_refused_and_replaced() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path());
        let path = home.path().join(FILE);
        let core = |chain: &str, throughput: &str, entry: &str| {
            format!(
                r#"{{"cores":[{{"processor":"a","chain_ns":{chain},"throughput_ns":{throughput},"entry_ns":{entry}}}]}}"#
            )
        };
        for content in [
            String::new(),
            "rubbish".to_owned(),
            "[".repeat(100_000),
            " ".repeat(1 << 20),
            r#"{"cores":7}"#.to_owned(),
            core("0", "0.04", "70"),
            core("-0.25", "0.04", "70"),
            core("1e9", "0.04", "70"),
            core("0.25", "0", "70"),
            core("0.25", "0.001", "70"),
            core("0.25", "0.04", "0.1"),
            core("0.25", "0.04", "1e300"),
            core("\"0.25\"", "0.04", "70"),
        ] {
            std::fs::write(&path, &content).unwrap();
            assert_eq!(store.core("a", None).unwrap(), None, "{content:.80}");
            store.keep_core("a", None, CORE).unwrap();
            assert!(store.core("a", None).unwrap().is_some(), "{content:.80}");
        }
        for wild in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            store.keep_core("b", None, CoreConstants { chain_ns: wild, ..CORE }).unwrap();
            assert_eq!(store.core("b", None).unwrap(), None, "{wild}");
        }
    }

    #[test]
    fn plausible_is_between_bounds_that_belong_to_it() {
        let core = |chain_ns: f64, throughput_ns: f64, entry_ns: Option<f64>| {
            CoreConstants { chain_ns, throughput_ns, entry_ns }.is_plausible()
        };
        for (good, bad) in [
            ((0.01, 0.01, None), (0.0099, 0.01, None)),
            ((100.0, 100.0, None), (100.1, 100.0, None)),
            ((0.64, 0.01, None), (0.64, 0.0099, None)),
            ((0.25, 16.0, None), (0.25, 16.1, None)),
            ((0.25, 0.25, Some(0.25)), (0.25, 0.25, Some(0.24))),
            ((0.25, 0.25, Some(1e6)), (0.25, 0.25, Some(1.001e6))),
        ] {
            assert!(core(good.0, good.1, good.2), "{good:?}");
            assert!(!core(bad.0, bad.1, bad.2), "{bad:?}");
        }
    }

    #[test]
    fn of_a_file_with_many_processors_sixteen_are_read() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path());
        let core = |processor: usize| serde_json::json!({"processor": processor.to_string(), "chain_ns": 0.25, "throughput_ns": 0.04});
        let file = serde_json::json!({"cores": (0..20).map(core).collect::<Vec<_>>()});
        std::fs::write(home.path().join(FILE), file.to_string()).unwrap();
        let known = |processor: usize| store.core(&processor.to_string(), None).unwrap().is_some();
        assert!(known(0) && known(15) && !known(16) && !known(19));
    }

    #[test]
    fn a_file_of_64_kib_is_read_and_no_longer_one() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path());
        store.keep_core("a", None, CORE).unwrap();
        let path = home.path().join(FILE);
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str(&" ".repeat((64 << 10) - text.len()));
        std::fs::write(&path, &text).unwrap();
        assert!(store.core("a", None).unwrap().is_some());
        text.push(' ');
        std::fs::write(&path, &text).unwrap();
        assert_eq!(store.core("a", None).unwrap(), None);
    }
}
