//! Uncontended locks and hand-overs of locks. Contended locks are in `contention`.

use oscost_harness::Benchmark;

mod condition_variable;
pub mod excluding;
pub mod futex;
mod futex_mismatch;
mod futex_wake;
pub mod mutex;
pub mod none;
pub mod pi_mutex;
mod pipe_token;
pub mod robust_mutex;
pub mod rwlock_read;
pub mod rwlock_write;
pub mod shared_mutex;
pub mod spin;
mod system_v_message;

pub const ALL: &[&dyn Benchmark] = &[
    &shared_mutex::UNCONTENDED,
    &mutex::UNCONTENDED,
    &robust_mutex::UNCONTENDED,
    &pi_mutex::UNCONTENDED,
    &rwlock_read::UNCONTENDED,
    &rwlock_write::UNCONTENDED,
    &condition_variable::UNCONTENDED,
    &futex::UNCONTENDED,
    &futex_wake::WakeNobody,
    &futex_mismatch::WaitMismatch,
    &pipe_token::UNCONTENDED,
    &system_v_message::UNCONTENDED,
    &spin::UNCONTENDED,
    &none::UNCONTENDED,
    &shared_mutex::SAME_CPU,
    &robust_mutex::SAME_CPU,
    &pi_mutex::SAME_CPU,
    &rwlock_write::SAME_CPU,
    &condition_variable::SAME_CPU,
    &futex::SAME_CPU,
    &pipe_token::SAME_CPU,
    &system_v_message::SAME_CPU,
    &shared_mutex::CROSS_CPU,
    &robust_mutex::CROSS_CPU,
    &pi_mutex::CROSS_CPU,
    &rwlock_write::CROSS_CPU,
    &condition_variable::CROSS_CPU,
    &futex::CROSS_CPU,
    &pipe_token::CROSS_CPU,
    &system_v_message::CROSS_CPU,
];
