//! Other stores on the workload of document 001, beside recorddb: one sequence of operations, one table.

mod contestants;
#[cfg(feature = "gdbm")]
mod gdbm;
mod lmdb;
mod sqlite;
#[cfg(feature = "tdb")]
mod tdb;

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use contestants::{ALL, BASE, Contestant};
use oscost_recorddb::driver;
use oscost_recorddb::workload::{Counts, WorkPlan, Workload};

const HELP: &str = "\
Runs document 001's workload on recorddb and on other stores, and prints one table.

  --records LIST     records written first, all processes together      [2000]
  --processes LIST   how many run at the same time                      [1,4]
  --launches N       launches of each, in turn; medians are shown       [7]
  --seed N           seed of the sequence                               [1]
  --directory DIR    where the stores are made                          [/dev/shm, or the directory for temporary files]
  --durable          those that write through to the disk, too
  --only TEXT        those whose name holds TEXT, and recorddb fast with mutexes
";

struct Arguments {
    records: Vec<u32>,
    processes: Vec<u32>,
    launches: usize,
    seed: u64,
    directory: PathBuf,
    durable: bool,
    only: String,
}

fn arguments() -> Result<Option<Arguments>, Box<dyn Error>> {
    let memory = Path::new("/dev/shm");
    let mut found = Arguments {
        records: vec![2000],
        processes: vec![1, 4],
        launches: 7,
        seed: 1,
        directory: if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() },
        durable: false,
        only: String::new(),
    };
    let list = |text: String| text.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>();
    let mut given = std::env::args().skip(1);
    while let Some(option) = given.next() {
        let mut value = || given.next().ok_or(format!("{option} needs a value"));
        match option.as_str() {
            "--records" => found.records = list(value()?)?,
            "--processes" => found.processes = list(value()?)?,
            "--launches" => found.launches = value()?.parse()?,
            "--seed" => found.seed = value()?.parse()?,
            "--directory" => found.directory = value()?.into(),
            "--durable" => found.durable = true,
            "--only" => found.only = value()?,
            "--help" => return Ok(None),
            _ => return Err(format!("{option} is no option; --help lists them").into()),
        }
    }
    if found.launches == 0 || found.processes.contains(&0) {
        return Err("at least one launch and one process".into());
    }
    Ok(Some(found))
}

/// A directory of one launch, gone with it.
struct Directory(PathBuf);

impl Directory {
    fn new(parent: &Path) -> Result<Self, Box<dyn Error>> {
        let path = parent.join(format!("oscost-stores-{:032x}", oscost_sys::random::bits()?));
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One launch: times in s, answers, and switches because somebody waited.
struct Launch {
    cpu: f64,
    clock: f64,
    answers: [u64; 7],
    operations: u64,
    waits: u64,
}

fn launch(contestant: &Contestant, plans: &[WorkPlan], directory: &Path) -> Result<Launch, Box<dyn Error>> {
    let directory = Directory::new(directory)?;
    let alone = plans.len() == 1;
    // Made by one process beforehand: making it is not what is timed.
    let maker = oscost_sys::process::Child::fork(|| match (contestant.open)(&directory.0, alone) {
        Ok(_) => 0,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{}: {error}", contestant.name);
            1
        }
    })?;
    if maker.wait()?.code != Some(0) {
        return Err(format!("{} could not be made", contestant.name).into());
    }
    let done = driver::run(plans, |_| (contestant.open)(&directory.0, alone), 600_000_000_000)?;
    let done = done.into_iter().collect::<Result<Vec<_>, String>>()?;
    let from = done.iter().map(|child| child.from_to_ns.0).min().unwrap_or(0);
    let to = done.iter().map(|child| child.from_to_ns.1).max().unwrap_or(0);
    let counts = done.iter().fold(Counts::default(), |sum, child| sum.plus(&child.counts));
    let cpu: u64 = done.iter().map(|child| child.usage.user_ns + child.usage.system_ns).sum();
    Ok(Launch {
        cpu: cpu as f64 / 1e9,
        clock: (to - from) as f64 / 1e9,
        answers: counts.answers(),
        operations: counts.total(),
        waits: done.iter().map(|child| child.usage.voluntary_switches).sum(),
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { (values[half - 1] + values[half]) / 2.0 }
}

fn table(arguments: &Arguments, records: u32, processes: u32) -> Result<(), Box<dyn Error>> {
    let plans: Vec<WorkPlan> = (0..processes)
        .map(|child| WorkPlan {
            workload: Workload::Figure,
            records: records / processes,
            seed: arguments.seed,
            child,
        })
        .collect();
    let takes_part = |contestant: &&Contestant| {
        (arguments.durable || !contestant.durable)
            && (contestant.name == BASE || contestant.name.contains(&arguments.only))
    };
    let contestants: Vec<&Contestant> = ALL.iter().filter(takes_part).collect();
    let mut launches: Vec<Vec<Launch>> = contestants.iter().map(|_| Vec::new()).collect();
    for round in 0..arguments.launches {
        // In turn, and each round begins with another: nobody always runs behind the same one.
        for place in 0..contestants.len() {
            let number = (place + round) % contestants.len();
            launches[number].push(launch(contestants[number], &plans, &arguments.directory)?);
        }
    }
    let base = contestants.iter().position(|contestant| contestant.name == BASE).ok_or("no base")?;
    let operations = launches[base][0].operations;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "\n{records} records, {processes} process{}, {operations} operations, {} launches, {}",
        if processes == 1 { "" } else { "es" },
        arguments.launches,
        arguments.directory.display()
    )?;
    let head = ["clock s", "cpu s", "us/op", "clock ratio", "waits"];
    writeln!(out, "{:<40}{:>9}{:>9}{:>9}{:>13}{:>9}", "", head[0], head[1], head[2], head[3], head[4])?;
    for (contestant, own) in contestants.iter().zip(&launches) {
        if let Some(other) = own.iter().find(|launch| launch.answers != launches[base][0].answers) {
            return Err(format!("{} answered otherwise: {:?}", contestant.name, other.answers).into());
        }
        let clock = median(own.iter().map(|launch| launch.clock).collect());
        let cpu = median(own.iter().map(|launch| launch.cpu).collect());
        let ratio =
            median(own.iter().zip(&launches[base]).map(|(own, base)| own.clock / base.clock).collect());
        let waits = median(own.iter().map(|launch| launch.waits as f64).collect());
        let each = clock / operations as f64 * 1e6;
        let name = format!("{}{}", contestant.name, if contestant.durable { " (durable)" } else { "" });
        writeln!(out, "{name:<40}{clock:>9.4}{cpu:>9.4}{each:>9.3}{ratio:>12.2}x{waits:>9.0}")?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(arguments) = arguments()? else {
        write!(std::io::stdout(), "{HELP}")?;
        return Ok(());
    };
    for records in &arguments.records {
        for processes in &arguments.processes {
            table(&arguments, *records, *processes)?;
        }
    }
    Ok(())
}
