//! Finds the place in the program that makes a call: the first stack frame outside this library and the MPI library.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use comm::text::printable;

/// The maximum number of frames to search. The first frames are those of this library and of the MPI library's Fortran wrappers.
const FRAMES_MAX: c_int = 16;

/// The place of a frame, `file+offset`; `None` if the file is an MPI library.
type FramePlace = Option<Arc<str>>;

/// Known places, by return address.
static KNOWN: Mutex<BTreeMap<usize, FramePlace>> = Mutex::new(BTreeMap::new());

/// The place of this MPI call, as a file and an offset in it.
pub(crate) fn site() -> Option<Arc<str>> {
    let mut frames = [ptr::null_mut::<c_void>(); FRAMES_MAX as usize];
    // SAFETY: there is room for that many addresses.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), FRAMES_MAX) };
    let count = usize::try_from(count).unwrap_or(0);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    frames[..count].iter().find_map(|frame| {
        // A return address is after its call.
        let address = frame.addr().wrapping_sub(1);
        let site = known.entry(address).or_insert_with(|| look_up(address));
        site.clone()
    })
}

/// An address, the object file that contains it, and the offset in that file.
struct FoundObject {
    address: usize,
    own: usize,
    name: Option<PathBuf>,
    offset: usize,
}

fn look_up(address: usize) -> FramePlace {
    let mut found = FoundObject {
        address,
        own: site as fn() -> Option<Arc<str>> as usize,
        name: None,
        offset: 0,
    };
    // SAFETY: the function has the type that the linker calls, and the data are of the type that the function reads.
    unsafe { libc::dl_iterate_phdr(Some(examine), (&raw mut found).cast()) };
    let name = found.name?;
    let name = if name.as_os_str().is_empty() {
        std::env::current_exe().unwrap_or_default()
    } else {
        name
    };
    let file = name.file_name().unwrap_or_default().to_string_lossy();
    let is_of_mpi = file.starts_with("libmpi") || file.starts_with("libpmpi");
    let name = name.to_string_lossy();
    // A line break would break the report's tables.
    (!is_of_mpi).then(|| format!("{}+{:#x}", printable(&name), found.offset).into())
}

/// Checks whether an object file contains the address. If so, records the file, unless it is this library.
unsafe extern "C" fn examine(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: the linker passes a description of an object.
    let info = unsafe { &*info };
    // SAFETY: the data are `look_up`'s, which nothing else refers to.
    let found = unsafe { &mut *data.cast::<FoundObject>() };
    let bias = usize::try_from(info.dlpi_addr).unwrap_or(0);
    let has = |address: usize| {
        (0..usize::from(info.dlpi_phnum)).any(|index| {
            // SAFETY: the object has that many headers.
            let header = unsafe { info.dlpi_phdr.add(index) };
            // SAFETY: as above.
            let header = unsafe { &*header };
            let begin = bias.wrapping_add(usize::try_from(header.p_vaddr).unwrap_or(0));
            let bytes = usize::try_from(header.p_memsz).unwrap_or(0);
            header.p_type == libc::PT_LOAD && address.wrapping_sub(begin) < bytes
        })
    };
    if !has(found.address) {
        return 0;
    }
    if !has(found.own) && !info.dlpi_name.is_null() {
        // SAFETY: the dynamic linker passes a C string.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) };
        found.name = Some(Path::new(OsStr::from_bytes(name.to_bytes())).to_owned());
        found.offset = found.address.wrapping_sub(bias);
    }
    1
}

/// The function and line of a place, if `addr2line` is installed and knows them; else the place itself.
pub(crate) fn resolve(site: &str) -> String {
    let Some((file, offset)) = site.rsplit_once('+') else {
        return site.to_owned();
    };
    let mut command = Command::new("addr2line");
    command.args(["-f", "-C", "-e", file, offset]);
    // The tool is not a rank, and must not load this library.
    command.env_remove("LD_PRELOAD").stdin(Stdio::null());
    let output = command.stderr(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    // A discriminator in brackets may follow the line number.
    let lines = text
        .lines()
        .map(|line| line.split(" (").next().unwrap_or(line));
    let mut lines = lines.filter(|line| !line.contains('?'));
    let base = |path: &str| {
        Path::new(path)
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let short = base(file).unwrap_or_default();
    match (lines.next(), lines.next().and_then(base)) {
        (Some(function), Some(line)) => format!("{function} at {line}"),
        (Some(function), None) => format!("{function} in {short}+{offset}"),
        _ => format!("{short}+{offset}"),
    }
}
