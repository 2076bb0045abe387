//! The documents' own C programs: the reader's copies, compiled by the local compiler, beside our forms of them.
//!
//! Their listings are not ours, so none is shipped; docs/teach.md says which files are expected.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oscost_harness::{ForeignOutput, Lost, OwnFolder, Supervisor, run_command};
use oscost_report::Reason;

use super::{HEADLINE, Peer, Probe, before, find, printed};

/// A program, its files in the reader's folder, a file of ours that it needs, and what the compiler is told besides.
struct Program {
    name: &'static str,
    files: &'static [&'static str],
    ours: Option<&'static str>,
    options: &'static [&'static str],
}

const POSIX: Program =
    Program { name: "benchmark_posix_sem", files: &["benchmark_posix_sem.c"], ours: None, options: &[] };
const SYSTEM_V: Program =
    Program { name: "benchmark_sysv_sem", files: &["benchmark_sysv_sem.c"], ours: None, options: &[] };
const ONE_SHOT: Program =
    Program { name: "system_call_1", files: &["system_call_1.c"], ours: None, options: &[] };
const LOOP: Program =
    Program { name: "system_call_2", files: &["system_call_2.c"], ours: None, options: &[] };
const DIFFERENCE: Program =
    Program { name: "system_call_3", files: &["system_call_3.c"], ours: None, options: &[] };
/// The loop of the third program by itself: its text subtracts it, and does not print it.
const ALONE: Program = Program {
    name: "loop_alone",
    files: &["system_call_3.c"],
    ours: Some("loop_alone.c"),
    options: &["-Dmain=main_of_the_document"],
};
/// Functions without a type, as C had them in 2001.
const OLD: &[&str] = &["-std=gnu89"];
const SERVER: Program =
    Program { name: "server", files: &["server.c", "threads.c"], ours: None, options: OLD };
const CLIENT: Program =
    Program { name: "client", files: &["client.c", "threads.c"], ours: None, options: OLD };
const PROGRAMS: [Program; 8] = [POSIX, SYSTEM_V, ONE_SHOT, LOOP, DIFFERENCE, ALONE, SERVER, CLIENT];
/// How long one program may be compiled, ns, and what is kept of a compiler's words, bytes.
const COMPILING_NS: u64 = 60_000_000_000;
const MOST_WORDS: usize = 1 << 16;
/// How far the compiler optimises, as a suffix of the program's name and as its option.
const LEVELS: [(&str, &str); 3] = [("o0", "-O0"), ("o2", "-O2"), ("o3", "-O3")];

/// What documents 000's programs include and the document does not print, in our words; and what calls the loop of 003.
const HEADERS: [(&str, &str); 3] = [
    (
        "tlpi_hdr.h",
        "#include <errno.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n\
         #define GN_GT_0 0\n#define getLong(text, flags, name) strtol(text, 0, 10)\n\
         #define errExit(what) (perror(what), exit(1))\n",
    ),
    ("semun.h", "union semun { int val; struct semid_ds *buf; unsigned short *array; };\n"),
    (
        "loop_alone.c",
        "#undef main\n#include <stdio.h>\ndouble measure_time(int);\nint main(void)\n{\n    measure_time(0);\n    \
         printf(\"Loop without the call: %.9f ns\\n\", measure_time(0) / 1e7);\n    return 0;\n}\n",
    ),
];

/// A session of document 002: its server, then so many clients in the same folder, one after another as each looks for a free
/// name. What is read are the clients' values, which each writes to a file of its own.
const SESSION: &str = "\"$OSCOST_C/server_o0\" >/dev/null 2>&1 & \
    shown() { for i in 1 2 3 4 5 6 7 8 9; do [ -S \"$1\" ] && break; sleep 0.1; done; }; \
    shown /tmp/tsockServer; n=0; while [ $n -lt $1 ]; do \
    \"$OSCOST_C/client_o0\" 2>/dev/null >/tmp/values_$n & shown /tmp/tclient_$n; n=$((n+1)); done; wait; \
    n=0; while [ $n -lt $1 ]; do [ -s /tmp/values_$n ] || exit 1; cat /tmp/values_$n; n=$((n+1)); done";
/// Names the folder of the programs to [`SESSION`].
pub const FOLDER: &str = "OSCOST_C";

macro_rules! copy {
    ($name:expr, $arguments:expr, $counterpart:expr, $quantity:literal, $step:literal, $measures:expr, $reader:expr) => {
        Probe {
            quantity: $quantity,
            step_ns: $step,
            ..probe!($name, $arguments; $measures, "as the program prints it, in ns", $counterpart, Reason::NONE; $reader)
        }
    };
}
/// A program of document 000: its kind of semaphore in its own name, ours and the document's, and the level.
macro_rules! semaphores {
    ($its:literal, $ours:literal, $called:literal, $level:literal) => {
        copy!(
            concat!("benchmark_", $its, "_sem_o", $level),
            &[concat!("benchmark_", $its, "_sem_o", $level), "1000000"],
            concat!("tlpi/literal/", $ours, "/operations_1000000"),
            "elapsed",
            1000.0,
            concat!("000, ", $called, ", -O", $level),
            |output| before(output, "Elapsed time:", "seconds", 1e9)
        )
    };
}
/// A program of document 003: its name here and there, the level, our form, its quantity, and what stands before its number.
macro_rules! system_calls {
    ($name:literal, $called:literal, $level:literal, $ours:literal, $quantity:literal, $mark:literal) => {
        copy!(
            concat!($name, "_o", $level),
            &[concat!($name, "_o", $level)],
            concat!("ostep/literal/", $ours),
            $quantity,
            0.001,
            concat!("003, ", $called, ", -O", $level),
            |output| before(output, $mark, "ns", 1.0)
        )
    };
}
macro_rules! loops {
    ($level:literal, $ours:literal) => {
        system_calls!(
            "loop_alone",
            "loop without the call",
            $level,
            $ours,
            "without_call",
            "Loop without the call:"
        )
    };
}
macro_rules! averages {
    (2, $level:literal, $ours:literal) => {
        system_calls!("system_call_2", "program 2", $level, $ours, "average", "make a system call:")
    };
    (3, $level:literal, $ours:literal) => {
        system_calls!("system_call_3", "program 3", $level, $ours, "average", "system call alone:")
    };
}
/// Clients of document 002: their name, how many, and the same in words.
macro_rules! sessions {
    ($name:literal, $clients:literal, $called:literal) => {
        copy!(
            $name,
            &["sh", "-c", SESSION, "session", $clients],
            concat!("grame/literal/clients_", $clients),
            "latency_mean",
            1000.0,
            concat!("002, ", $called, ", mean latency, -O0"),
            mean_of_values
        )
    };
}

/// The programs at each level, in the order of the documents.
pub static C: Peer = Peer {
    name: "c",
    package: "",
    environment: &[],
    folder_only: false,
    probes: &[
        Probe { differs: STUB, ..semaphores!("posix", "posix_named", "POSIX", 0) },
        Probe { differs: STUB, ..semaphores!("posix", "posix_named", "POSIX", 2) },
        Probe { differs: STUB, ..semaphores!("posix", "posix_named", "POSIX", 3) },
        semaphores!("sysv", "system_v", "System V", 0),
        semaphores!("sysv", "system_v", "System V", 2),
        semaphores!("sysv", "system_v", "System V", 3),
        sessions!("client_o0", "1", "one client"),
        sessions!("client_5_o0", "5", "five clients"),
        Probe { differs: FIRST_CALL, ..ONE_CALL },
        averages!(2, 0, "loop/o0/iterations_10000000"),
        averages!(2, 2, "loop/o2/iterations_10000000"),
        averages!(2, 3, "loop/o2/iterations_10000000"),
        averages!(3, 0, "loop_minus_loop/o0/iterations_10000000"),
        averages!(3, 2, "loop_minus_loop/o2/iterations_10000000"),
        averages!(3, 3, "loop_minus_loop/o2/iterations_10000000"),
        Probe { differs: READ_BACK, ..loops!(0, "loop_minus_loop/o0/iterations_10000000") },
        loops!(2, "loop_minus_loop/o2/iterations_10000000"),
        Probe { differs: MAY_BE_DELETED, ..loops!(3, "loop_minus_loop/o2/iterations_10000000") },
    ],
};

const ONE_CALL: Probe = system_calls!(
    "system_call_1",
    "program 1, one call",
    0,
    "one_shot/iterations_1",
    "difference",
    "make a system call:"
);
const STUB: Reason =
    Reason::larger("a compiler calls sem_wait and sem_post through a stub, unless it is told -fno-plt");
const READ_BACK: Reason = Reason::smaller("ours reads back what -O0 only writes");
const MAY_BE_DELETED: Reason =
    Reason::smaller("at this level a compiler may delete a loop that calls nothing");
/// What the one call of document 003's first program takes besides.
const FIRST_CALL: Reason = Reason::larger(
    "the loader looks getpid up at this program's first call, which also touches its page for the first time; a worker of ours has called it before",
);

/// The mean of the values that the clients print, one a line in us.
fn mean_of_values(output: &ForeignOutput) -> Result<BTreeMap<String, f64>, String> {
    let text = printed(output)?;
    let values: Vec<f64> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    if values.is_empty() {
        return Err("its client printed no values".to_owned());
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Ok(BTreeMap::from([(HEADLINE.to_owned(), mean * 1e3)]))
}

/// Runs a compiler to its end, or its deadline, and leaves nobody whom it started.
type Run<'a> = dyn Fn(Vec<String>) -> Result<ForeignOutput, String> + 'a;

/// What was compiled, in a folder of its own that goes with it, or with this program if that is killed.
pub struct Copies {
    _kept: Option<OwnFolder>,
    folder: PathBuf,
    /// Why a program is not there, by its name and level.
    lacks: BTreeMap<String, String>,
}

impl Copies {
    /// Compiles what of the programs is in `sources`, each at each level that is compared.
    ///
    /// # Errors
    /// In words: there is no compiler, no folder can be made for them, or no worker started, in which a compiler ends with this
    /// program.
    pub fn compile(sources: &Path) -> Result<Self, String> {
        let compiler = ["cc", "gcc", "clang"].into_iter().find_map(|name| find(name, None));
        let compiler = compiler.ok_or("no C compiler: apt install gcc")?;
        let place = std::env::temp_dir();
        let kept = OwnFolder::make(&place)
            .map_err(|why| format!("no folder for programs in {}: {why}", place.display()))?;
        let folder = place.join(kept.name());
        let supervisor = Supervisor::new(Arc::default())
            .map_err(|error| oscost_session::Error::NoWorker(error).to_string())?;
        // What a killed compiler leaves goes with the folder.
        let environment = [("LC_ALL", "C".into()), ("TMPDIR", folder.display().to_string())];
        let environment = BTreeMap::from(environment.map(|(name, value)| (name.to_owned(), value)));
        let run = |command| {
            run_command(&supervisor, command, environment.clone(), MOST_WORDS, COMPILING_NS).map_err(|lost| {
                match lost {
                    Lost::Interrupted => "it was interrupted".to_owned(),
                    Lost::Worker { what, .. } => what,
                }
            })
        };
        Self::compile_at(folder, Some(kept), (&compiler, sources), &run)
    }

    fn compile_at(
        folder: PathBuf,
        kept: Option<OwnFolder>,
        (compiler, sources): (&Path, &Path),
        run: &Run<'_>,
    ) -> Result<Self, String> {
        let told = |error: std::io::Error| format!("no folder for programs at {}: {error}", folder.display());
        let mut copies = Self { _kept: kept, folder: folder.clone(), lacks: BTreeMap::new() };
        for (name, text) in HEADERS {
            fs::write(folder.join(name), text).map_err(told)?;
        }
        for program in &PROGRAMS {
            for (suffix, option) in LEVELS {
                let name = format!("{}_{suffix}", program.name);
                let made = program.compile(compiler, option, sources, &folder.join(&name), &folder, run);
                if let Err(why) = made {
                    copies.lacks.insert(name, why);
                }
            }
        }
        Ok(copies)
    }

    /// Where the programs lie.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The program of a probe, or why it is not there.
    pub fn program(&self, probe: &Probe) -> Result<PathBuf, String> {
        let needs: &[&str] =
            if probe.command[0] == "sh" { &["server_o0", "client_o0"] } else { &[probe.name] };
        match needs.iter().find_map(|name| self.lacks.get(*name)) {
            Some(why) => Err(format!("not here: {why}")),
            None if probe.command[0] == "sh" => find("sh", None).ok_or_else(|| "not here: no sh".to_owned()),
            None => Ok(self.folder.join(probe.name)),
        }
    }
}

impl Program {
    fn compile(
        &self,
        compiler: &Path,
        level: &str,
        sources: &Path,
        program: &Path,
        headers: &Path,
        run: &Run<'_>,
    ) -> Result<(), String> {
        let files: Vec<PathBuf> = self.files.iter().map(|file| sources.join(file)).collect();
        if let Some(file) = files.iter().find(|file| !file.is_file()) {
            return Err(format!("there is no {}", file.display()));
        }
        let mut command: Vec<String> = vec![compiler.display().to_string()];
        command.extend([level, "-w", "-o"].map(str::to_owned));
        command.push(program.display().to_string());
        command.extend(self.options.iter().map(|&option| option.to_owned()));
        // The reader's own headers are found first, beside the sources.
        command.extend(["-I".to_owned(), headers.display().to_string()]);
        command.extend(files.iter().map(|file| file.display().to_string()));
        command.extend(self.ours.map(|name| headers.join(name).display().to_string()));
        command.extend(["-lpthread", "-lrt"].map(str::to_owned));
        let done = run(command).map_err(|why| format!("{}: {why}", compiler.display()))?;
        match done.code {
            Some(0) => return Ok(()),
            _ if done.timed_out => {
                return Err(format!("it does not compile within {} s", COMPILING_NS / 1_000_000_000));
            }
            _ => {}
        }
        let told = done.stderr;
        let first = told.lines().find(|line| line.contains("error")).or_else(|| told.lines().next());
        Err(format!("it does not compile: {}", super::shortened(first.unwrap_or(""))))
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn probe(name: &str) -> &'static Probe {
        C.probes.iter().find(|probe| probe.name == name).expect("a probe")
    }

    #[test]
    fn every_probe_has_a_program_and_a_counterpart() {
        let catalogue = crate::commands::catalogue();
        for probe in C.probes {
            let (name, level) = probe.name.rsplit_once('_').expect("a level");
            let name = if probe.command[0] == "sh" { CLIENT.name } else { name };
            assert!(PROGRAMS.iter().any(|program| program.name == name), "{name}");
            assert!(LEVELS.iter().any(|(suffix, _)| *suffix == level), "{level}");
            let benchmark = catalogue.find(probe.counterpart).expect(probe.name);
            assert!(benchmark.card().quantities.iter().any(|it| it.name == probe.quantity), "{}", probe.name);
        }
    }

    #[test]
    fn what_the_programs_print_is_read() {
        let output =
            |stdout: &str| ForeignOutput { stdout: stdout.into(), code: Some(0), ..ForeignOutput::default() };
        let read = |name: &str, text: &str| (probe(name).reader)(&output(text)).map(|found| found[HEADLINE]);
        assert_eq!(read("benchmark_posix_sem_o0", "Elapsed time: 0.009119 seconds\n"), Ok(0.009_119 * 1e9));
        assert_eq!(
            read("system_call_2_o0", "Average time to make a system call: 3.120 ns\npid = 7\n"),
            Ok(3.12)
        );
        assert_eq!(read("system_call_3_o3", "Average time for system call alone: 1.855 ns\n"), Ok(1.855));
        assert_eq!(read("loop_alone_o3", "Loop without the call: 0.000002000 ns\n"), Ok(0.000_002));
        assert_eq!(read("client_o0", "20\n22\n24\n"), Ok(22_000.0));
        assert!(read("client_o0", "Client socket bench\n").is_err_and(|why| why.contains("no values")));
    }

    #[test]
    fn a_copy_is_compiled_or_its_lack_is_told() {
        let sources = tempfile::tempdir().expect("a folder");
        fs::write(sources.path().join("system_call_1.c"), "int main(void) { return 0; }\n").expect("written");
        fs::write(sources.path().join("system_call_2.c"), "int main(void) { return 0 }\n").expect("written");
        let third = "double measure_time(int call) { return 1e7; }\nint main(void) { return 1; }\n";
        fs::write(sources.path().join("system_call_3.c"), third).expect("written");
        let folder = tempfile::tempdir().expect("a folder");
        // A test is not the program, which is its own worker.
        let run = |command: Vec<String>| {
            let done = Command::new(&command[0]).args(&command[1..]).output().expect("a compiler");
            let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
            Ok(ForeignOutput { stderr, code: done.status.code(), ..ForeignOutput::default() })
        };
        let at = folder.path().to_owned();
        let Some(compiler) = find("cc", None) else { return };
        let copies = Copies::compile_at(at, None, (&compiler, sources.path()), &run).expect("a folder");
        assert!(copies.program(probe("system_call_1_o0")).is_ok_and(|path| path.is_file()));
        let broken = copies.program(probe("system_call_2_o0")).expect_err("no C");
        assert!(broken.contains("does not compile"), "{broken}");
        let alone = copies.program(probe("loop_alone_o2")).expect("our main beside the document's");
        let told = Command::new(alone).output().expect("it runs");
        assert_eq!(told.stdout, b"Loop without the call: 1.000000000 ns\n", "{told:?}");
        let absent = copies.program(probe("client_o0")).expect_err("no file");
        assert!(absent.contains("there is no") && absent.ends_with("server.c"), "{absent}");
    }
}
