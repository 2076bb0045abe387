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
    FLOOR = "floor", "ns", Less, "Fastest batch of each launch; of these the lower quartile over launches.";
    QUIET = "quiet", "ns", Less, "Median batch of each quiet window; of these the median.";
    CYCLES = "cycles", "cycles", Less, "Cost in core cycles: the quiet time in steps of the latency chain.";
    TYPICAL = "typical", "ns", Less, "Median batch of each launch while the core ran at full speed; of these the median over launches, or the lower quartile where another CPU is woken.";
    P5 = "p5", "ns", Less, "5th percentile of the batch means.";
    BATCH_P99 = "batch_p99", "ns", Less, "99th percentile of the batch means.";
    MEAN = "mean", "ns", Less, "Mean of all samples.";
    MAX = "max", "ns", Less, "Largest batch mean.";
    ASLEEP = "asleep", "ns", Less, "Median batch of each launch while the partner's CPU sleeps when it is idle; of these the median.";
    ASLEEP_ADDS = "asleep_adds", "ns", Less, "What a sleeping CPU adds to the typical price of the same launch; of these the median.";
    UNSLEPT = "unslept", "ns", Less, "Median of the batches in which the measuring side never slept; of these the median.";
    SAME_CPU_SHARE = "same_cpu_share", "share", Neither, "Share of batches that ended with all participants on one CPU.";
    TIME_PER_OPERATION = "time_per_operation", "ns", Less, "Elapsed time per operation.";
    CPU_PER_OPERATION = "cpu_per_operation", "ns", Less, "CPU time of all processes per operation.";
    USER_PER_OPERATION = "user_per_operation", "ns", Less, "User time of all processes per operation.";
    SYSTEM_PER_OPERATION = "system_per_operation", "ns", Less, "System time of all processes per operation.";
    LOCK_WAIT_PER_OPERATION = "lock_wait_per_operation", "ns", Less, "Time per operation spent waiting for locks.";
    IO_CALLS_PER_OPERATION = "io_calls_per_operation", "count", Less, "Read and write calls per operation.";
    LOCK_CALLS_PER_OPERATION = "lock_calls_per_operation", "count", Less, "System calls for locking per operation.";
    VISITS_PER_OPERATION = "visits_per_operation", "count", Less, "Index records read per operation on the way to others.";
    SWITCHES_PER_OPERATION = "switches_per_operation", "count", Less, "Context switches of all participants per operation.";
    IDEAL_SHARE = "ideal_share", "share", More, "Time of an ideal turn as a share of the time per turn.";
    BLOCKED_SHARE = "blocked_share", "share", Less, "Voluntary switches per turn, at most 1.";
    OWNER_CHANGE_SHARE = "owner_change_share", "share", Neither, "Share of turns that begin with another owner.";
    FAIRNESS = "fairness", "ratio", More, "Jain's index of the workers' turns.";
    LONGEST_WAIT = "longest_wait", "ns", Less, "Longest time that a worker waited for the lock.";
    HANDOVER_P50 = "handover_p50", "ns", Less, "Median time from one owner to the next owner that waited.";
    HANDOVER_P99 = "handover_p99", "ns", Less, "99th percentile of the time from one owner to the next owner that waited.";
    LOST_UPDATES = "lost_updates", "count", Less, "Updates made under the lock and overwritten by another worker.";
    HOLD = "hold", "ns", Neither, "Measured hold time.";
    ALONE = "alone", "ns", Less, "Time per operation of one worker while the others rest.";
    EFFICIENCY = "efficiency", "ratio", More, "Operations of all workers, divided by as many times those of one alone.";
    WORKERS_PER_CPU = "workers_per_cpu", "ratio", Neither, "Workers per CPU.";
    FETCH_P50 = "fetch_p50", "ns", Less, "Median latency of a fetch.";
    FETCH_P99 = "fetch_p99", "ns", Less, "99th percentile of the latency of a fetch.";
    INSERT_P50 = "insert_p50", "ns", Less, "Median latency of an insertion.";
    INSERT_P99 = "insert_p99", "ns", Less, "99th percentile of the latency of an insertion.";
    REPLACE_P50 = "replace_p50", "ns", Less, "Median latency of a replacement.";
    REPLACE_P99 = "replace_p99", "ns", Less, "99th percentile of the latency of a replacement.";
    DELETE_P50 = "delete_p50", "ns", Less, "Median latency of a deletion.";
    DELETE_P99 = "delete_p99", "ns", Less, "99th percentile of the latency of a deletion.";
    CPU = "cpu", "ns", Less, "CPU time of all processes.";
    CLOCK = "clock", "ns", Less, "Elapsed time from the first start to the last end.";
    USER = "user", "ns", Less, "User time of all processes.";
    SYSTEM = "system", "ns", Less, "System time of all processes.";
    CPU_SHARE = "cpu_share", "share", Neither, "CPU time as a share of the elapsed time.";
    OPERATIONS = "operations", "count", Neither, "Operations of all processes.";
    IO_CALLS = "io_calls", "count", Less, "Read and write calls of all processes.";
    LOCK_CALLS = "lock_calls", "count", Less, "System calls for locking, of all processes.";
    VISITS = "visits", "count", Less, "Index records read on the way to others.";
    SWITCHES = "switches", "count", Less, "Context switches of all processes.";
    INSERT_APPENDED = "insert_appended", "count", Neither, "Insertions at the end of the files.";
    INSERT_REUSED = "insert_reused", "count", Neither, "Insertions into space that was free.";
    REPLACE_OTHER_LENGTH = "replace_other_length", "count", Neither, "Replacements by data of another length.";
    REPLACE_SAME_LENGTH = "replace_same_length", "count", Neither, "Replacements by data of the same length.";
    REPLACE_MISSING = "replace_missing", "count", Neither, "Replacements of records that were not there.";
    FETCH_FOUND = "fetch_found", "count", Neither, "Fetches that found a record.";
    FETCH_MISSING = "fetch_missing", "count", Neither, "Fetches that found no record.";
    DELETE_FOUND = "delete_found", "count", Neither, "Deletions that found a record.";
    DELETE_MISSING = "delete_missing", "count", Neither, "Deletions that found no record.";
    STEP = "step", "ns", Less, "True step of a clock.";
    SMALLEST_DIFFERENCE = "smallest_difference", "ns", Less, "Smallest difference between two readings that differ.";
    EQUAL_RUN_LENGTH = "equal_run_length", "count", Neither, "Usual number of equal readings in a row.";
    STEPS_OVER_1US = "steps_over_1us", "share", Less, "Share of steps of more than 1 us; document 004's own method counts them.";
    STEPS_OVER_10US = "steps_over_10us", "count", Less, "Steps of more than 10 us.";
    LARGEST_STEP = "largest_step", "ns", Less, "Largest step.";
    SMALLEST_STEP = "smallest_step", "ns", Less, "Smallest step.";
    BACKWARD_STEPS = "backward_steps", "count", Less, "Steps back in time.";
    FAULTS = "faults", "count", Less, "Page faults while the clock was read.";
    FIT_DISTANCE = "fit_distance", "share", Less, "Distance of the steps from an exponential distribution.";
    LAST_P50 = "last_p50", "ns", Less, "Median latency of the client that gets the message last in each tick.";
    LAST_P99 = "last_p99", "ns", Less, "99th percentile of the latency of the last client in each tick.";
    LAST_MAX = "last_max", "ns", Less, "Largest latency of the last client in a tick.";
    FIRST_P50 = "first_p50", "ns", Less, "Median latency of the client that gets the message first in each tick.";
    NEXT_P50 = "next_p50", "ns", Less, "Median time from one client of a tick to the next.";
    LATENESS_P50 = "lateness_p50", "ns", Less, "Median time from when a tick was due to its stamp.";
    LATENESS_P99 = "lateness_p99", "ns", Less, "99th percentile of the time from when a tick was due to its stamp.";
    LONGEST_SLEEP = "longest_sleep", "ns", Less, "Longest time from when a tick was due to its stamp.";
    CALL_P50 = "call_p50", "ns", Less, "Median time that the call takes which wakes another CPU.";
    LATENCY_MEAN = "latency_mean", "ns", Less, "Mean latency: the time from a message's stamp to its receipt.";
    LATENCY_WIDTH = "latency_width", "ns", Less, "Two standard deviations of the latency.";
    LATENCY_MIN = "latency_min", "ns", Less, "Smallest latency.";
    LATENCY_P5 = "latency_p5", "ns", Less, "5th percentile of the latency.";
    LATENCY_P50 = "latency_p50", "ns", Less, "Median latency.";
    LATENCY_MAD = "latency_mad", "ns", Less, "Median distance of a latency from the median latency.";
    LATENCY_P95 = "latency_p95", "ns", Less, "95th percentile of the latency.";
    LATENCY_P99 = "latency_p99", "ns", Less, "99th percentile of the latency.";
    LATENCY_MAX = "latency_max", "ns", Less, "Largest latency.";
    BODY_LOW = "body_low", "ns", Less, "Lower end of the body of the latencies.";
    BODY_HIGH = "body_high", "ns", Less, "Upper end of the body of the latencies.";
    BODY_SHARE = "body_share", "share", More, "Share of the latencies within the body.";
    PEAKS_PER_THOUSAND = "peaks_per_thousand", "count", Less, "Peaks per thousand ticks.";
    PEAKS_LOW = "peaks_low", "ns", Less, "Smallest peak.";
    PEAKS_HIGH = "peaks_high", "ns", Less, "Largest peak.";
    RESPONSE_P50 = "response_p50", "ns", Less, "Median time from when a tick was due to the receipt of its message.";
    RESPONSE_P99 = "response_p99", "ns", Less, "99th percentile of the time from when a tick was due to the receipt of its message.";
    RESPONSE_MAX = "response_max", "ns", Less, "Longest time from when a tick was due to the receipt of its message.";
    CLIENT_FIRST = "client_first", "ns", Less, "Mean latency of the client that is served first.";
    CLIENT_NEXT = "client_next", "ns", Less, "Mean step from one client to the next.";
    CLIENT_SERVICE = "client_service", "ns", Less, "Mean latency of the client served last, plus its standard deviation.";
    CLIENT_LAST_SD = "client_last_sd", "ns", Less, "Standard deviation of the client served last.";
    DISPATCH_LOAD = "dispatch_load", "share", Less, "The client_service time as a share of the tick.";
    SERVER_LOOP = "server_loop", "ns", Less, "Time of the sending loop.";
    SERVER_CPU = "server_cpu", "ns", Less, "CPU time of the server per tick.";
    SWITCHES_PER_CLIENT = "switches_per_client", "ratio", Less, "Voluntary switches per message.";
    REVERSED_SHARE = "reversed_share", "share", Neither, "Share of ticks served in the reverse order of the tick before.";
    SAME_ORDER_SHARE = "same_order_share", "share", Neither, "Share of ticks served in the order of the tick before.";
    SENT = "sent", "count", Neither, "Ticks that the server sent.";
    RECEIVED = "received", "count", Neither, "Messages that arrived.";
    DROPPED = "dropped", "count", Less, "Messages that a full queue refused.";
    MISSED = "missed", "count", Less, "Ticks that a client slept through.";
    OVERRUNS = "overruns", "count", Less, "Ticks that the server skipped because it was late.";
    NOT_GOT_SHARE = "not_got_share", "share", Less, "Of the messages that were due in the ticks that count, the share that was lost or never sent.";
    IDLE_SHARE = "idle_share", "share", More, "Share of the time in which the session's CPUs were idle.";
    REAL_TIME = "real_time", "share", More, "1 if every process was granted real-time scheduling, else 0.";
    IDLE_MEAN = "idle_mean", "ns", Less, "Mean latency without the load.";
    IDLE_WIDTH = "idle_width", "ns", Less, "Two standard deviations of the latency without the load.";
    IDLE_P50 = "idle_p50", "ns", Less, "Median latency without the load.";
    IDLE_P99 = "idle_p99", "ns", Less, "99th percentile of the latency without the load.";
    IDLE_MAX = "idle_max", "ns", Less, "Largest latency without the load, by document 002's own method.";
    IDLE_RANGE_LOW = "idle_range_low", "ns", Less, "Mean latency minus a standard deviation, in the worst stretch without the load.";
    IDLE_RANGE_HIGH = "idle_range_high", "ns", Less, "Mean latency plus a standard deviation, in the worst stretch without the load.";
    IDLE_PEAK = "idle_peak", "ns", Less, "Largest latency without the load.";
    IDLE_PEAKS_PER_THOUSAND = "idle_peaks_per_thousand", "count", Less, "Peaks per thousand ticks without the load.";
    BUSY_MEAN = "busy_mean", "ns", Less, "Mean latency under the load.";
    BUSY_WIDTH = "busy_width", "ns", Less, "Two standard deviations of the latency under the load.";
    BUSY_P50 = "busy_p50", "ns", Less, "Median latency under the load.";
    BUSY_P99 = "busy_p99", "ns", Less, "99th percentile of the latency under the load.";
    BUSY_RANGE_LOW = "busy_range_low", "ns", Less, "Mean latency minus a standard deviation, in the worst stretch under the load.";
    BUSY_RANGE_HIGH = "busy_range_high", "ns", Less, "Mean latency plus a standard deviation, in the worst stretch under the load.";
    BUSY_PEAK = "busy_peak", "ns", Less, "Largest latency under the load.";
    RANGE_WINDOW = "range_window", "ns", Neither, "Length of the stretches among which the worst is looked for.";
    LOAD_TIME = "load_time", "ns", Neither, "How long the load ran.";
    LOAD_ROUNDS = "load_rounds", "count", More, "Rounds of work done by the load.";
    SECOND_LOW = "second_low", "ns", Less, "Mean latency minus a standard deviation, in document 002's worst second.";
    SECOND_HIGH = "second_high", "ns", Less, "Mean latency plus a standard deviation, in document 002's worst second.";
    EVEN_ODD = "even_odd", "ns", Less, "Difference between even and odd ticks.";
    PERIOD_MEAN = "period_mean", "ns", Neither, "Mean time from one tick to the next.";
    OPENED = "opened", "count", Neither, "Clients that the server opened.";
    CLOSED = "closed", "count", Neither, "Clients that the server closed at their end.";
    LOST = "lost", "count", Less, "Clients that the server took off its list.";
    ELAPSED = "elapsed", "ns", Less, "Elapsed time of all operations.";
    RATIO = "ratio", "ratio", Neither, "One method's time divided by another's.";
    DIFFERENCE = "difference", "ns", Less, "Difference between the nanosecond parts of two readings.";
    OVER_SECOND = "over_second", "ns", Neither, "That difference where a new second begins between the two readings.";
    AVERAGE = "average", "ns", Less, "Time of a loop divided by its passes.";
    WITH_LAYER = "with_layer", "ns", Less, "Time of a call under the layer.";
    WITHOUT_LAYER = "without_layer", "ns", Less, "Time of the same call without the layer, in the same rounds.";
    LAYER_ADDS = "layer_adds", "ns", Less, "Median over rounds of the difference between the two.";
    LAYER_RATIO = "layer_ratio", "ratio", Less, "Median over rounds of one divided by the other.";
    WITH_CALL = "with_call", "ns", Less, "Time of a loop with the call, divided by its passes.";
    WITHOUT_CALL = "without_call", "ns", Less, "Time of the same loop without the call, divided by its passes.";
    MINIMUM = "minimum", "ns", Less, "Smallest result of the runs.";
    NEAR_MINIMUM = "near_minimum", "share", More, "Share of the runs whose result is near the smallest.";
    MEDIAN = "median", "ns", Less, "Median result of the runs.";
    SPREAD = "spread", "share", Less, "Largest result of the runs divided by the smallest, minus 1.";
    SHARED_CPU = "shared_cpu", "share", Neither, "Share of the runs that ended with both processes on one CPU.";
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
