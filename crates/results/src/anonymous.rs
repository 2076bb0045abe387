//! A result without the facts that identify its host or user.

mod command;

use serde_json::{Map, Value};

use crate::{CheckState, GapCause, RunResult, format};
use command::{LEFT_OUT, stands_in, without_commands, without_load};

/// Checks whose findings name nothing of the host: no path, process, interface or user.
const NAMELESS: &str = "clock_source clock_rate gaps load virtualisation smt frequency idle_cpus cpu_distance wakeup \
    allowed_cpus seccomp mitigations real_time memory_locking ipc_limits facilities";
/// What a text has after the process that traced a launch.
const TRACED: &str = " traced what was ";
/// Folders that every Linux has: they tell of nobody.
const COMMON: &[&str] = &["/dev", "/proc", "/sys", "/usr"];

/// Parameters of the kernel's command line that move figures; a dot at the end stands for all of a module's.
const TELLING: &str = "isolcpus nohz nohz_full rcu_nocbs rcu_nocb_poll irqaffinity threadirqs preempt skew_tick idle \
    intel_idle. processor. intel_pstate amd_pstate cpufreq. cpuidle. nosmt maxcpus nr_cpus mitigations \
    pti nopti spectre_v1 spectre_v2 nospectre_v1 nospectre_v2 spec_store_bypass_disable retbleed l1tf \
    mds tsx tsx_async_abort mmio_stale_data gather_data_sampling srso clocksource tsc hpet audit \
    nowatchdog nmi_watchdog transparent_hugepage init_on_alloc randomize_kstack_offset";

/// Of a kernel's command line the parameters that move figures, in their order. Nothing else of it: disks, addresses and
/// secrets stand there, too.
#[must_use]
pub fn telling_parameters(command_line: &str) -> String {
    let tells = |word: &&str| {
        let name = word.split('=').next().unwrap_or(word).replace('-', "_");
        TELLING.split(' ').any(|known| match known.strip_suffix('.') {
            Some(_) => name.starts_with(known),
            None => name == known,
        })
    };
    command_line.split_whitespace().filter(tells).collect::<Vec<_>>().join(" ")
}

impl RunResult {
    /// The same figures without what tells one host or user from another: no name, path, user, boot or command line, no words
    /// of the user's, and of the time the day.
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        self.started = self.started.get(..10).map_or(String::new(), |day| format!("{day}T00:00:00Z"));
        self.note = None;
        self.machine.host = None;
        let conditions = &mut self.conditions;
        conditions.command_line = conditions.command_line.as_deref().map(telling_parameters);
        conditions.kernel_version = None;
        conditions.boot_id = None;
        conditions.uid = None;
        if let Some(libraries) = &mut conditions.preload {
            libraries.iter_mut().for_each(|name| LEFT_OUT.clone_into(name));
        }
        if let Some(emulation) = &mut conditions.emulation {
            LEFT_OUT.clone_into(&mut emulation.image);
            emulation.append = telling_parameters(&emulation.append);
            emulation.unknown.clear();
        }
        conditions.unknown.clear();
        self.machine.unknown.clear();
        self.tool.unknown.clear();
        self.plan.directory = self.plan.directory.map(|_| LEFT_OUT.to_owned());
        self.plan.arguments.clear();
        for pattern in self.plan.patterns.iter_mut().filter(|pattern| stands_in(pattern)) {
            LEFT_OUT.clone_into(pattern);
        }
        self.plan.unknown.clear();
        self.unknown.clear();
        let named = |check: &&mut crate::Check| !NAMELESS.split(' ').any(|name| name == check.check);
        for check in self.doctor.iter_mut().filter(named) {
            let nothing = if check.state == CheckState::Fine { "fine" } else { LEFT_OUT };
            nothing.clone_into(&mut check.says);
            check.remedy = None;
        }
        if let Some(bill) = &mut self.bill {
            bill.program = vec![LEFT_OUT.to_owned()];
            bill.pid = None;
            bill.unknown.clear();
            bill.items.iter_mut().for_each(|item| item.unknown.clear());
            for counted in &mut bill.counted {
                counted.unknown.clear();
                counted.calls.iter_mut().for_each(|call| call.unknown.clear());
            }
        }
        let mut commands = Vec::new();
        for figure in &mut self.figures {
            without_load(figure, &mut commands);
            figure.evidence.tracer_pid = None;
            figure.unknown.clear();
            for launch in &mut figure.launches {
                let circumstances = &mut launch.circumstances;
                circumstances.tracer_pid = circumstances.tracer_pid.filter(|pid| *pid == 0);
                circumstances.preload.iter_mut().flatten().for_each(|name| LEFT_OUT.clone_into(name));
                circumstances.unknown.clear();
                launch.unknown.clear();
            }
            // Interrupts are the machine's; whoever else ran on it is the user's.
            let gaps = figure.percentiles.iter_mut().flat_map(|it| &mut it.account.gaps);
            gaps.filter(|gaps| gaps.cause == GapCause::Preemption).for_each(|gaps| gaps.by = None);
        }
        self.cleaned(&mut commands)
    }

    /// The same with nothing of the kind in any text; `commands` of loads are known from figures.
    fn cleaned(self, commands: &mut Vec<String>) -> Self {
        let Ok(mut value) = format::value(&self) else { return self };
        clean(&mut value, commands);
        // As bytes: the program has one reader of results.
        match serde_json::to_vec(&value).and_then(|bytes| serde_json::from_slice(&bytes)) {
            Ok(cleaned) => cleaned,
            // What has no finite number cannot be read back: nothing of it is told.
            Err(_) => Self {
                figures: Vec::new(),
                ratios: Vec::new(),
                differences: Vec::new(),
                reproductions: Vec::new(),
                answers: Vec::new(),
                doctor: Vec::new(),
                warnings: Vec::new(),
                ..self
            },
        }
    }
}

/// Takes paths, tracers and commands of loads out of every text.
fn clean(value: &mut Value, commands: &mut Vec<String>) {
    match value {
        Value::String(text) => *text = nameless(text, commands),
        Value::Array(all) => all.iter_mut().for_each(|value| clean(value, commands)),
        Value::Object(members) => {
            let cleaned: Map<String, Value> = std::mem::take(members)
                .into_iter()
                .map(|(name, mut value)| {
                    clean(&mut value, commands);
                    (nameless(&name, commands), value)
                })
                .collect();
            *members = cleaned;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// `text` without them.
fn nameless(text: &str, commands: &mut Vec<String>) -> String {
    without_paths(&without_tracer(&without_commands(text, commands)))
}

/// `text` without the number of the process that traced a launch.
fn without_tracer(text: &str) -> String {
    let nameless = text.split_once(TRACED).and_then(|(before, after)| {
        let (before, pid) = before.rsplit_once("process ")?;
        pid.bytes().all(|it| it.is_ascii_digit()).then(|| format!("{before}a process{TRACED}{after}"))
    });
    nameless.unwrap_or_else(|| text.to_owned())
}

/// `text` with other words in the place of absolute paths, but those below folders that every system has.
fn without_paths(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, path) = rest.split_at(at);
        let end =
            path.find(|it: char| it.is_whitespace() || "()'\"`,;:|<>".contains(it)).unwrap_or(path.len());
        let (path, after) = path.split_at(end);
        let begins = before.chars().last().is_none_or(|it| !it.is_alphanumeric() && !"/_.*)-~".contains(it))
            || before.ends_with('~');
        let is_common = |folder: &&str| {
            path.strip_prefix(*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // Two slashes alone begin a comment, in a quoted line of C.
        let is_path = begins && path.contains(char::is_alphanumeric) && !COMMON.iter().any(is_common);
        kept.push_str(before);
        kept.push_str(if is_path { LEFT_OUT } else { path });
        rest = after;
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn sample() -> RunResult {
        crate::from_bytes(include_bytes!("../tests/samples/v2.json")).expect("a sample")
    }

    #[test]
    fn of_a_command_line_what_moves_figures_is_told() {
        let line = "BOOT_IMAGE=/vmlinuz root=UUID=0a1b ro isolcpus=2-3 ip=10.0.0.7 intel_idle.max_cstate=1 \
                    mitigations=off password=x nohz-full=2 idlewild";
        assert_eq!(
            telling_parameters(line),
            "isolcpus=2-3 intel_idle.max_cstate=1 mitigations=off nohz-full=2"
        );
        assert_eq!(telling_parameters(""), "");
    }

    #[test]
    fn of_an_emulated_kernel_neither_its_file_nor_what_tells_nothing_is_told() {
        let mut result = sample();
        let emulation = serde_json::json!({
            "emulator": "qemu 7", "machine": "q35", "cpu_model": "max", "memory_mib": 512, "image": "bzImage-of-eve",
            "append": "quiet mitigations=off user=eve", "image_checksum": "0a1b2c3d",
        });
        result.conditions.emulation = serde_json::from_value(emulation).expect("an emulation");
        let told = result.anonymous().conditions.emulation.expect("it stays");
        assert_eq!((told.image.as_str(), told.append.as_str()), (LEFT_OUT, "mitigations=off"));
        assert_eq!(told.image_checksum, "0a1b2c3d");
    }

    #[test]
    fn paths_are_taken_out_and_ids_stay() {
        for (text, expected) in [
            ("cannot read /home/eve/x.json: EACCES", "cannot read (left out): EACCES"),
            ("lies on nfs ('/srv/a', ok)", "lies on nfs ('(left out)', ok)"),
            ("~/bin/x", "~(left out)"),
            ("--json=/tmp/a b", "--json=(left out) b"),
            ("semaphore/system_v of 1/2 at 3 / 4", "semaphore/system_v of 1/2 at 3 / 4"),
            ("read of /dev/zero, /proc/self/status", "read of /dev/zero, /proc/self/status"),
            ("/devil/x", "(left out)"),
            ("int pid = getpid(); // system call", "int pid = getpid(); // system call"),
        ] {
            assert_eq!(without_paths(text), expected);
        }
    }

    #[test]
    fn of_a_tracer_its_number_alone_is_taken_out() {
        for (text, expected) in [
            ("process 4321 traced what was measured", "a process traced what was measured"),
            ("process 4x traced what was measured", "process 4x traced what was measured"),
            ("nobody traced what was measured", "nobody traced what was measured"),
        ] {
            assert_eq!(without_tracer(text), expected);
        }
    }

    /// Percentiles of operations beside a task of this name, and a timer.
    pub(crate) fn timed_alone_beside(name: &str) -> crate::Percentiles {
        let gaps = |cause: &str, by: &str| {
            serde_json::json!({
                "cause": cause, "by": by, "count": 1, "in_passes": 1, "total_ns": 9, "longest_ns": 9,
            })
        };
        let percentiles = serde_json::json!({
            "operations_per_pass": 1, "passes": 10, "launches": 1, "pair_ns": 9.0, "mean_ns": 9.0, "max_ns": 9.0,
            "quantiles": [], "longer": [], "from_ns": [], "counts": [],
            "beside_batch": {"alone_ns": 9.0, "batch_ns": 9.0},
            "account": {
                "elapsed_ns": 9, "passes_ns": 9, "counting_ns": 0, "looking_ns": 0, "limit_ns": 9,
                "gaps": [gaps("preemption", name), gaps("interrupt", "timer")],
            },
        });
        serde_json::from_value(percentiles).expect("percentiles")
    }

    #[test]
    fn nothing_that_tells_of_somebody_is_left() {
        const NAME: &str = "mallory";
        let mut whole = sample();
        let path = format!("/home/{NAME}/x");
        whole.note = Some(NAME.to_owned());
        whole.started = "2026-11-22T13:14:15Z".to_owned();
        whole.plan.directory = Some(NAME.to_owned());
        whole.plan.arguments = vec![NAME.to_owned()];
        whole.warnings.push(format!("cannot read {path}"));
        whole.conditions.boot_id = Some(NAME.to_owned());
        whole.machine.host = Some(NAME.to_owned());
        whole.conditions.kernel_version = Some(format!("#1 by {NAME}"));
        whole.conditions.uid = Some(4321);
        whole.conditions.preload = Some(vec![NAME.to_owned()]);
        whole.conditions.command_line = Some(format!("isolcpus=1 user={NAME}"));
        let mut bill = crate::bill::Bill {
            program: vec![path.clone(), format!("--user={NAME}")],
            pid: Some(4321),
            counted: vec![crate::bill::CountedRun::default()],
            items: vec![crate::bill::BillItem::default()],
            ..crate::bill::Bill::default()
        };
        bill.counted[0].calls.push(crate::bill::Call::default());
        let counted = &mut bill.counted[0];
        let of_counted = [&mut counted.unknown, &mut counted.calls[0].unknown];
        for unknown in of_counted.into_iter().chain([&mut bill.unknown, &mut bill.items[0].unknown]) {
            unknown.insert("owner".into(), NAME.into());
        }
        whole.bill = Some(Box::new(bill));
        let figure = &mut whole.figures[0];
        let circumstances = &mut figure.launches[0].circumstances;
        (circumstances.tracer_pid, circumstances.preload) = (Some(4321), Some(vec![NAME.to_owned()]));
        circumstances.unknown.insert("owner".into(), NAME.into());
        figure.launches[0].unknown.insert("owner".into(), NAME.into());
        figure.percentiles = Some(timed_alone_beside(NAME));
        figure.evidence.tracer_pid = Some(4321);
        let mut alone = figure.launches[0].clone();
        alone.circumstances.tracer_pid = Some(0);
        figure.launches.push(alone);
        let maps = [
            &mut whole.unknown,
            &mut whole.conditions.unknown,
            &mut whole.machine.unknown,
            &mut whole.tool.unknown,
            &mut whole.plan.unknown,
            &mut whole.figures[0].unknown,
        ];
        for unknown in maps {
            unknown.insert("owner".into(), NAME.into());
        }
        let check = |name: &str, state| crate::Check {
            check: name.to_owned(),
            state,
            says: NAME.to_owned(),
            remedy: Some(NAME.to_owned()),
            ..whole.doctor[0].clone()
        };
        let of_tomorrow = [check("visitors", CheckState::Fine), check("owner", CheckState::Disturbs)];
        let nameless = crate::Check {
            says: "steps of 1 ns".to_owned(),
            remedy: None,
            ..check("clock_source", CheckState::Fine)
        };
        whole.doctor = of_tomorrow.into_iter().chain([nameless]).collect();
        let anonymous = whole.anonymous();
        let text = String::from_utf8(crate::to_bytes(&anonymous).expect("a result")).expect("text");
        assert!(!text.contains(NAME), "{text}");
        let by = |gaps: &crate::Gaps| (gaps.cause, gaps.by.clone());
        let gaps = anonymous.figures[0].percentiles.iter().flat_map(|it| &it.account.gaps);
        let timer = (GapCause::Interrupt, Some("timer".to_owned()));
        assert_eq!(gaps.map(by).collect::<Vec<_>>(), [(GapCause::Preemption, None), timer]);
        assert_eq!(anonymous.figures[0].evidence.tracer_pid, None);
        assert_eq!(anonymous.figures[0].launches[1].circumstances.tracer_pid, Some(0), "nobody is nobody");
        let circumstances = &anonymous.figures[0].launches[0].circumstances;
        assert_eq!(
            (circumstances.tracer_pid, circumstances.seccomp_mode),
            (None, Some(2)),
            "a mode names nobody"
        );
        assert_eq!(circumstances.preload, Some(vec![LEFT_OUT.to_owned()]));
        assert_eq!(anonymous.started, "2026-11-22T00:00:00Z");
        assert_eq!(
            (anonymous.conditions.uid, anonymous.conditions.preload.map(|it| it.len())),
            (None, Some(1))
        );
        assert_eq!(anonymous.conditions.command_line.as_deref(), Some("isolcpus=1"));
        assert_eq!(anonymous.plan.directory.as_deref(), Some(LEFT_OUT));
        assert_eq!(
            anonymous.bill.map(|bill| (bill.program, bill.pid)),
            Some((vec![LEFT_OUT.to_owned()], None))
        );
        assert_eq!(anonymous.warnings.last().map(String::as_str), Some("cannot read (left out)"));
        let says: Vec<&str> = anonymous.doctor.iter().map(|check| check.says.as_str()).collect();
        assert_eq!(says, ["fine", LEFT_OUT, "steps of 1 ns"]);
    }

    #[test]
    fn an_anonymous_result_is_a_result_with_the_same_figures() {
        let whole = sample();
        let anonymous = whole.clone().anonymous();
        assert_eq!(anonymous.figures.len(), whole.figures.len());
        for (one, other) in anonymous.figures.iter().zip(&whole.figures) {
            assert_eq!((&one.id, &one.quantities), (&other.id, &other.quantities));
        }
        assert_eq!(anonymous.machine, whole.machine);
        let bytes = crate::to_bytes(&anonymous).expect("a result");
        assert_eq!(crate::from_bytes(&bytes).expect("it can be read"), anonymous);
        assert_eq!(anonymous.clone().anonymous(), anonymous, "once is enough");
    }
}
