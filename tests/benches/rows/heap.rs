//! What a measured run frees stays with the process.
//!
//! The C library gives memory back to the system as soon as 128 kB lie free at the end of its heap, and large pieces at
//! once; the next run takes them again, a page fault for every 4 kB. Whether that happens hangs on what else lies there,
//! so a row would differ with the rows before it. A service that has run for a while has its memory. So this program
//! starts itself again and says that it keeps it, for the limit as well as for the engine.

use std::process::Command;

const SETTING: &str = "GLIBC_TUNABLES";

/// 256 MiB at the end of the heap, and pieces of up to 32 MiB in it.
const KEPT: &str = "glibc.malloc.trim_threshold=268435456:glibc.malloc.mmap_threshold=33554432";

/// Goes on in a process that keeps what is freed. Whoever sets the variable, to nothing perhaps, measures by that instead.
pub(crate) fn keep() {
    #[cfg(target_os = "linux")]
    if std::env::var_os(SETTING).is_none()
        && let Ok(this) = std::env::current_exe()
    {
        use std::os::unix::process::CommandExt as _;
        // It comes back only if it fails, and what is measured then is what the C library does by itself.
        let _ = Command::new(this).args(std::env::args_os().skip(1)).env(SETTING, KEPT).exec();
    }
}

/// A program that runs as it would alone.
pub(crate) fn fresh(program: &mut Command) -> &mut Command {
    program.env_remove(SETTING)
}
