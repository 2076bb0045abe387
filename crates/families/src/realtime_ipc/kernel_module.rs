//! A server inside the kernel, as document 002 had one: the module of contrib/kernel_module, where it is loaded.

use std::os::fd::AsFd;
use std::rc::Rc;

use oscost_harness::{CallError, Outcome, Unable};
use oscost_sys::tick_device::{PATH, TickDevice};

use super::course::{Course, Ground};
use super::kernel_page::KernelPage;
use super::table::Table;
use super::transport::{Got, Made, Transport};

use crate::lack;

/// How to see it at work where it is not.
const LABORATORY: &str = "contrib/laboratory/run module shows it in an emulated machine";

/// `realtime_ipc/kernel_module`
pub struct KernelModule {
    device: TickDevice,
    page: KernelPage,
    seen: u64,
}

/// The device, with a page for the ticks of this session.
pub fn make(_: &mut Ground, course: &Course, _: &Rc<Table>) -> Made {
    let device = TickDevice::open(course.ticks as u64).map_err(told)?;
    let page = KernelPage::of(device.as_fd(), course.ticks, false).map_err(lack::of_descriptors)?;
    Ok(Box::new(KernelModule { device, page, seen: 0 }))
}

/// What a failed opening means to the user.
fn told(error: CallError) -> Unable {
    let (why, remedy) = match error.symbol() {
        Some("ENOENT" | "ENXIO" | "ENODEV") => (
            format!("{error}: there is no {PATH}, the kernel module of document 002's server is not loaded"),
            format!(
                "make -C contrib/kernel_module && insmod contrib/kernel_module/oscost_tick.ko as root; or: {LABORATORY}"
            ),
        ),
        Some("EACCES" | "EPERM") => (
            format!("{error}: {PATH} is not for this user"),
            format!("run as root, or load the module with mode=0666; or: {LABORATORY}"),
        ),
        Some("EBUSY") => {
            (format!("{error}: {PATH} has as many sessions as it allows"), "end other sessions".to_owned())
        }
        _ => return lack::of_descriptors(error),
    };
    Unable::Unsupported { why, remedy }
}

impl Transport for KernelModule {
    fn start(&mut self, course: &Course) -> Outcome {
        self.device.start(course.start_ns, course.period_ns)
    }

    #[inline(always)]
    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<Got, CallError> {
        self.seen = self.device.wait_beyond(self.seen)?;
        Ok(self.page.counted())
    }

    fn stamps(&self, table: &Table) {
        self.page.copy_to(table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_the_way_to_see_it() {
        let lack = |errno: i32| match told(CallError::new("open", errno)) {
            Unable::Unsupported { why, remedy } => (why, remedy),
            Unable::Failed(error) => (error.to_string(), String::new()),
        };
        let (enoent, eacces) = (lack(2), lack(13));
        assert!(enoent.0.contains("not loaded") && enoent.1.contains("contrib/laboratory/run module"));
        assert!(eacces.0.contains("not for this user") && eacces.1.contains("mode=0666"));
        assert!(lack(16).0.contains("as many sessions"));
        assert!(lack(25).1.is_empty(), "a module that speaks another language is a failure");
    }
}
