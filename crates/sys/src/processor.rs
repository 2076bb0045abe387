//! Identifies hypervisor and processor by CPUID (x86-64). On other processors: `None`.

/// Whether the processor says that a hypervisor is present, and its signature. `Some(None)`: it says that there is none.
/// `None`: this processor cannot be asked. Intel SDM, CPUID leaf 1, ECX bit 31; leaf 0x40000000.
#[must_use]
pub fn hypervisor() -> Option<Option<String>> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        if __cpuid(1).ecx >> 31 & 1 == 0 {
            return Some(None);
        }
        let leaf = __cpuid(0x4000_0000);
        Some(Some(text(&[leaf.ebx, leaf.ecx, leaf.edx])))
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// Maker, family and model as the processor says them ("AuthenticAMD family 26 model 2"): what its constants depend on.
/// Intel SDM, CPUID leaves 0 and 1.
#[must_use]
pub fn model() -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        let (maker, version) = (__cpuid(0), __cpuid(1).eax);
        let (base, more) = (version >> 8 & 0xf, version >> 20 & 0xff);
        let family = if base == 0xf { base + more } else { base };
        let model = (version >> 16 & 0xf) << 4 | (version >> 4 & 0xf);
        let maker = text(&[maker.ebx, maker.edx, maker.ecx]);
        Some(format!("{maker} family {family} model {model}"))
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// Model name, as the processor says it. Intel SDM, CPUID leaves 0x80000002 to 0x80000004.
#[must_use]
pub fn model_name() -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        if __cpuid(0x8000_0000).eax < 0x8000_0004 {
            return None;
        }
        let registers: Vec<u32> = (0x8000_0002..=0x8000_0004)
            .map(__cpuid)
            .flat_map(|leaf| [leaf.eax, leaf.ebx, leaf.ecx, leaf.edx])
            .collect();
        Some(text(&registers)).filter(|name| !name.is_empty())
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// The characters in registers, without the zeros and blanks at the end.
#[cfg(target_arch = "x86_64")]
fn text(registers: &[u32]) -> String {
    let bytes: Vec<u8> = registers.iter().flat_map(|register| register.to_le_bytes()).collect();
    String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_owned()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn registers_are_read_as_characters() {
        assert_eq!(text(&[0x4b4d_564b, 0x564b_4d56, 0x0000_004d]), "KVMKVMKVM");
    }

    #[test]
    fn the_kernel_sees_the_same_processor() {
        let Ok(info) = crate::file::text("/proc/cpuinfo") else {
            println!("SKIP the_kernel_sees_the_same_processor: no /proc");
            return;
        };
        let value = |key: &str| {
            info.lines().find(|line| line.starts_with(key)).and_then(|line| line.split_once(": "))
        };
        let (_, flags) = value("flags").expect("flags");
        assert_eq!(
            hypervisor().expect("x86-64").is_some(),
            flags.split(' ').any(|flag| flag == "hypervisor")
        );
        if let (Some((_, name)), Some(model)) = (value("model name"), model_name()) {
            let words = |name: &str| name.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&model), words(name));
        }
    }
}
