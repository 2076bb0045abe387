//! Mounts: a network file system below a path that oscost uses makes its files slow, and its traffic disturbs (document
//! 002's figures changed with mounted file systems).

use std::path::Path;

use super::Finding;
use super::cgroup::Mount;
use super::system::System;

const MATTERS: &str =
    "files there measure the network, and saving a result may hang; its traffic raises batch_p99 and max";

pub(super) fn check(system: &System) -> Finding {
    let Ok(text) = system.text("/proc/self/mountinfo") else {
        return Finding::unknown("/proc/self/mountinfo cannot be read", MATTERS);
    };
    let mounts: Vec<Mount> = text.lines().filter_map(Mount::parse).collect();
    let used = &system.measured.used_paths;
    if mounts.is_empty() || used.is_empty() {
        return Finding::unknown("which file systems oscost uses is unknown", MATTERS);
    }
    let found: Vec<String> = used
        .iter()
        .filter_map(|(use_of, path)| {
            let mount = mount_of(&mounts, path)?;
            is_remote(&mount.kind)
                .then(|| format!("{use_of} ({}) lies on {} ({})", path.display(), mount.kind, mount.source))
        })
        .collect();
    let remote = mounts.iter().filter(|mount| is_remote(&mount.kind)).count();
    if found.is_empty() {
        return Finding::fine(match remote {
            0 => "no network file system".to_owned(),
            1 => "1 network file system, none that oscost uses".to_owned(),
            count => format!("{count} network file systems, none that oscost uses"),
        });
    }
    Finding::disturbs(found.join("; "), MATTERS)
        .remedy("set XDG_STATE_HOME and TMPDIR to directories on a local disk, and start oscost in one")
}

/// The mount that `path` lies on: the one with the longest mount point, the last of several at one point.
fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(Path::new(&mount.point)))
        .max_by_key(|mount| Path::new(&mount.point).components().count())
}

/// File systems whose data lie with another machine or process.
fn is_remote(kind: &str) -> bool {
    const REMOTE: &str = "nfs nfs4 cifs smb3 smbfs 9p virtiofs fuse ceph afs lustre glusterfs gpfs beegfs";
    // fuseblk is a local disk; fuse.lxcfs and fuse.portal serve only their own mount points.
    REMOTE.split(' ').any(|known| known == kind) || kind.starts_with("fuse.")
}

#[cfg(test)]
mod tests {
    use super::super::system::recorded::*;
    use super::{Finding, check};

    fn found(mounts: &str, path: &str) -> Finding {
        let recorded = Recorded::new(&[("proc/self/mountinfo", mounts)])
            .with(|measured| measured.used_paths = vec![("temporary files", path.into())]);
        check(&recorded.system)
    }

    const ROOT: &str = "1 0 8:1 / / rw - ext4 /dev/vda rw\n";
    const HOME: &str = "2 1 0:9 / /home\\040x rw shared:3 - nfs4 server:/h\u{1b} rw\n";

    #[test]
    fn a_network_file_system_elsewhere_is_fine() {
        let found = found(&[ROOT, HOME].concat(), "/tmp");
        found.is(Fine, "1 network file system, none that oscost uses");
        assert_eq!(self::found(ROOT, "/tmp").says, "no network file system");
    }

    #[test]
    fn one_that_is_used_disturbs() {
        found(&[ROOT, HOME].concat(), "/home x/me")
            .is(Disturbs, "temporary files (/home x/me) lies on nfs4 (server:/h\u{1b})");
    }

    #[test]
    fn the_longest_and_last_mount_point_counts() {
        let local = "3 2 8:2 / /home\\040x/me rw - xfs /dev/vdb rw\n";
        assert_eq!(found(&[ROOT, local, HOME].concat(), "/home x/me/d").state, Fine);
        let over = "4 1 0:7 / / rw - fuse.sshfs host: rw\n";
        assert_eq!(found(&[ROOT, over].concat(), "/tmp").state, Disturbs);
        assert_eq!(found(&[ROOT, HOME].concat(), "/home xyz").state, Fine, "names are whole");
    }

    #[test]
    fn rubbish_is_unknown() {
        assert_eq!(found("rubbish\n - \n", "/tmp").state, Unknown);
    }
}
