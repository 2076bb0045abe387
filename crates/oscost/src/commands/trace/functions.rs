//! ftrace's text, cut into operations: what lies between two marks, less what the marks themselves call.

/// What stands in the trace before an operation, and behind it.
pub const BEGIN: &str = "oscost begin";
pub const END: &str = "oscost end";

/// One function that was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub caller: String,
    /// Who called: 0 is the measured process, others are its partners in the order in which they came.
    pub whose: usize,
}

/// What most operations called.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Usual {
    pub functions: Vec<Function>,
    /// Operations that called exactly these.
    pub times: usize,
}

/// Functions of the usual operation, and of how many operations. Pairs of marks with nothing in between alternate with
/// operations: they show what the marks call.
pub fn of_an_operation(text: &str) -> (Usual, usize) {
    let parts = parts(text);
    let empty = usual(parts.iter().step_by(2));
    let operations: Vec<Vec<Function>> =
        parts.iter().skip(1).step_by(2).filter_map(|whole| less(whole, &empty.functions)).collect();
    (usual(operations.iter()), operations.len())
}

/// Everything between marks, pair by pair.
fn parts(text: &str) -> Vec<Vec<Function>> {
    let (mut parts, mut open) = (Vec::new(), None::<Vec<Function>>);
    let mut pids: Vec<&str> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if line.trim_end().ends_with(BEGIN) {
            pids = pid(line).into_iter().collect();
            open = Some(Vec::new());
        } else if line.trim_end().ends_with(END) {
            parts.extend(open.take());
        } else if let (Some(open), Some((before, caller)), Some(pid)) =
            (&mut open, line.split_once(" <-"), pid(line))
        {
            let whose = pids.iter().position(|known| *known == pid).unwrap_or_else(|| {
                pids.push(pid);
                pids.len() - 1
            });
            let name = before.rsplit(' ').next().unwrap_or_default().to_owned();
            open.push(Function { name, caller: caller.trim_end().to_owned(), whose });
        }
    }
    parts
}

/// "oscost-123   [001] ....  5.6: name <-caller": 123
fn pid(line: &str) -> Option<&str> {
    line.split_once('[')?.0.trim_end().rsplit_once('-').map(|(_, pid)| pid)
}

fn usual<'a>(lists: impl Iterator<Item = &'a Vec<Function>> + Clone) -> Usual {
    let times = |wanted: &Vec<Function>| lists.clone().filter(|list| *list == wanted).count();
    let most = lists.clone().max_by_key(|list| times(list));
    most.map_or_else(Usual::default, |list| Usual { functions: list.clone(), times: times(list) })
}

/// `whole` without `marks`, which stand around the operation: the way back from the first mark, and the way to the second,
/// which begins where the kernel is entered. `None` where they do not, as if something interrupted.
fn less(whole: &[Function], marks: &[Function]) -> Option<Vec<Function>> {
    let length = whole.len().checked_sub(marks.len())?;
    let fits = |at: &usize| whole[..*at] == marks[..*at] && whole[*at + length..] == marks[*at..];
    let at = match marks.iter().position(|function| is_entry(&function.name)) {
        Some(entry) => Some(entry).filter(fits),
        None => (0..=marks.len()).find(fits),
    }?;
    Some(whole[at..at + length].to_vec())
}

/// The first function of a system call: its dispatcher, or the call itself.
fn is_entry(name: &str) -> bool {
    ["x64_sys_call", "syscall_trace_enter", "syscall_enter_from_user_mode", "invoke_syscall", "el0_svc"]
        .contains(&name)
        || name.contains("_sys_")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "# tracer: function\n\
        \x20     oscost-71      [001] .....  5.0: tracing_mark_write: oscost begin\n\
        \x20     oscost-71      [001] .....  5.1: exit_to_user_mode <-do_syscall_64\n\
        \x20     oscost-71      [001] .....  5.2: x64_sys_call <-do_syscall_64\n\
        \x20     oscost-71      [001] .....  5.3: ksys_write <-x64_sys_call\n\
        \x20     oscost-71      [001] .....  5.4: tracing_mark_write: oscost end\n\
        \x20     oscost-71      [001] .....  6.0: tracing_mark_write: oscost begin\n\
        \x20     oscost-71      [001] .....  6.1: exit_to_user_mode <-do_syscall_64\n\
        \x20     oscost-71      [001] .....  6.2: x64_sys_call <-do_syscall_64\n\
        \x20     oscost-71      [001] .....  6.3: __x64_sys_getppid <-x64_sys_call\n\
        \x20     oscost-72      [001] .....  6.4: wake <-partner\n\
        \x20     oscost-71      [001] .....  6.5: exit_to_user_mode <-do_syscall_64\n\
        \x20     oscost-71      [001] .....  6.6: x64_sys_call <-do_syscall_64\n\
        \x20     oscost-71      [001] .....  6.7: ksys_write <-x64_sys_call\n\
        \x20     oscost-71      [001] .....  6.8: tracing_mark_write: oscost end\n";

    #[test]
    fn what_the_marks_call_is_taken_off_where_the_kernel_is_entered() {
        let (usual, of) = of_an_operation(TRACE);
        let names: Vec<(&str, usize)> =
            usual.functions.iter().map(|function| (function.name.as_str(), function.whose)).collect();
        assert_eq!(
            names,
            [("x64_sys_call", 0), ("__x64_sys_getppid", 0), ("wake", 1), ("exit_to_user_mode", 0)]
        );
        assert_eq!((usual.times, of, usual.functions[1].caller.as_str()), (1, 1, "x64_sys_call"));
    }

    #[test]
    fn what_was_interrupted_is_no_operation() {
        let interrupted = TRACE.replace("6.1: exit_to_user_mode", "6.1: irq_enter");
        assert_eq!(of_an_operation(&interrupted).1, 0);
        assert_eq!(of_an_operation(""), (Usual::default(), 0));
        let cut = TRACE.split_at(TRACE.find("6.4").expect("there")).0;
        assert_eq!(of_an_operation(cut).1, 0, "an end is missing");
    }

    #[test]
    fn an_operation_without_a_system_call_calls_nothing() {
        let empty = TRACE.split_at(TRACE.find("      oscost-71      [001] .....  6.0").expect("there")).0;
        let again = [empty, empty].concat();
        let (usual, of) = of_an_operation(&again);
        assert_eq!((usual.functions.len(), usual.times, of), (0, 1, 1));
    }
}
