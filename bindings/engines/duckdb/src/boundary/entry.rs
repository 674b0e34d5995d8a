//! Defines the entry point of the extension, which `LOAD` calls.

use std::ffi::{CStr, CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use libduckdb_sys::{
    DuckDBSuccess, duckdb_connect, duckdb_disconnect, duckdb_extension_access,
    duckdb_extension_info, duckdb_library_version, duckdb_rs_extension_api_init,
};

use super::register::register_all;

/// The requested version of DuckDB's C API. It has all functions that the extension calls.
const API: &str = "v1.2.0";

/// The least supported major version of DuckDB. Earlier versions read out of bounds if an aggregate of the C API is used
/// in a window.
const LEAST_MAJOR: u32 = 2;

/// Loads the extension. DuckDB derives this function's name from the file's, `treefold.duckdb_extension`. The pointers are
/// a `duckdb_extension_info` and a `const duckdb_extension_access *`.
///
/// # Safety
/// DuckDB calls the function, with pointers that are valid during the call.
#[unsafe(no_mangle)]
#[expect(unreachable_pub, reason = "DuckDB finds the function by its name")]
pub unsafe extern "C" fn treefold_init_c_api(info: *mut c_void, access: *const c_void) -> bool {
    let info: duckdb_extension_info = info.cast();
    let access: *const duckdb_extension_access = access.cast();
    // SAFETY: DuckDB passes both pointers.
    let called = catch_unwind(AssertUnwindSafe(|| unsafe { load(info, access) }));
    let error = match called {
        Ok(Ok(is_loaded)) => return is_loaded,
        Ok(Err(error)) => error,
        Err(_) => "loading the extension panicked, which is a bug in treefold".to_owned(),
    };
    let error = CString::new(format!("treefold: {error}")).unwrap_or_default();
    // SAFETY: DuckDB's structure is valid during the call.
    let set_error = unsafe { (*access).set_error };
    if let Some(set_error) = set_error {
        // SAFETY: DuckDB copies the text.
        unsafe { set_error(info, error.as_ptr()) };
    }
    false
}

/// Registers the functions. Returns false if DuckDB has reported an error itself.
///
/// # Safety
/// Both pointers are DuckDB's, and valid during the call.
unsafe fn load(
    info: duckdb_extension_info,
    access: *const duckdb_extension_access,
) -> Result<bool, String> {
    // SAFETY: guaranteed by the caller.
    let has_api = unsafe { duckdb_rs_extension_api_init(info, access, API) };
    if !has_api? {
        return Ok(false);
    }
    // SAFETY: the API is loaded.
    let version = unsafe { duckdb_library_version() };
    // SAFETY: the version is a zero-terminated string.
    let version = unsafe { CStr::from_ptr(version) }.to_string_lossy();
    check(&version)?;
    // SAFETY: DuckDB's structure is valid during the call.
    let get_database = unsafe { (*access).get_database };
    let get_database = get_database.ok_or("DuckDB does not provide get_database")?;
    // SAFETY: guaranteed by the caller.
    let database = unsafe { get_database(info) };
    if database.is_null() {
        return Ok(false);
    }
    // SAFETY: the pointer is DuckDB's, and not null.
    let database = unsafe { *database };
    let mut connection = ptr::null_mut();
    // SAFETY: the database is open.
    let state = unsafe { duckdb_connect(database, &raw mut connection) };
    if state != DuckDBSuccess {
        return Err("DuckDB could not open a connection".to_owned());
    }
    // SAFETY: the connection is open.
    let registered = unsafe { register_all(connection) };
    // SAFETY: the connection is closed once.
    unsafe { duckdb_disconnect(&raw mut connection) };
    registered.map(|()| true)
}

/// Returns an error for versions that are too old, such as `v1.4.4`, and for invalid version numbers.
fn check(version: &str) -> Result<(), String> {
    let numbers = version.strip_prefix('v').unwrap_or(version);
    let major = numbers
        .split('.')
        .next()
        .and_then(|major| major.parse().ok());
    match major {
        Some(LEAST_MAJOR..) => Ok(()),
        _ => Err(format!(
            "the extension needs DuckDB {LEAST_MAJOR}.0 or later, but this is DuckDB {version}, whose C API reads out of bounds in windows (duckdb#26109)"
        )),
    }
}
