//! The quantities that benchmarks yield: name, unit, and whether less or more of one is better.

/// Which direction of a quantity is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Better {
    /// The less the better.
    Less,
    /// The more the better.
    More,
    /// It says how, not how well.
    Neither,
}

/// What is known of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Known {
    /// Name, as in the result.
    pub name: &'static str,
    /// "ns", "cycles", "count", "share" or "ratio".
    pub unit: &'static str,
    /// Which direction is better.
    pub better: Better,
    /// What it is, in a sentence.
    pub what: &'static str,
}

/// A constant for each name, and the table of them all.
macro_rules! quantities {
    ($($constant:ident = $name:literal, $unit:literal, $better:ident, $what:literal;)*) => {
        $(#[doc = $what] pub const $constant: &str = $name;)*

        /// Every quantity that this version knows.
        pub const ALL: &[Known] =
            &[$(Known { name: $name, unit: $unit, better: Better::$better, what: $what }),*];
    };
}

quantities! {
    FLOOR = "floor", "ns", Less, "Lower quartile over launches of the launch minimum.";
    QUIET = "quiet", "ns", Less, "Median over quiet windows of the window's median.";
    CYCLES = "cycles", "cycles", Less, "The same in steps of the chain.";
    TYPICAL = "typical", "ns", Less, "Median over launches of the launch median.";
    P5 = "p5", "ns", Less, "5th percentile of the batch means.";
    BATCH_P99 = "batch_p99", "ns", Less, "99th percentile of the batch means.";
    MEAN = "mean", "ns", Less, "Mean of all samples.";
    MAX = "max", "ns", Less, "Largest batch mean.";
    SAME_CPU_SHARE = "same_cpu_share", "share", Neither, "Batches that ended with all participants on one CPU.";
    TIME_PER_OPERATION = "time_per_operation", "ns", Less, "Time of the clock for an operation.";
    CPU_PER_OPERATION = "cpu_per_operation", "ns", Less, "CPU time of all processes for an operation.";
    USER_PER_OPERATION = "user_per_operation", "ns", Less, "Their user time for an operation.";
    SYSTEM_PER_OPERATION = "system_per_operation", "ns", Less, "Their system time for an operation.";
    LOCK_WAIT_PER_OPERATION = "lock_wait_per_operation", "ns", Less, "Time that an operation waits for locks.";
    IO_CALLS_PER_OPERATION = "io_calls_per_operation", "count", Less, "Reads and writes for an operation.";
    LOCK_CALLS_PER_OPERATION = "lock_calls_per_operation", "count", Less, "System calls that lock, for an operation.";
    VISITS_PER_OPERATION = "visits_per_operation", "count", Less, "Index records that an operation reads on its way.";
    SWITCHES_PER_OPERATION = "switches_per_operation", "count", Less, "Switches of all participants for an operation.";
    IDEAL_SHARE = "ideal_share", "share", More, "The hold time as a share of the time of a turn.";
    BLOCKED_SHARE = "blocked_share", "share", Less, "Voluntary switches for a turn, at most 1.";
    OWNER_CHANGE_SHARE = "owner_change_share", "share", Neither, "Turns that begin with another owner.";
    FAIRNESS = "fairness", "ratio", More, "Jain's index of the workers' turns.";
    LONGEST_WAIT = "longest_wait", "ns", Less, "Longest wait of a worker for the lock.";
    HANDOVER_P50 = "handover_p50", "ns", Less, "Median time from one owner to the next that waited.";
    HANDOVER_P99 = "handover_p99", "ns", Less, "99th percentile of the same.";
    LOST_UPDATES = "lost_updates", "count", Less, "Updates under the lock that another worker overwrote.";
    HOLD = "hold", "ns", Neither, "Hold time as measured.";
    WORKERS_PER_CPU = "workers_per_cpu", "ratio", Neither, "Workers for each CPU.";
    FETCH_P50 = "fetch_p50", "ns", Less, "Median latency of a fetch.";
    FETCH_P99 = "fetch_p99", "ns", Less, "99th percentile of the same.";
    INSERT_P50 = "insert_p50", "ns", Less, "Median latency of an insertion.";
    INSERT_P99 = "insert_p99", "ns", Less, "99th percentile of the same.";
    REPLACE_P50 = "replace_p50", "ns", Less, "Median latency of a replacement.";
    REPLACE_P99 = "replace_p99", "ns", Less, "99th percentile of the same.";
    DELETE_P50 = "delete_p50", "ns", Less, "Median latency of a deletion.";
    DELETE_P99 = "delete_p99", "ns", Less, "99th percentile of the same.";
    CPU = "cpu", "ns", Less, "CPU time of all processes.";
    CLOCK = "clock", "ns", Less, "Time of the clock from the first start to the last end.";
    USER = "user", "ns", Less, "User time of all processes.";
    SYSTEM = "system", "ns", Less, "System time of all processes.";
    CPU_SHARE = "cpu_share", "share", Neither, "CPU time as a share of the time of the clock.";
    OPERATIONS = "operations", "count", Neither, "Operations of all processes.";
    IO_CALLS = "io_calls", "count", Less, "Reads and writes of all processes.";
    LOCK_CALLS = "lock_calls", "count", Less, "System calls that lock, of all processes.";
    VISITS = "visits", "count", Less, "Index records that were read on the way to others.";
    SWITCHES = "switches", "count", Less, "Switches of all processes.";
    INSERT_APPENDED = "insert_appended", "count", Neither, "Insertions at the end of the files.";
    INSERT_REUSED = "insert_reused", "count", Neither, "Insertions into space that was free.";
    REPLACE_OTHER_LENGTH = "replace_other_length", "count", Neither, "Replacements by data of another length.";
    REPLACE_SAME_LENGTH = "replace_same_length", "count", Neither, "Replacements by data of the same length.";
    REPLACE_MISSING = "replace_missing", "count", Neither, "Replacements of what was not there.";
    FETCH_FOUND = "fetch_found", "count", Neither, "Fetches that found a record.";
    FETCH_MISSING = "fetch_missing", "count", Neither, "Fetches that found none.";
    DELETE_FOUND = "delete_found", "count", Neither, "Deletions that found a record.";
    DELETE_MISSING = "delete_missing", "count", Neither, "Deletions that found none.";
    STEP = "step", "ns", Less, "True step of a clock.";
    SMALLEST_DIFFERENCE = "smallest_difference", "ns", Less, "Smallest difference between two readings that differ.";
    EQUAL_RUN_LENGTH = "equal_run_length", "count", Neither, "Usual number of equal readings in a row.";
    STEPS_OVER_1US = "steps_over_1us", "share", Less, "Steps of more than 1 us; document 004's own method counts them.";
    STEPS_OVER_10US = "steps_over_10us", "count", Less, "Steps of more than 10 us.";
    LARGEST_STEP = "largest_step", "ns", Less, "Largest step.";
    SMALLEST_STEP = "smallest_step", "ns", Less, "Smallest step.";
    BACKWARD_STEPS = "backward_steps", "count", Less, "Steps back in time.";
    FAULTS = "faults", "count", Less, "Page faults while the clock was read.";
    FIT_DISTANCE = "fit_distance", "share", Less, "Distance of the steps from an exponential distribution.";
    LAST_P50 = "last_p50", "ns", Less, "Median latency of the client that has the message last in a tick.";
    LAST_P99 = "last_p99", "ns", Less, "99th percentile of the same.";
    LAST_MAX = "last_max", "ns", Less, "Largest of the same.";
    FIRST_P50 = "first_p50", "ns", Less, "Median latency of the client that has it first.";
    NEXT_P50 = "next_p50", "ns", Less, "Median time from one client of a tick to the next.";
    LATENESS_P50 = "lateness_p50", "ns", Less, "Median time from due to stamp.";
    LATENESS_P99 = "lateness_p99", "ns", Less, "99th percentile of the same.";
    LONGEST_SLEEP = "longest_sleep", "ns", Less, "Largest time from due to stamp.";
    LATENCY_MEAN = "latency_mean", "ns", Less, "Mean time from stamp to received.";
    LATENCY_WIDTH = "latency_width", "ns", Less, "Two standard deviations of the same.";
    LATENCY_MIN = "latency_min", "ns", Less, "Smallest of the same.";
    LATENCY_P5 = "latency_p5", "ns", Less, "5th percentile of the same.";
    LATENCY_P50 = "latency_p50", "ns", Less, "Median of the same.";
    LATENCY_MAD = "latency_mad", "ns", Less, "Median distance from the median of the same.";
    LATENCY_P95 = "latency_p95", "ns", Less, "95th percentile of the same.";
    LATENCY_P99 = "latency_p99", "ns", Less, "99th percentile of the same.";
    LATENCY_MAX = "latency_max", "ns", Less, "Largest of the same.";
    BODY_LOW = "body_low", "ns", Less, "Lower end of the body of the latencies.";
    BODY_HIGH = "body_high", "ns", Less, "Upper end of the body of the latencies.";
    BODY_SHARE = "body_share", "share", More, "Latencies within the body.";
    PEAKS_PER_THOUSAND = "peaks_per_thousand", "count", Less, "Peaks in a thousand ticks.";
    PEAKS_LOW = "peaks_low", "ns", Less, "Smallest peak.";
    PEAKS_HIGH = "peaks_high", "ns", Less, "Largest peak.";
    RESPONSE_P50 = "response_p50", "ns", Less, "Median time from due to received.";
    RESPONSE_P99 = "response_p99", "ns", Less, "99th percentile of the same.";
    RESPONSE_MAX = "response_max", "ns", Less, "Largest of the same.";
    CLIENT_FIRST = "client_first", "ns", Less, "Mean latency of the client that is served first.";
    CLIENT_NEXT = "client_next", "ns", Less, "Mean step from one client to the next.";
    CLIENT_SERVICE = "client_service", "ns", Less, "Mean and standard deviation of the client served last, together.";
    CLIENT_LAST_SD = "client_last_sd", "ns", Less, "Standard deviation of the client served last.";
    DISPATCH_LOAD = "dispatch_load", "share", Less, "That service time as a share of the tick.";
    SERVER_LOOP = "server_loop", "ns", Less, "Time of the sending loop.";
    SERVER_CPU = "server_cpu", "ns", Less, "CPU time of the server for a tick.";
    SWITCHES_PER_CLIENT = "switches_per_client", "ratio", Less, "Voluntary switches for a message.";
    REVERSED_SHARE = "reversed_share", "share", Neither, "Ticks served in the reversed order of the tick before.";
    SAME_ORDER_SHARE = "same_order_share", "share", Neither, "Ticks served in the order of the tick before.";
    SENT = "sent", "count", Neither, "Ticks that the server sent.";
    RECEIVED = "received", "count", Neither, "Messages that arrived.";
    DROPPED = "dropped", "count", Less, "Messages that a full queue refused.";
    MISSED = "missed", "count", Less, "Ticks that a client slept through.";
    OVERRUNS = "overruns", "count", Less, "Ticks that the server left out because it was late.";
    IDLE_SHARE = "idle_share", "share", More, "Time that the CPUs of the session were idle.";
    REAL_TIME = "real_time", "share", More, "1 where real-time scheduling was granted to everybody, else 0.";
    IDLE_MEAN = "idle_mean", "ns", Less, "Mean latency without the load.";
    IDLE_WIDTH = "idle_width", "ns", Less, "Two standard deviations of the same.";
    IDLE_P50 = "idle_p50", "ns", Less, "Median of the same.";
    IDLE_P99 = "idle_p99", "ns", Less, "99th percentile of the same.";
    IDLE_MAX = "idle_max", "ns", Less, "Largest of the same.";
    IDLE_RANGE_LOW = "idle_range_low", "ns", Less, "Mean less the standard deviation of its worst stretch.";
    IDLE_RANGE_HIGH = "idle_range_high", "ns", Less, "Mean and the standard deviation of its worst stretch.";
    IDLE_PEAK = "idle_peak", "ns", Less, "Largest latency without the load.";
    IDLE_PEAKS_PER_THOUSAND = "idle_peaks_per_thousand", "count", Less, "Peaks in a thousand ticks without the load.";
    BUSY_MEAN = "busy_mean", "ns", Less, "Mean latency under the load.";
    BUSY_WIDTH = "busy_width", "ns", Less, "Two standard deviations of the same.";
    BUSY_P50 = "busy_p50", "ns", Less, "Median of the same.";
    BUSY_P99 = "busy_p99", "ns", Less, "99th percentile of the same.";
    BUSY_RANGE_LOW = "busy_range_low", "ns", Less, "Mean less the standard deviation of its worst stretch.";
    BUSY_RANGE_HIGH = "busy_range_high", "ns", Less, "Mean and the standard deviation of its worst stretch.";
    BUSY_PEAK = "busy_peak", "ns", Less, "Largest latency under the load.";
    RANGE_WINDOW = "range_window", "ns", Neither, "Length of the stretch whose range is told.";
    LOAD_TIME = "load_time", "ns", Neither, "How long the load was on.";
    LOAD_ROUNDS = "load_rounds", "count", More, "Rounds of work that the load did.";
    SECOND_LOW = "second_low", "ns", Less, "Mean less the standard deviation of document 002's worst second.";
    SECOND_HIGH = "second_high", "ns", Less, "Mean and the standard deviation of the same.";
    EVEN_ODD = "even_odd", "ns", Less, "Difference between even and odd ticks.";
    PERIOD_MEAN = "period_mean", "ns", Neither, "Mean time from one tick to the next.";
    OPENED = "opened", "count", Neither, "Clients that the server opened.";
    CLOSED = "closed", "count", Neither, "Clients that it closed at their end.";
    LOST = "lost", "count", Less, "Clients that it took off its list.";
    ELAPSED = "elapsed", "ns", Less, "Time of all operations.";
    RATIO = "ratio", "ratio", Neither, "One method's time over another's.";
    DIFFERENCE = "difference", "ns", Less, "Difference of the ns parts of two readings.";
    OVER_SECOND = "over_second", "ns", Neither, "The same where a second turns between them.";
    AVERAGE = "average", "ns", Less, "Time of a loop by its passes.";
    WITH_LAYER = "with_layer", "ns", Less, "Time of a call under the layer.";
    WITHOUT_LAYER = "without_layer", "ns", Less, "Time of the same call without it, in the same rounds.";
    LAYER_ADDS = "layer_adds", "ns", Less, "Median over rounds of the difference between the two.";
    LAYER_RATIO = "layer_ratio", "ratio", Less, "Median over rounds of one divided by the other.";
    WITH_CALL = "with_call", "ns", Less, "The same with the call.";
    WITHOUT_CALL = "without_call", "ns", Less, "The same without it.";
    MINIMUM = "minimum", "ns", Less, "Smallest of the runs.";
    NEAR_MINIMUM = "near_minimum", "share", More, "Runs near the smallest.";
    MEDIAN = "median", "ns", Less, "Median of the runs.";
    SPREAD = "spread", "share", Less, "Largest run over the smallest, less 1.";
    SHARED_CPU = "shared_cpu", "share", Neither, "Runs that ended with both processes on one CPU.";
}

/// What is known of the quantity of this name; `None` of one that a benchmark outside of oscost yields.
#[must_use]
pub const fn known(name: &str) -> Option<&'static Known> {
    let mut index = 0;
    while index < ALL.len() {
        if same(ALL[index].name.as_bytes(), name.as_bytes()) {
            return Some(&ALL[index]);
        }
        index += 1;
    }
    None
}

/// Texts cannot be compared at compile time yet; their bytes can.
const fn same(one: &[u8], other: &[u8]) -> bool {
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_quantity_is_known_once_by_its_own_name() {
        for quantity in ALL {
            assert_eq!(known(quantity.name), Some(quantity), "the first of this name");
            assert!(["ns", "cycles", "count", "share", "ratio"].contains(&quantity.unit), "{quantity:?}");
        }
        assert_eq!(known(LAST_P50).map(|it| (it.unit, it.better)), Some(("ns", Better::Less)));
        assert_eq!(known(FAIRNESS).map(|it| (it.unit, it.better)), Some(("ratio", Better::More)));
        for none in ["", "last_p5", "last_p500"] {
            assert_eq!(known(none), None, "{none}");
        }
    }
}
