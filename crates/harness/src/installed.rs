//! What this machine has, and whose process this is.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether a program is installed and prints its version.
pub fn runs(program: &str) -> bool {
    let status = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// Whether there is a program of this name, or at this path.
pub fn is_on_path(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

/// Whether libclang is where the binding generator looks for it.
pub(crate) fn has_libclang() -> bool {
    let is_library = |path: PathBuf| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        name.starts_with("libclang") && name.contains(".so") || name == "libclang.dylib"
    };
    let holds_library = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).any(is_library)
    };
    if let Some(path) = env::var_os("LIBCLANG_PATH") {
        let path = PathBuf::from(path);
        return path.is_file() || holds_library(&path);
    }
    let llvm = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let llvm = llvm
        .map(|entry| entry.path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("llvm"))
        })
        .map(|path| path.join("lib"));
    [
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
    ]
    .map(PathBuf::from)
    .into_iter()
    .chain(llvm)
    .any(|folder| holds_library(&folder))
        || runs("llvm-config")
}

/// Whether this process is root's.
pub fn is_root() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
    }
    #[cfg(not(unix))]
    false
}
