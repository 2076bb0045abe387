//! The statements of sections 3.1, 4 and 5, judged by the price list at 1 ms.

mod busy;
mod order;
mod several;
mod single;
mod synthesis;

use crate::found::{Found, Judged, Rows, ranged, times};
use crate::grame::settings::Settings;
use crate::grame::{KERNEL_SIDE, SOCKET, at_1ms};
use oscost_results::quantity;
use oscost_results::{Estimate, Judgement};

/// The place of what is said of priorities.
pub(super) const PRIORITIES: &str = "3.1";
/// A difference of this share of the value is none that anybody would notice: the document's ranges are 19 % wide and more.
const NOTICEABLE: f64 = 0.1;
/// Share of the values that the body of a range holds at least, where latencies "fit globally in a range": with more than
/// 50 peaks in a thousand their frequency is high, and the document's words for its own are low, medium and frequent.
const BODY: f64 = 0.95;
/// Share of the ticks in which an order is kept, or reversed, that counts as always.
const ALWAYS: f64 = 0.9;

/// Its row in the first table says why, and what to do.
const NO_MODULE: &str = "no session of kernel_module was measured here (tables 1 to 3 say why)";

/// All of them, in the order of the document.
pub(super) fn statements(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let most = settings.most();
    single::threads(found, settings, rows);
    single::single(found, settings, rows);
    several::several(found, settings, rows);
    order::wait_queue(found, most, rows);
    synthesis::synthesis(found, settings, rows);
    busy::context(found, settings, rows);
}

fn not_here(system: &str) -> Judged {
    (Judgement::NotTestableHere, format!("a statement on {system}, which was not measured here"))
}

fn us(estimate: &Estimate) -> String {
    ranged(estimate, 1e-3, 1, " us")
}

/// What the kernel module is against sockets, in the launches right beside it; why not where there is none, and what a server
/// by BPF is, which wakes its clients another way.
fn module(found: &Found<'_>, clients: usize, judge: impl Fn(&Estimate) -> Judged) -> Judged {
    let ratio =
        |name: &str| found.ratio_of(&at_1ms(name, clients), &at_1ms(SOCKET, clients), quantity::LAST_P50);
    let [module, bpf] = KERNEL_SIDE;
    match ratio(module) {
        Some(ratio) => judge(&ratio),
        None => {
            let beside = match ratio(bpf) {
                Some(ratio) => format!("; {bpf} (ours), no module: {} of the socket", times(&ratio)),
                None => String::new(),
            };
            (Judgement::NotTestableHere, format!("{NO_MODULE}{beside}"))
        }
    }
}

#[cfg(test)]
mod tests;
