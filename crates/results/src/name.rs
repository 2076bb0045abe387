//! The name of a run: its start time, and a suffix that distinguishes runs of the same second.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::time::SystemTime;

use jiff::Timestamp;

use crate::place::random_hex;

/// Name of a stored run without ending: `2026-11-20T23-14-05Z-9f2c41d0a1b2c3d4`. Names sort by time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunName(String);

impl RunName {
    /// A new one for a run that starts now (UTC). The wall clock is read once and never subtracted.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn now() -> io::Result<Self> {
        // A wall clock beyond jiff's years says as much as 1970.
        let now = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
        Ok(Self::at(now, &random_hex()?))
    }

    /// The first four digits behind the second are its part that has passed: of two runs in one second the newer one is last.
    fn at(now: Timestamp, random: &str) -> Self {
        let passed = u64::try_from(now.subsec_nanosecond()).unwrap_or(0) * 0x1_0000 / 1_000_000_000;
        let random = random.get(4..).unwrap_or(random);
        Self(format!("{}-{passed:04x}{random}", now.strftime("%Y-%m-%dT%H-%M-%SZ")))
    }

    /// The run whose file has this name, if its name ends so (".json") and it is one that oscost gives.
    pub(crate) fn of_file(file_name: &str, ending: &str) -> Option<Self> {
        let name = file_name.strip_suffix(ending)?;
        let (time, random) = name.split_at_checked("2026-11-20T23-14-05Z".len())?;
        let random = random.strip_prefix('-')?;
        let shape = time.bytes().zip(b"0000-00-00T00-00-00Z").all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte == *form,
        });
        (shape && random.len() >= 8 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .then(|| Self(name.to_owned()))
    }

    /// Name of the file of this run with `ending`.
    pub(crate) fn file(&self, ending: &str) -> String {
        format!("{}{ending}", self.0)
    }
}

impl Display for RunName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_runs_in_one_second_the_newer_is_last() {
        let at = |ns, random| RunName::at(Timestamp::new(1_795_000_000, ns).expect("a moment"), random);
        let names =
            [at(0, "ffffffffffffffff"), at(16_000, "0000000000000000"), at(999_999_999, "0123456789abcdef")];
        assert!(names.is_sorted(), "{names:?}");
        assert!(names[2].to_string().ends_with("Z-ffff456789abcdef"), "{names:?}");
        assert!(RunName::of_file(&names[0].file(".json"), ".json").is_some());
    }

    #[test]
    fn new_names_are_valid_and_differ() {
        let (one, other) = (RunName::now().unwrap(), RunName::now().unwrap());
        assert_ne!(one, other);
        assert_eq!(RunName::of_file(&format!("{one}.json"), ".json"), Some(one));
    }

    #[test]
    fn nothing_else_is_a_run() {
        let known = "2026-11-20T23-14-05Z-9f2c41d0";
        assert!(RunName::of_file(&format!("{known}.json"), ".json").is_some());
        for other in [
            format!("{known}.journal"),
            format!("{known}.json~"),
            format!(".{known}.json"),
            "2026-11-20T23-14-05Z-9f2c41d.json".to_owned(),
            "2026-11-20T23-14-05Z-9f2c41dx.json".to_owned(),
            "2026-11-20 23-14-05Z-9f2c41d0.json".to_owned(),
            "übersicht-über-alle-läufe.json".to_owned(),
            ".json".to_owned(),
        ] {
            assert_eq!(RunName::of_file(&other, ".json"), None, "{other}");
        }
    }
}
