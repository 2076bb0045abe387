//! Turns addresses into function names: the kernel's from its own list, the others from their files.

use std::collections::BTreeMap;

use crate::elf;
use crate::program::{GuestProgram, PATH};

/// Whose code an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolPlace {
    /// The program's own.
    Program,
    /// A library's.
    Library,
    /// The page of code that the kernel gives every process.
    Vdso,
    /// The kernel's.
    Kernel,
}

impl SymbolPlace {
    /// Name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Library => "library",
            Self::Vdso => "vdso",
            Self::Kernel => "kernel",
        }
    }
}

/// A function that an address belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Symbol {
    /// Where it begins.
    pub start: u64,
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub place: SymbolPlace,
}

/// All names of one guest.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    /// By start. What lies between two starts belongs to the first.
    table: BTreeMap<u64, (String, SymbolPlace)>,
}

/// One line of /proc/PID/maps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    offset: u64,
    pub(crate) path: String,
}

/// Executable mappings of a process.
pub(crate) fn mappings(maps: &str) -> Vec<Mapping> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let mapping = (number(start)?, number(end)?);
        let executable = words.next()?.contains('x');
        let offset = number(words.next()?)?;
        let path = words.nth(2).unwrap_or_default().to_owned();
        executable.then_some(Mapping { start: mapping.0, end: mapping.1, offset, path })
    };
    maps.lines().filter_map(line).collect()
}

impl Symbols {
    /// Names of a guest: of /proc/kallsyms, and of the mappings of the process that counts. `vdso` is the code that the kernel
    /// gave it, where it could be read.
    #[must_use]
    pub fn new(kallsyms: &str, maps: &str, program: &GuestProgram, vdso: Option<&[u8]>) -> Self {
        let mut symbols = Self::default();
        symbols.kernel(kallsyms);
        for mapping in mappings(maps) {
            let (place, bytes) = match mapping.path.as_str() {
                "[vdso]" => (SymbolPlace::Vdso, vdso),
                PATH => (SymbolPlace::Program, program.file(PATH)),
                path => (SymbolPlace::Library, program.file(path)),
            };
            let short = mapping.path.rsplit('/').next().unwrap_or_default().trim_matches(['[', ']']);
            let unnamed = if short.is_empty() { "code without a name" } else { short };
            symbols.table.insert(mapping.start, (format!("in {unnamed}"), place));
            // Behind the mapping nothing is known.
            symbols.table.entry(mapping.end).or_insert_with(|| ("unknown".to_owned(), SymbolPlace::Library));
            let Some(bytes) = bytes else { continue };
            let Some(own) = elf::address_of_offset(bytes, mapping.offset) else { continue };
            let functions = elf::functions(bytes);
            for (index, function) in functions.iter().enumerate() {
                let start = function.address.wrapping_sub(own).wrapping_add(mapping.start);
                if !(mapping.start..mapping.end).contains(&start) {
                    continue;
                }
                symbols.table.insert(start, (function.name.clone(), place));
                // A gap behind a function of known size belongs to nobody.
                let end = function.address.saturating_add(function.size);
                let gap = functions.get(index + 1).is_none_or(|next| next.address > end);
                if function.size > 0 && gap {
                    let end = start + function.size;
                    symbols.table.entry(end).or_insert_with(|| (format!("in {unnamed}"), place));
                }
            }
        }
        symbols
    }

    /// Reads "ADDRESS TYPE NAME [MODULE]" lines. Of several names of one address the first in the list counts, as for the
    /// kernel's own messages.
    fn kernel(&mut self, kallsyms: &str) {
        for line in kallsyms.lines() {
            let mut words = line.split_whitespace();
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let Ok(address) = u64::from_str_radix(address, 16) else { continue };
            // Code, and weak code; the addresses of CPU variables are small numbers.
            let is_code = matches!(kind, "t" | "T" | "w" | "W");
            if is_code && address >> 63 == 1 {
                self.table.entry(address).or_insert_with(|| (name.to_owned(), SymbolPlace::Kernel));
            }
        }
    }

    /// The function of an address.
    #[must_use]
    pub fn find(&self, address: u64) -> Symbol {
        let found = self.table.range(..=address).next_back();
        match found {
            Some((&start, (name, place))) if (*place == SymbolPlace::Kernel) == (address >> 63 == 1) => {
                Symbol { start, name: name.clone(), place: *place }
            }
            _ => {
                let place = if address >> 63 == 1 { SymbolPlace::Kernel } else { SymbolPlace::Library };
                Symbol { start: address & !0xfff, name: "unknown".to_owned(), place }
            }
        }
    }

    /// Where the kernel's function of this name begins.
    #[must_use]
    pub fn kernel_function(&self, name: &str) -> Option<u64> {
        self.table
            .iter()
            .find(|(_, (known, place))| *place == SymbolPlace::Kernel && known == name)
            .map(|(&address, _)| address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const KALLSYMS: &str = "0000000000000000 A fixed_percpu_data\nffffffff81000000 T _stext\nffffffff81000000 T _text\n\
                            ffffffff81000040 t do_syscall_64\nffffffff81000080 D some_data\nffffffffc0000000 t of_module\t[mod]\n";

    #[test]
    fn the_kernel_names_its_functions() {
        let symbols = Symbols::new(
            KALLSYMS,
            "",
            &GuestProgram::read(Path::new("/proc/self/exe")).expect("this test"),
            None,
        );
        let name = |address| symbols.find(address).name;
        assert_eq!(name(0xffff_ffff_8100_003f), "_stext", "the first of two names");
        assert_eq!(name(0xffff_ffff_8100_0099), "do_syscall_64", "data is no function");
        assert_eq!(name(0xffff_ffff_c000_0001), "of_module");
        assert_eq!(name(0xffff_ffff_0000_0000), "unknown");
        assert_eq!(name(0x1234), "unknown");
        assert_eq!(symbols.kernel_function("do_syscall_64"), Some(0xffff_ffff_8100_0040));
    }

    #[inline(never)]
    fn a_function_to_be_found() -> u64 {
        std::hint::black_box(1)
    }

    #[test]
    fn this_process_is_named_by_its_mappings() {
        a_function_to_be_found();
        let own = std::env::current_exe().expect("a path");
        let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
        // As in the guest, the program is /init.
        let maps = maps.replace(own.to_str().expect("text"), PATH);
        let program = GuestProgram::read(Path::new("/proc/self/exe")).expect("this test");
        let symbols = Symbols::new("", &maps, &program, None);
        let address = a_function_to_be_found as fn() -> u64 as usize as u64;
        let found = symbols.find(address);
        assert!(found.name.ends_with("a_function_to_be_found"), "{found:?}");
        assert_eq!((found.start, found.place), (address, SymbolPlace::Program));
        let outside = mappings(&maps).iter().map(|mapping| mapping.end).max().expect("a mapping");
        assert_ne!(symbols.find(outside + 4096).place, SymbolPlace::Program);
    }
}
