//! Transports that keep messages in order for every client: pipes, FIFOs, POSIX and System V message queues.

use std::rc::Rc;

use oscost_harness::{CallError, Object, Outcome, Unable};
use oscost_sys::pipe::{self, Pipe};
use oscost_sys::posix_queue::PosixQueue;
use oscost_sys::system_v_queue::SystemVQueue;

use super::course::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Made, Recipients, Transport, for_each, receive_whole, send_whole};
use crate::lack;

/// A pipe to every client.
struct Pipes(Vec<Pipe>);

/// `realtime_ipc/pipe`: its writer never waits. pipe(7).
pub fn pipe(_: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    let pipe = |_| Pipe::without_waiting_writer().map_err(lack::of_descriptors);
    Ok(Box::new(Pipes(for_each(table, pipe)?)))
}

/// `realtime_ipc/fifo`: a pipe whose name is gone as soon as both ends are open. A kill may come before that. fifo(7).
pub fn fifo(ground: &mut Ground, _: &Course, table: &Rc<Table>) -> Made {
    let name = oscost_sys::random::bits()?;
    let fifo = |client| -> Result<Pipe, Unable> {
        let name = format!("oscost-{name:032x}-{client}");
        let path = format!("/dev/shm/{name}");
        ground.keeper.keep(&Object::Socket(name))?;
        Pipe::fifo(&path).map_err(lack::of_shared_memory)
    };
    Ok(Box::new(Pipes(for_each(table, fifo)?)))
}

impl Transport for Pipes {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, bytes: &[u8]) -> Outcome {
        to.each(|client| send_whole(bytes, |part| pipe::write(&self.0[client].writer, part)))
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError> {
        receive_whole(buffer, |rest| pipe::read(&self.0[client].reader, rest))
    }
}

struct PosixQueues(Vec<PosixQueue>);

/// `realtime_ipc/posix_queue`: ten messages for every client, as many as every user may have. mq_overview(7).
pub fn posix_queue(ground: &mut Ground, course: &Course, table: &Rc<Table>) -> Made {
    let name = oscost_sys::random::bits()?;
    let queue = |client| -> Result<PosixQueue, Unable> {
        let name = format!("/oscost-{name:032x}-{client}");
        ground.keeper.keep(&Object::PosixQueue(name.clone()))?;
        PosixQueue::new(&name, 10, course.size)
            .map_err(|error| lack::of_posix_queues(error, table.clients(), course.size))
    };
    Ok(Box::new(PosixQueues(for_each(table, queue)?)))
}

impl Transport for PosixQueues {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, bytes: &[u8]) -> Outcome {
        to.each(|client| self.0[client].send(bytes))
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError> {
        self.0[client].receive(buffer).map(Got::Message)
    }
}

/// Queues, and room for a message as the kernel wants it: words after a type.
struct SystemVQueues {
    queues: Vec<SystemVQueue>,
    words: Vec<u64>,
}

/// `realtime_ipc/system_v_queue`. msgop(2).
pub fn system_v_queue(ground: &mut Ground, course: &Course, table: &Rc<Table>) -> Made {
    let queue = |_| {
        ground
            .keeper
            .make(Object::SystemVQueue, |key| SystemVQueue::with_key(key, false), SystemVQueue::id)
            .map_err(lack::of_system_v_queues)
    };
    let queues = for_each(table, queue)?;
    Ok(Box::new(SystemVQueues { queues, words: vec![1; 1 + course.size / 8] }))
}

impl Transport for SystemVQueues {
    #[inline(always)]
    fn send(&mut self, to: &Recipients<'_>, bytes: &[u8]) -> Outcome {
        for (word, bytes) in self.words[1..].iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_ne_bytes(*bytes);
        }
        to.each(|client| self.queues[client].send_words(&self.words))
    }

    #[inline(always)]
    fn receive(&mut self, client: usize, buffer: &mut [u8]) -> Result<Got, CallError> {
        self.queues[client].receive_words(&mut self.words)?;
        for (bytes, word) in buffer.as_chunks_mut::<8>().0.iter_mut().zip(&self.words[1..]) {
            *bytes = word.to_ne_bytes();
        }
        Ok(Got::Message(buffer.len()))
    }
}
