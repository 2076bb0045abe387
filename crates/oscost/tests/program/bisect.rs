//! `oscost compare --bisect`: exit codes that git understands, and a real `git bisect run` over planted slowdowns.

use std::path::Path;
use std::process::Command;

use crate::compare::{ID, changed, home, scaled};
use crate::support::{Done, Home, PROGRAM, Running, finished, one_at_a_time, skip};

/// What stands for all that would make git think that a commit is bad.
const STOPPED: i32 = 255;

fn bisect(home: &Home, base: &str) -> Done {
    home.measure(&["compare", "--bisect", base, ID])
}

#[test]
#[ignore = "longer: it measures for long"]
fn a_step_answers_in_the_codes_of_git_bisect() {
    let (home, now, _) = home();
    let put = |name: &str, change: &dyn Fn(&mut oscost_results::RunResult)| {
        changed(&now, &home.path().join(name), change);
    };
    put("double.json", &scaled(2.0));
    put("boot.json", &|result| {
        scaled(0.5)(result);
        result.conditions.boot_id = Some("another".into());
    });
    put("old.json", &|result| {
        scaled(2.0)(result);
        result.conditions.boot_id = Some("another".into());
    });
    for (base, code, said) in [
        ("half.json", 1, "1 slower"),
        ("now.json", 0, "1 within"),
        ("double.json", 0, "1 faster"),
        // Of two boots nothing is slower; what is certainly not slower is good all the same.
        ("boot.json", 125, "differs between these two boots"),
        ("old.json", 0, "differs between these two boots"),
    ] {
        let done = bisect(&home, base);
        assert_eq!(done.code, Some(code), "{base}: {done:?}");
        assert!(done.stdout.contains(said), "{base}: {done:?}");
        let told = match code {
            0 => "git bisect: good: not slower by more than 5 % (code 0)",
            1 => "git bisect: bad: slower by more than 5 % (code 1)",
            _ => "git bisect: skipped: it may be slower by more than 5 %, or not (code 125)",
        };
        assert_eq!(done.stderr.lines().last(), Some(told), "{base}: {done:?}");
    }
    assert_eq!(home.leftovers(), Vec::<String>::new(), "a step leaves nothing in the store");
    assert_eq!(home.stored().len(), 1, "but for the run that made the base");
}

/// git takes 2, 3, 4, 5 and 70 for bad commits.
#[test]
#[ignore = "longer: it measures for long"]
fn what_has_no_answer_ends_the_bisection() {
    let (home, now, _) = home();
    let stopped = |arguments: &[&str], why: &str| {
        home.measure(&[&["compare", "--bisect"], arguments].concat()).refused(STOPPED, why);
    };
    let put = |name: &str, change: &dyn Fn(&mut oscost_results::RunResult)| {
        changed(&now, &home.path().join(name), change);
    };
    stopped(&["now.json"], "--bisect");
    stopped(&["now.json", ID, "--fail-on", "slower"], "--fail-on");
    stopped(&["no.json", ID], "no.json");
    stopped(&["now.json", "syscall/nothing"], "no benchmark is called");
    stopped(&["now.json", "syscall/stat"], "has no figure");
    let whole = std::fs::read(&now).unwrap();
    std::fs::write(home.path().join("cut.json"), &whole[..whole.len() / 2]).unwrap();
    stopped(&["cut.json", ID], "cut.json");
    put("failed.json", &|result| result.figures[0].status = oscost_results::Status::Failed);
    stopped(&["failed.json", ID], "did not measure");
    put("machine.json", &|result| result.machine.cpu_model = "another".into());
    stopped(&["machine.json", ID], "another machine");
    put("method.json", &|result| result.estimators = 1);
    stopped(&["method.json", ID], "another version's method");
    put("cpus.json", &|result| result.plan.cpus = vec![4000]);
    stopped(&["cpus.json", ID], "may not run on CPU 4000");
    put("effort.json", &|result| result.plan.effort = "one launch".into());
    stopped(&["effort.json", ID], "one launch");
    put("directory.json", &|result| result.plan.directory = Some("/dev/null/nowhere".into()));
    stopped(&["directory.json", ID], "directory='/dev/null/nowhere'");
    // No room for the answer.
    stopped(&["now.json", ID, "-o", "/dev/full"], "No space left");
    let mut command = home.command(&["compare", "-v", "--bisect", "now.json", ID]);
    let _alone = one_at_a_time();
    let running = Running::until(&mut command, "phase:");
    running.signal("INT");
    assert_eq!(running.end().code, Some(130));
}

/// A step is measured as its base was: effort, CPUs, idle setting, directory.
#[test]
fn a_step_takes_the_settings_of_its_base() {
    let (home, now, _) = home();
    let cpu = oscost_sys::affinity::allowed().unwrap()[0];
    let files = home.path().join("files");
    std::fs::create_dir(&files).unwrap();
    changed(&now, &home.path().join("base.json"), &|result| {
        result.plan.cpus = vec![u32::try_from(cpu).unwrap()];
        result.plan.directory = Some(files.to_string_lossy().into_owned());
        result.conditions.idle_cpu = Some("poll".into());
    });
    let done = home.measure(&["compare", "--bisect", "base.json", ID, "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&done.well().stdout).unwrap();
    let differing: Vec<&str> =
        json["conditions"].as_array().unwrap().iter().filter_map(|it| it["what"].as_str()).collect();
    assert!(!differing.contains(&"idle CPUs") && !differing.contains(&"effort"), "{differing:?}");
    // The base says nothing of a file system, since its directory was put in afterwards.
    assert!(differing.contains(&"file system"), "{differing:?}");
}

/// git in a repository of its own, by nobody's settings.
fn git(repository: &Path, arguments: &[&str]) -> Done {
    let mut command = Command::new("git");
    command
        .current_dir(repository)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("HOME", repository)
        .args(["-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "init.defaultBranch=main"])
        .args(arguments);
    finished(&mut command)
}

/// What is planted: a library of the repository's, put before the C library, makes each semop count to PASSES first. Nothing
/// else changes from commit to commit; oscost is the same.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int semop(int id, struct sembuf *operations, size_t count) {
    for (volatile long left = PASSES; left > 0; left--) ;
    return syscall(SYS_semtimedop, id, operations, count, 0);
}
"#;

/// Whether the core's sibling is busy is no condition of a figure whose participants have a CPU each.
const SLOWED: &str = "semaphore/system_v/handover/cross_cpu";

/// So often the base is measured anew.
const ATTEMPTS: usize = 3;
/// Why figures across CPUs have no verdict on a host that others use.
const SURROUNDINGS: [&str; 2] = ["its CPUs were not equally near", "others had these CPUs"];

#[test]
#[ignore = "longer: it measures for long"]
fn git_bisect_finds_the_slow_commit() {
    if oscost_sys::affinity::allowed().map_or(1, |cpus| cpus.len()) < 2 {
        return skip("it needs two CPUs");
    }
    for tool in ["git", "cc"] {
        if Command::new(tool).arg("--version").output().is_err() {
            return skip(&format!("{tool} is missing"));
        }
    }
    let home = Home::new();
    let repository = home.path().join("repository");
    std::fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "-q"]).well();
    // Seven commits; the fifth is the slow one, and the sixth does not build.
    let mut commits = Vec::new();
    for commit in 1..=7 {
        let passes = if commit >= 5 { 1_000_000 } else { 10 };
        let broken = if commit == 6 { "#error no such commit\n" } else { "" };
        let source = format!("/* commit {commit} */\n#define PASSES {passes}\n{broken}{SHIM}");
        std::fs::write(repository.join("shim.c"), source).unwrap();
        git(&repository, &["add", "shim.c"]).well();
        git(&repository, &["commit", "-q", "-m", &format!("commit {commit}")]).well();
        commits.push(git(&repository, &["rev-parse", "HEAD"]).well().stdout.trim().to_owned());
    }
    let script = home.path().join("step");
    let state = home.path().join("state");
    std::fs::write(
        &script,
        format!(
            "#!/bin/sh\ncc -O1 -shared -fPIC -o {shim} shim.c 2>/dev/null || exit 125\nexport XDG_STATE_HOME={state}\n\
             LD_PRELOAD={shim} {PROGRAM} --quiet compare --threshold 900% --bisect {base} {SLOWED}\n",
            shim = home.path().join("shim.so").display(),
            state = state.display(),
            base = home.path().join("base.json").display(),
        ),
    )
    .unwrap();
    let _alone = one_at_a_time();
    // A host that moves the CPUs of a guest apart, or gives them to others, has no answer for a base that was made before.
    for _ in 0..ATTEMPTS {
        git(&repository, &["checkout", "-q", &commits[0]]).well();
        let built = Command::new("cc")
            .current_dir(&repository)
            .args(["-O1", "-shared", "-fPIC", "-o", "../shim.so", "shim.c"])
            .status();
        assert!(built.unwrap().success());
        let mut base = home.command(&["run", "--quick", "--json", "base.json", SLOWED]);
        finished(base.env("LD_PRELOAD", home.path().join("shim.so"))).well();
        git(&repository, &["bisect", "start", &commits[6], &commits[0]]).well();
        let done = git(&repository, &["bisect", "run", "sh", &script.to_string_lossy()]);
        let log = git(&repository, &["bisect", "log"]).stdout;
        git(&repository, &["bisect", "reset"]).well();
        let disturbed = SURROUNDINGS.iter().any(|why| done.stdout.contains(why));
        // No commit is called what it is not, and none is skipped but the one that does not build.
        for (number, commit) in (1..).zip(&commits) {
            let called = |what: &str| log.contains(&format!("# {what}: [{commit}]"));
            assert!(!called(if number < 5 { "bad" } else { "good" }), "commit {number}: {log}\n{done:?}");
            assert!(number == 6 || disturbed || !called("skip"), "commit {number}: {log}\n{done:?}");
        }
        if !disturbed {
            assert!(log.contains(&format!("# first bad commit: [{}]", commits[4])), "{log}\n{done:?}");
            return;
        }
        std::fs::remove_file(home.path().join("base.json")).unwrap();
    }
    skip("the CPUs were moved apart, or busy, in every attempt");
}

/// A step that has no answer for any commit ends git's run at once, with no commit called bad.
#[test]
fn git_bisect_stops_where_nothing_can_be_told() {
    if Command::new("git").arg("--version").output().is_err() {
        return skip("git is missing");
    }
    let home = Home::new();
    let repository = home.path().join("repository");
    std::fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "-q"]).well();
    for commit in 1..=5 {
        git(&repository, &["commit", "-q", "--allow-empty", "-m", &format!("commit {commit}")]).well();
    }
    git(&repository, &["bisect", "start", "HEAD", "HEAD~4"]).well();
    let done =
        git(&repository, &["bisect", "run", PROGRAM, "compare", "--bisect", "no.json", "semaphore/system_v"]);
    assert_ne!(done.code, Some(0), "{done:?}");
    let log = git(&repository, &["bisect", "log"]).stdout;
    assert!(!log.contains("first bad commit") && log.matches("# bad:").count() == 1, "{log}");
}
