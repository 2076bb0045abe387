//! What two CPUs share: a core, a cache, a node of memory. Documentation/admin-guide/cputopology.rst, sysfs(5).

use std::collections::BTreeMap;
use std::path::Path;

use crate::cpu_list;

/// The nearest thing that two CPUs share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shared {
    /// They are threads of one core.
    Core,
    /// The last cache before memory.
    Cache,
    /// The node of memory.
    Node,
    /// The machine alone.
    Machine,
}

impl Shared {
    /// All, the nearest first.
    pub const ALL: [Self; 4] = [Self::Core, Self::Cache, Self::Node, Self::Machine];

    /// Name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Cache => "cache",
            Self::Node => "node",
            Self::Machine => "machine",
        }
    }
}

/// Where a CPU is: of each thing that it may share the number, or that of the first CPU that has it.
#[derive(Debug, Clone, Copy, Default)]
struct CpuPlace {
    core: Option<usize>,
    cache: Option<usize>,
    node: Option<usize>,
}

/// Where CPUs are.
#[derive(Debug, Clone, Default)]
pub struct Topology(BTreeMap<usize, CpuPlace>);

impl Topology {
    /// Reads it from the files below `root` ("/" for this machine).
    #[must_use]
    pub fn read(root: &Path, cpus: &[usize]) -> Self {
        Self(cpus.iter().map(|&cpu| (cpu, place(root, cpu))).collect())
    }

    /// What both share. `None`: the system does not say of one of them. A system that tells of no nodes has one.
    #[must_use]
    pub fn shared(&self, a: usize, b: usize) -> Option<Shared> {
        let (a, b) = (self.0.get(&a)?, self.0.get(&b)?);
        let same = |of: fn(&CpuPlace) -> Option<usize>| of(a).is_some() && of(a) == of(b);
        a.core.and(b.core)?;
        Some(match (a.node, b.node) {
            _ if same(|place| place.core) => Shared::Core,
            _ if same(|place| place.cache) => Shared::Cache,
            (Some(a), Some(b)) if a != b => Shared::Machine,
            _ => Shared::Node,
        })
    }
}

fn place(root: &Path, cpu: usize) -> CpuPlace {
    let folder = root.join(format!("sys/devices/system/cpu/cpu{cpu}"));
    let first = |file: &Path| cpu_list::parse(&crate::file::text(file).ok()?)?.first().copied();
    let names = |folder: &Path| {
        let names = crate::folder::Folder::names_at(folder).unwrap_or_default();
        names.into_iter().filter_map(|name| name.into_string().ok()).collect::<Vec<_>>()
    };
    let numbered = |name: &str, of: &str| name.strip_prefix(of)?.parse::<usize>().ok();
    let level = |name: &String| {
        let cache = folder.join("cache").join(name);
        let level: u32 = crate::file::text(cache.join("level")).ok()?.trim().parse().ok()?;
        Some((level, first(&cache.join("shared_cpu_list"))?))
    };
    let caches = names(&folder.join("cache"));
    let caches = caches.iter().filter(|name| numbered(name, "index").is_some());
    CpuPlace {
        core: first(&folder.join("topology/thread_siblings_list")),
        cache: caches.filter_map(level).max().map(|(_, first)| first),
        node: names(&folder).iter().find_map(|name| numbered(name, "node")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of files like those of the system, removed at its end.
    fn scripted(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join("sys/devices/system/cpu").join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        root
    }

    #[test]
    fn the_nearest_shared_thing_counts() {
        let files = [
            ("cpu0/topology/thread_siblings_list", "0,4\n"),
            ("cpu4/topology/thread_siblings_list", "0,4\n"),
            ("cpu1/topology/thread_siblings_list", "1\n"),
            ("cpu2/topology/thread_siblings_list", "2\n"),
            ("cpu3/topology/thread_siblings_list", "3\n"),
            ("cpu0/cache/index0/level", "1\n"),
            ("cpu0/cache/index0/shared_cpu_list", "0,4\n"),
            ("cpu0/cache/index3/level", "3\n"),
            ("cpu0/cache/index3/shared_cpu_list", "0-1,4\n"),
            ("cpu1/cache/index3/level", "3\n"),
            ("cpu1/cache/index3/shared_cpu_list", "0-1,4\n"),
            ("cpu2/cache/index3/level", "3\n"),
            ("cpu2/cache/index3/shared_cpu_list", "2\n"),
            ("cpu0/node0/x", ""),
            ("cpu1/node0/x", ""),
            ("cpu2/node0/x", ""),
            ("cpu3/node1/x", ""),
        ];
        let root = scripted(&files);
        let topology = Topology::read(root.path(), &[0, 1, 2, 3, 4, 5]);
        let shared = |a, b| topology.shared(a, b);
        assert_eq!(shared(0, 4), Some(Shared::Core));
        assert_eq!(shared(0, 1), Some(Shared::Cache));
        assert_eq!(shared(1, 2), Some(Shared::Node));
        assert_eq!((shared(2, 3), shared(3, 2)), (Some(Shared::Machine), Some(Shared::Machine)));
        assert_eq!(shared(0, 5), None, "of CPU 5 there is no file");
        assert_eq!(shared(0, 9), None, "nobody asked for CPU 9");
    }
}
