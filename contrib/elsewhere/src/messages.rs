//! Document 002 on Windows: a server posts a message to the thread of each client (PostThreadMessage).
//! <https://learn.microsoft.com/windows/win32/api/winuser/nf-winuser-postthreadmessagea>

use std::ffi::{CStr, c_char, c_void};
use std::time::Duration;

use crate::session::{Client, Session, TICK_MS, VALUES, Value, die_with_server, say_ready, say_values};

/// A message of the program's own (WM_APP), with its number and its stamp; and one that ends the client.
const TICK: u32 = 0x8000;
const END: u32 = 0x8001;
/// The document's table 2.
const HIGH_PRIORITY_CLASS: u32 = 0x80;
const NORMAL_PRIORITY_CLASS: u32 = 0x20;
const THREAD_PRIORITY_TIME_CRITICAL: i32 = 15;

/// MSG of winuser.h.
#[repr(C)]
struct Message {
    window: *mut c_void,
    message: u32,
    word: usize,
    long: isize,
    time: u32,
    point: [i32; 2],
    private: u32,
}

/// OSVERSIONINFOW of winnt.h.
#[repr(C)]
struct Version {
    size: u32,
    major: u32,
    minor: u32,
    build: u32,
    platform: u32,
    pack: [u16; 128],
}

#[link(name = "user32")]
unsafe extern "system" {
    fn PostThreadMessageA(thread: u32, message: u32, word: usize, long: isize) -> i32;
    fn GetMessageA(message: *mut Message, window: *mut c_void, first: u32, last: u32) -> i32;
    fn PeekMessageA(message: *mut Message, window: *mut c_void, first: u32, last: u32, remove: u32) -> i32;
}

#[link(name = "kernel32")]
unsafe extern "system" {
    fn QueryPerformanceCounter(count: *mut i64) -> i32;
    fn QueryPerformanceFrequency(frequency: *mut i64) -> i32;
    fn GetCurrentThreadId() -> u32;
    fn GetCurrentThread() -> *mut c_void;
    fn GetCurrentProcess() -> *mut c_void;
    fn SetThreadPriority(thread: *mut c_void, priority: i32) -> i32;
    fn SetPriorityClass(process: *mut c_void, class: u32) -> i32;
    fn GetModuleHandleA(name: *const c_char) -> *mut c_void;
    fn GetProcAddress(module: *mut c_void, name: *const c_char) -> *mut c_void;
}

#[link(name = "ntdll")]
unsafe extern "system" {
    fn RtlGetVersion(version: *mut Version) -> i32;
}

/// The counter that the document reads.
fn now() -> i64 {
    let mut count = 0;
    // SAFETY: the counter is ours.
    unsafe { QueryPerformanceCounter(&raw mut count) };
    count
}

/// Counts a second.
fn frequency() -> i64 {
    let mut frequency = 0;
    // SAFETY: the number is ours.
    unsafe { QueryPerformanceFrequency(&raw mut frequency) };
    frequency.max(1)
}

/// The document's priorities, and whether they were granted.
fn hurry(class: u32) -> bool {
    // SAFETY: both handles are those of this thread and process, which need no release.
    unsafe {
        SetPriorityClass(GetCurrentProcess(), class) != 0
            && SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL) != 0
    }
}

/// What this system is: Wine says so by a function that Windows has not.
fn system() -> String {
    // SAFETY: a plain structure of numbers, for which zeros are values.
    let mut version: Version = unsafe { std::mem::zeroed() };
    version.size = size_of::<Version>() as u32;
    // SAFETY: its size stands in it.
    unsafe { RtlGetVersion(&raw mut version) };
    let windows = format!("{}.{}.{}", version.major, version.minor, version.build);
    // SAFETY: both names are C strings, and ntdll is in every process.
    let wine =
        unsafe { GetProcAddress(GetModuleHandleA(c"ntdll.dll".as_ptr()), c"wine_get_version".as_ptr()) };
    if wine.is_null() {
        return format!("Windows {windows}");
    }
    // SAFETY: Wine's function takes nothing and returns a C string that stays.
    let told = unsafe {
        let version: extern "C" fn() -> *const c_char = std::mem::transmute(wine);
        CStr::from_ptr(version())
    };
    format!("Wine {} (not Windows; it says {windows})", told.to_string_lossy())
}

fn post(thread: u32, message: u32, sequence: u64, stamp: i64) -> bool {
    // SAFETY: a message holds two numbers, and points to nothing.
    unsafe { PostThreadMessageA(thread, message, sequence as usize, stamp as isize) != 0 }
}

/// A session of so many clients: their processes, and this one as the server.
pub fn run(clients: usize) -> Result<Session, String> {
    let mut started = Vec::new();
    // The document's list has the newest client first.
    for _ in 0..clients {
        let (client, thread) = Client::start(&[])?;
        let thread: u32 = thread.parse().map_err(|_| "a client without a thread".to_owned())?;
        started.insert(0, (client, thread));
    }
    let granted = hurry(HIGH_PRIORITY_CLASS);
    let mut refused = 0;
    for sequence in 0..VALUES as u64 {
        let stamp = now();
        for (_, thread) in &started {
            refused += u64::from(!post(*thread, TICK, sequence, stamp));
        }
        std::thread::sleep(Duration::from_millis(TICK_MS));
    }
    for (_, thread) in &started {
        post(*thread, END, 0, 0);
    }
    let values = started.into_iter().rev().map(|(client, _)| client.values());
    Ok(Session {
        system: system(),
        way: "messages",
        priority: if granted { "TIME_CRITICAL" } else { "refused" }.to_owned(),
        refused,
        clients: values.collect::<Result<_, _>>()?,
    })
}

/// A client: reads until the server ends it.
pub fn attend() -> Result<(), String> {
    die_with_server();
    // SAFETY: a plain structure of numbers and a handle, for which zeros are values.
    let mut message: Message = unsafe { std::mem::zeroed() };
    // SAFETY: the message is ours. Looking once makes the queue of this thread.
    unsafe { PeekMessageA(&raw mut message, std::ptr::null_mut(), TICK, END, 0) };
    let granted = hurry(NORMAL_PRIORITY_CLASS);
    let (frequency, mut values) = (frequency(), Vec::with_capacity(VALUES));
    // SAFETY: takes nothing.
    say_ready(&unsafe { GetCurrentThreadId() }.to_string())?;
    loop {
        // SAFETY: the message is ours.
        let got = unsafe { GetMessageA(&raw mut message, std::ptr::null_mut(), TICK, END) };
        let end = now();
        match (got, message.message) {
            (1.., TICK) if values.len() < VALUES => {
                let counts = i128::from(end) - message.long as i128;
                let ns = u64::try_from(counts * 1_000_000_000 / i128::from(frequency)).unwrap_or(0);
                values.push(Value { sequence: message.word as u64, latency_ns: ns });
            }
            (1.., TICK) => {}
            (1.., END) => break,
            _ => return Err("GetMessage failed".to_owned()),
        }
    }
    if !granted {
        eprintln!("a client's priority was refused");
    }
    say_values(&values)
}
