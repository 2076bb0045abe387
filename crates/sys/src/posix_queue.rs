//! Anonymous POSIX message queues, which nobody else can find. mq_overview(7).

use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::{
    CallError,
    error::{check, own},
};

/// A queue, open at both ends. Its name is gone as soon as it is made, so nothing of it outlives its users.
#[derive(Debug)]
pub struct PosixQueue {
    /// Writes without waiting.
    sender: OwnedFd,
    receiver: OwnedFd,
    bytes: usize,
}

impl PosixQueue {
    /// A queue of `messages` messages of `bytes` bytes, under `name` (a slash and 64 random bits or more) for a moment.
    ///
    /// # Errors
    /// The error of mq_open (EMFILE: RLIMIT_MSGQUEUE, EINVAL: more than fs.mqueue.msg_max or msgsize_max, ENOSPC:
    /// fs.mqueue.queues_max, ENOSYS).
    pub fn new(name: &str, messages: usize, bytes: usize) -> Result<Self, CallError> {
        let name = CString::new(name).map_err(|_| CallError::new("mq_open", libc::EINVAL))?;
        // SAFETY: an all-zero mq_attr is valid.
        let mut attributes: libc::mq_attr = unsafe { std::mem::zeroed() };
        attributes.mq_maxmsg = libc::c_long::try_from(messages).unwrap_or(libc::c_long::MAX);
        attributes.mq_msgsize = libc::c_long::try_from(bytes).unwrap_or(libc::c_long::MAX);
        let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_NONBLOCK | libc::O_CLOEXEC;
        // SAFETY: the name is a C string; with O_CREAT a mode and attributes follow; the descriptor is new.
        let sender = unsafe {
            own("mq_open", libc::mq_open(name.as_ptr(), flags, 0o600 as libc::mode_t, &raw const attributes))
        }?;
        // SAFETY: the name is a C string.
        let receiver =
            unsafe { own("mq_open", libc::mq_open(name.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC)) };
        // SAFETY: the name is a C string.
        unsafe { libc::mq_unlink(name.as_ptr()) };
        Ok(Self { sender, receiver: receiver?, bytes })
    }

    /// Messages in the queue. mq_getattr(3).
    ///
    /// # Errors
    /// The error of mq_getattr.
    pub fn messages(&self) -> Result<u64, CallError> {
        // SAFETY: an all-zero mq_attr is valid.
        let mut attributes: libc::mq_attr = unsafe { std::mem::zeroed() };
        // SAFETY: libc writes one mq_attr to a local variable.
        check("mq_getattr", unsafe { libc::mq_getattr(self.receiver.as_raw_fd(), &raw mut attributes) })?;
        Ok(u64::try_from(attributes.mq_curmsgs).unwrap_or(0))
    }

    /// Puts a message into the queue without waiting for room. mq_send(3).
    ///
    /// # Errors
    /// EAGAIN where it is full.
    #[inline(always)]
    pub fn send(&self, message: &[u8]) -> Result<(), CallError> {
        // SAFETY: libc reads the message.
        check("mq_timedsend", unsafe {
            libc::mq_send(self.sender.as_raw_fd(), message.as_ptr().cast(), message.len(), 0)
        })
        .map(|_| ())
    }

    /// Takes a message out of the queue, waiting for it. mq_receive(3).
    ///
    /// # Errors
    /// The error of mq_receive; EMSGSIZE for a buffer that is shorter than the queue's messages.
    #[inline(always)]
    pub fn receive(&self, buffer: &mut [u8]) -> Result<usize, CallError> {
        if buffer.len() < self.bytes {
            return Err(CallError::new("mq_timedreceive", libc::EMSGSIZE));
        }
        // SAFETY: libc writes at most the length of the buffer; the priority is not asked for.
        let got = unsafe {
            libc::mq_receive(
                self.receiver.as_raw_fd(),
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                std::ptr::null_mut(),
            )
        };
        usize::try_from(got).map_err(|_| CallError::last("mq_timedreceive"))
    }
}

/// Removes the name of a queue whose maker died before it could: what the janitor does.
///
/// # Errors
/// The error of mq_unlink (ENOENT: it is gone).
pub fn remove(name: &str) -> Result<(), CallError> {
    let name = CString::new(name).map_err(|_| CallError::new("mq_unlink", libc::EINVAL))?;
    // SAFETY: the name is a C string.
    check("mq_unlink", unsafe { libc::mq_unlink(name.as_ptr()) }).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_holds_its_messages_and_no_more() {
        let name = format!("/oscost-test-{:x}", crate::random::bits().expect("bits"));
        let queue = match PosixQueue::new(&name, 2, 16) {
            Ok(queue) => queue,
            Err(error) => return eprintln!("SKIP a_queue_holds_its_messages_and_no_more: {error}"),
        };
        queue.send(b"one").expect("room");
        queue.send(b"two").expect("room");
        assert!(queue.send(b"three").is_err_and(|error| error.errno == libc::EAGAIN));
        assert_eq!(queue.receive(&mut [0; 16]), Ok(3));
        assert!(queue.receive(&mut [0; 8]).is_err());
        PosixQueue::new(&name, 2, 16).expect("the name is free again");
    }
}
