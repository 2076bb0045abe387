//! Turns a refused bpf(2) into a message: what this machine or this user lacks.

use oscost_harness::{CallError, Unable};
use oscost_sys::identity;

/// Bits of a capability set; capabilities(7).
const SYS_ADMIN: u32 = 21;
const BPF: u32 = 39;
/// bpf_timer_init exists from there on.
const LEAST_KERNEL: (u32, u32) = (5, 15);

/// The system's error below an error of the loader; EIO where the system was not even asked.
pub fn call_error(error: &(dyn std::error::Error + 'static)) -> CallError {
    let mut below = Some(error);
    while let Some(error) = below {
        if let Some(errno) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error) {
            return CallError::new("bpf", errno);
        }
        below = error.source();
    }
    CallError::short("bpf")
}

/// What /proc says of who asked.
struct Asker {
    status: String,
    /// The same of the process that started this worker, which is in no namespace of oscost's.
    starter: String,
    uid_map: String,
    unprivileged_disabled: String,
    release: String,
}

/// The failure in words that help.
pub fn told(error: CallError) -> Unable {
    let read = |path: &str| oscost_sys::file::text(path).unwrap_or_default();
    of(
        error,
        &Asker {
            status: read("/proc/self/status"),
            starter: read(&format!("/proc/{}/status", std::os::unix::process::parent_id())),
            uid_map: read("/proc/self/uid_map"),
            unprivileged_disabled: read("/proc/sys/kernel/unprivileged_bpf_disabled").trim().to_owned(),
            release: identity::kernel().release,
        },
    )
}

fn unsupported(why: String, remedy: &str) -> Unable {
    Unable::Unsupported { why, remedy: remedy.to_owned() }
}

fn of(error: CallError, asker: &Asker) -> Unable {
    match error.symbol() {
        Some("ENOSYS") => unsupported(
            format!("{error}: this kernel has no bpf(2)"),
            "run under a kernel with CONFIG_BPF_SYSCALL",
        ),
        Some("EPERM" | "EACCES") => refused(error, asker),
        _ if older(&asker.release, LEAST_KERNEL) => unsupported(
            format!("{error}: bpf_timer_start needs Linux 5.15, and this is {}", asker.release),
            "run under Linux 5.15 or newer",
        ),
        _ => Unable::Failed(error),
    }
}

fn refused(error: CallError, asker: &Asker) -> Unable {
    // A worker of who is not root has made itself a user namespace, which maps its user to itself: what it may there says
    // nothing, what its starter may does.
    let own = matches!(
        asker.uid_map.split_whitespace().collect::<Vec<_>>()[..],
        [inside, outside, "1"] if inside == outside
    );
    if !capable(if own { &asker.starter } else { &asker.status }) {
        let disabled = match asker.unprivileged_disabled.as_str() {
            "" => String::new(),
            "0" => ", which timers need although kernel.unprivileged_bpf_disabled is 0".to_owned(),
            level => format!(" (kernel.unprivileged_bpf_disabled is {level})"),
        };
        return unsupported(format!("{error}: the capability CAP_BPF is missing{disabled}"), "run as root");
    }
    if own {
        return unsupported(
            format!(
                "{error}: CAP_BPF is present, but without CAP_SYS_ADMIN workers run in a user namespace, where it does not count"
            ),
            "run as root, or give CAP_SYS_ADMIN too",
        );
    }
    if !asker.uid_map.split_whitespace().eq(["0", "0", "4294967295"]) {
        return unsupported(
            format!("{error}: CAP_BPF counts only in the first user namespace, and this is another one"),
            "run outside the container, or as root of the host",
        );
    }
    if field(&asker.status, "Seccomp") == Some("2") {
        return unsupported(
            format!(
                "{error}: CAP_BPF is present, but a seccomp filter or a security module refuses the call"
            ),
            "run outside the sandbox, or with --security-opt seccomp=unconfined",
        );
    }
    unsupported(
        format!("{error}: CAP_BPF is present, but a security module (SELinux, lockdown) refuses the call"),
        "allow BPF in the policy of the security module",
    )
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

fn capable(status: &str) -> bool {
    let set = field(status, "CapEff").and_then(|set| u64::from_str_radix(set, 16).ok()).unwrap_or(0);
    [BPF, SYS_ADMIN].into_iter().any(|bit| set >> bit & 1 == 1)
}

/// Whether a release ("6.1.0-32-amd64") is older than a version; one that cannot be read is not.
fn older(release: &str, than: (u32, u32)) -> bool {
    let mut parts = release.split(|letter: char| !letter.is_ascii_digit());
    let mut number = || parts.next()?.parse::<u32>().ok();
    matches!((number(), number()), (Some(major), Some(minor)) if (major, minor) < than)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "         0          0 4294967295\n";
    const EPERM: i32 = 1;

    fn why(errno: i32, status: &str, uid_map: &str, disabled: &str, release: &str) -> String {
        let asker = Asker {
            status: status.to_owned(),
            starter: status.to_owned(),
            uid_map: uid_map.to_owned(),
            unprivileged_disabled: disabled.to_owned(),
            release: release.to_owned(),
        };
        match of(CallError::new("bpf", errno), &asker) {
            Unable::Unsupported { why, .. } => why,
            Unable::Failed(error) => format!("failed: {error}"),
        }
    }

    #[test]
    fn a_refusal_has_one_of_five_causes() {
        let (none, bpf) =
            ("CapEff:\t0000000000000000\nSeccomp:\t0\n", "CapEff:\t0000008000000000\nSeccomp:\t0\n");
        let filtered = "CapEff:\t0000000000200000\nSeccomp:\t2\nSeccomp_filters:\t1\n";
        let six = "6.1.0-32-amd64";
        assert!(
            why(EPERM, none, FIRST, "2", six).ends_with("is missing (kernel.unprivileged_bpf_disabled is 2)")
        );
        assert!(why(EPERM, none, FIRST, "0", six).contains("although kernel.unprivileged_bpf_disabled is 0"));
        assert!(why(EPERM, none, "1000 1000 1\n", "2", six).contains("the capability CAP_BPF is missing"));
        assert!(why(EPERM, bpf, "1000 1000 1\n", "2", six).contains("workers run in a user namespace"));
        assert!(why(EPERM, bpf, "0 1000 1\n", "2", six).contains("first user namespace"));
        assert!(why(EPERM, filtered, FIRST, "2", six).contains("seccomp filter"));
        assert!(why(EPERM, bpf, FIRST, "2", six).contains("lockdown"));
    }

    #[test]
    fn what_is_no_refusal_is_an_old_kernel_or_a_failure() {
        let (einval, enosys) = (22, 38);
        assert!(why(enosys, "", FIRST, "", "6.1").contains("no bpf(2)"));
        assert!(why(einval, "", FIRST, "", "5.10.0-46-amd64").ends_with("and this is 5.10.0-46-amd64"));
        assert!(why(einval, "", FIRST, "", "5.15.0").starts_with("failed: bpf failed"));
        assert!(why(einval, "", FIRST, "", "odd").starts_with("failed"));
    }

    #[test]
    fn the_error_of_the_system_is_found_below_others() {
        let error = aya::EbpfError::from(aya::maps::MapError::CreateError {
            name: "page".to_owned(),
            io_error: std::io::Error::from_raw_os_error(EPERM),
        });
        assert_eq!(call_error(&error), CallError::new("bpf", EPERM));
        assert_eq!(call_error(&aya::EbpfError::NoBTF).symbol(), Some("EIO"));
    }
}
