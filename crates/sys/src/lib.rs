//! The operating system, wrapped by subject. The only crate of oscost with `unsafe` code.
//!
//! Calls that are measured are `#[inline(always)]`, so that the loop of a crate that forbids unsafe code compiles to the
//! call and nothing else. Everything returns [`CallError`] with the name of the call and the error of the system.

mod error;

pub mod affinity;
pub mod allocator;
pub mod audit;
pub mod bpf;
pub mod broadcast;
pub mod canary;
pub mod clock;
pub mod condition;
pub mod cpu_list;
pub mod cpu_time;
pub mod cycle_counter;
pub mod distance;
pub mod file;
pub mod file_page;
pub mod file_system;
pub mod folder;
pub mod futex;
pub mod gaps;
pub mod guest;
pub mod identity;
pub mod interposition;
pub mod interruption;
pub mod io_uring;
pub mod kernel_clock;
pub mod loopback;
pub mod mandatory_lock;
pub mod mapped_file;
pub mod memory;
pub mod memory_walk;
pub mod mutex;
mod named_semaphore;
pub mod namespace;
pub mod new_namespace;
pub mod offspring;
mod perf_event;
pub mod pipe;
pub mod positioned;
pub mod posix_queue;
pub mod power;
pub mod process;
pub mod processor;
pub mod program;
pub mod random;
pub mod readiness;
pub mod reaper;
pub mod record_lock;
pub mod region;
pub mod registration;
pub mod rwlock;
pub mod scheduling;
pub mod seccomp;
pub mod semaphore;
pub mod signal;
pub mod signal_handler;
pub mod socket;
pub mod standing;
pub mod system_call;
pub mod system_call_names;
pub mod system_v_queue;
pub mod terminal;
pub mod thread;
pub mod tick_device;
pub mod ticks;
pub mod time_source;
pub mod topology;
pub mod usage;
pub mod vdso;
pub mod vdso_random;
pub mod wakeup;
pub mod watched;

pub use error::CallError;
