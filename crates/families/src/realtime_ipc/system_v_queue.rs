//! A System V message queue to every client. msgop(2).

use std::rc::Rc;

use oscost_harness::Object;
use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::system_v_queue::SystemVQueue;

use super::session::{Course, Ground};
use super::table::Table;
use super::transport::{Got, Recipients, Transport};

use crate::lack;

/// `realtime_ipc/system_v_queue`
pub struct SystemVQueues {
    queues: Vec<SystemVQueue>,
    words: Vec<u64>,
}

/// A queue for every client, and room for a message as the kernel wants it: words after a type.
pub fn make(ground: &mut Ground, course: &Course, table: &Rc<Table>) -> Result<Box<dyn Transport>, Unable> {
    let mut queues = Vec::new();
    for _ in 0..table.clients() {
        let queue = ground.keeper.make(
            Object::SystemVQueue,
            |key| SystemVQueue::with_key(key, false),
            SystemVQueue::id,
        );
        queues.push(queue.map_err(lack::of_system_v_queues)?);
    }
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
