//! The owner of results: under sudo, the user who called it, not root.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Whom a file is given to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Their home directory, where it can be found out: sudo usually sets HOME to root's.
    pub(crate) home: Option<PathBuf>,
}

/// More is read of no list of users.
#[cfg(target_os = "linux")]
const MOST_PASSWD: u64 = 16 << 20;

impl Owner {
    /// The user who invoked sudo; `None` unless root was taken through sudo.
    pub(crate) fn invoking_sudo() -> Option<Self> {
        #[cfg(target_os = "linux")]
        {
            if !rustix::process::geteuid().is_root() {
                return None;
            }
            let passwd = super::read("/etc/passwd".as_ref(), MOST_PASSWD, false).ok().flatten();
            let passwd = String::from_utf8_lossy(&passwd.unwrap_or_default()).into_owned();
            Self::from_environment(|name| std::env::var_os(name), &passwd)
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Of a file that is to be replaced: root leaves it whose it was.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_replaced(uid: u32, gid: u32) -> Option<Self> {
        rustix::process::geteuid().is_root().then_some(Self { uid, gid, home: None })
    }

    /// The user who invoked sudo by a given environment (sudo(8), ENVIRONMENT) and passwd(5).
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    fn from_environment(variable: impl Fn(&str) -> Option<OsString>, passwd: &str) -> Option<Self> {
        let number = |name| variable(name).as_deref().and_then(OsStr::to_str)?.parse::<u32>().ok();
        let (uid, gid) = (number("SUDO_UID")?, number("SUDO_GID")?);
        if uid == 0 {
            return None;
        }
        let home = variable("SUDO_HOME").map(PathBuf::from).or_else(|| {
            passwd.lines().find_map(|line| {
                let fields: Vec<&str> = line.split(':').collect();
                fields.get(5).filter(|_| fields[2].parse() == Ok(uid)).map(PathBuf::from)
            })
        });
        Some(Self { uid, gid, home: home.filter(|home| home.is_absolute()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str =
        "root:x:0:0:root:/root:/bin/bash\nanna:x:1000:1001:,,,:/home/anna:/bin/sh\nshort:x\n";

    fn owner(variables: &[(&str, &str)]) -> Option<Owner> {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        Owner::from_environment(find, PASSWD)
    }

    #[test]
    fn the_invoking_user_and_their_home() {
        let anna = Owner { uid: 1000, gid: 1001, home: Some("/home/anna".into()) };
        assert_eq!(owner(&[("SUDO_UID", "1000"), ("SUDO_GID", "1001")]), Some(anna.clone()));
        let elsewhere = owner(&[("SUDO_UID", "1000"), ("SUDO_GID", "1001"), ("SUDO_HOME", "/srv/anna")]);
        assert_eq!(elsewhere, Some(Owner { home: Some("/srv/anna".into()), ..anna }));
        let unknown = owner(&[("SUDO_UID", "4711"), ("SUDO_GID", "1")]);
        assert_eq!(unknown, Some(Owner { uid: 4711, gid: 1, home: None }));
    }

    #[test]
    fn nobody_without_a_sudo_that_says_who() {
        assert_eq!(owner(&[]), None);
        assert_eq!(owner(&[("SUDO_UID", "0"), ("SUDO_GID", "0")]), None);
        assert_eq!(owner(&[("SUDO_UID", "1000")]), None);
        assert_eq!(owner(&[("SUDO_UID", "-1"), ("SUDO_GID", "x")]), None);
    }
}
