//! Detects the end of the program by an attribute of MPI_COMM_SELF, whose delete function every MPI_Finalize calls, even Fortran's.

use std::cmp::Reverse;
use std::ffi::{c_int, c_void};
use std::fs::{self, OpenOptions};
use std::io;
use std::panic;
use std::path::Path;
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};

use treefold::mpi::mpi_library::{Comm, Passed, Request, Status};

use crate::boundary::calls::state;
use crate::boundary::check::deferred::{self, End};
use crate::boundary::check::digests;
use crate::boundary::library::loaded::{self, Mpi, SUCCESS, mpi};
use crate::boundary::library::said::say;
use crate::boundary::process::bypass;
use crate::boundary::process::phase::{self, is_registered};
use crate::boundary::process::site::resolve;
use crate::boundary::requests::flight;
use crate::report::Report;
use crate::settings::{Mode, STATS_VARIABLE, Settings, Stats};
use crate::statistics::{self, Statistics};

/// The tag of messages with a rank's counts on MPI_COMM_WORLD. The program's own messages have all been received when MPI_Finalize begins.
const TAG: c_int = 32_749;

/// How long a rank waits for other ranks, which may not have loaded this library.
const GRACE: Duration = Duration::from_secs(60);

/// The pause between checks for messages, after the first `LOOKS_BEFORE_PAUSE` checks.
const PAUSE: Duration = Duration::from_millis(1);
const LOOKS_BEFORE_PAUSE: u32 = 10_000;

/// The maximum number of places in a report.
const SITES_MAX: usize = 12;

/// The exit status if an environment variable is wrong.
pub(crate) const WRONG_SETTING: i32 = 2;

/// How long the other ranks let rank 0 report an error first, so that an error of all ranks is printed only once.
pub(crate) const SAID_BY_RANK_0: Duration = Duration::from_secs(2);

/// On the first call, makes MPI_Finalize call `finish`, and checks the settings. Returns whether MPI can be called.
#[inline]
pub(crate) fn register() -> bool {
    is_registered() || register_first()
}

#[cold]
fn register_first() -> bool {
    if !Mpi::find().is_some_and(Mpi::can_be_called) {
        return false;
    }
    if phase::set_registered() {
        return true;
    }
    if let Some(mut key) = state::create_key(finish) {
        let own_process = mpi().handles.MPI_COMM_SELF;
        // SAFETY: the communicator is live, the key was just made, and the value is never read.
        unsafe { mpi().MPI_Comm_set_attr(own_process, key, ptr::null_mut()) };
        // SAFETY: MPI keeps the key until the attribute is deleted (MPI 4.1, 7.7.2).
        unsafe { mpi().MPI_Comm_free_keyval(&raw mut key) };
    }
    let (rank, settings) = (loaded::world().rank(), Settings::get());
    end_if_wrong(rank, &settings.wrong);
    if let (0, Some(Stats::File(path))) = (rank, &settings.stats)
        && let Err(error) = probe(path)
    {
        say(&format!(
            "treefold-pmpi: rank 0: {STATS_VARIABLE} is `{}`, which cannot be written ({error}). The report will go to standard error\n",
            path.display()
        ));
    }
    true
}

/// Ends the job if an environment variable is wrong: a run with unintended settings would be useless.
fn end_if_wrong(rank: usize, wrong: &[String]) {
    if wrong.is_empty() {
        return;
    }
    if rank != 0 {
        thread::sleep(SAID_BY_RANK_0);
    }
    let lines: Vec<String> = wrong
        .iter()
        .map(|wrong| format!("treefold-pmpi: rank {rank}: {wrong}"))
        .collect();
    treefold::mpi::abort(WRONG_SETTING, &lines.join("\n"));
}

/// Checks whether a file can be written. An existing file keeps its contents; a new file is removed again.
fn probe(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        // Only regular files are opened here: the reader of a pipe would see an end of file before the report.
        Ok(there) if !there.is_file() && !there.is_dir() => Ok(()),
        Ok(_) => OpenOptions::new().append(true).open(path).map(drop),
        Err(_) => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            fs::remove_file(path)
        }
    }
}

unsafe extern "C" fn finish(
    _comm: Passed<Comm>,
    _key: c_int,
    _value: *mut c_void,
    _extra: *mut c_void,
) -> c_int {
    flight::end();
    phase::set_over();
    state::outdate();
    // A failed report does not make MPI_Finalize fail.
    let _ = panic::catch_unwind(|| {
        if Settings::get().mode == Mode::Check {
            let begin = Instant::now();
            let wait =
                |request: &mut Request| wait(request, limit().saturating_sub(begin.elapsed()));
            deferred::end(wait);
            digests::compare_all(|request| wait(request) == End::Complete);
        }
        if let Some(stats) = &Settings::get().stats {
            report(stats);
        }
    });
    SUCCESS
}

/// Rank 0 reports for all ranks; a rank that cannot reach rank 0 reports for itself.
fn report(stats: &Stats) {
    let world = loaded::world();
    let (rank, ranks) = (world.rank(), world.size());
    let mut statistics = std::mem::take(&mut *statistics::own());
    let mut counted = 1;
    if rank == 0 {
        counted += receive(&mut statistics, ranks - 1);
    } else if send(statistics.to_text()) {
        return;
    }
    let sites: Vec<_> = sites(&statistics);
    let report = Report {
        statistics: &statistics,
        sites: &sites,
        mode: Settings::get().mode,
        library: &Mpi::get().version(),
        ranks,
        counted,
        ahead: bypass::ahead(),
    };
    match stats {
        Stats::Stderr => say(&report.text()),
        Stats::File(path) => {
            let name = match rank {
                0 => path.clone(),
                _ => Path::new(&format!("{}.rank{rank}", path.display())).to_owned(),
            };
            if let Err(error) = fs::write(&name, report.json()) {
                say(&format!(
                    "treefold-pmpi: {}: {error}\n{}",
                    name.display(),
                    report.text()
                ));
            } else if Settings::get().mode == Mode::Check {
                // treefold-run searches for this text on standard error.
                say(&format!(
                    "treefold-pmpi: {}; report: {}\n",
                    report.verdict(),
                    name.display()
                ));
            }
        }
    }
}

/// The places with the most calls. For each: the MPI function, the number of calls, and the place as text.
fn sites(statistics: &Statistics) -> Vec<(String, u64, String)> {
    let sites = statistics.sites.iter();
    let mut sites: Vec<_> = sites
        .map(|((call, site), calls)| (call, *calls, site))
        .collect();
    sites.sort_by_key(|(_, calls, _)| Reverse(*calls));
    sites.truncate(SITES_MAX);
    let resolved = sites
        .into_iter()
        .map(|(call, calls, site)| (call.clone(), calls, resolve(site)));
    resolved.collect()
}

/// Waits for a request, for at most this time. Returns the request's outcome.
fn wait(request: &mut Request, limit: Duration) -> End {
    let mut end = End::UnderWay;
    wait_for(limit, || {
        end = deferred::test(request);
        end != End::UnderWay
    });
    end
}

/// How long a rank waits for other ranks in MPI_Finalize.
fn limit() -> Duration {
    if state::all_took_part() {
        Duration::MAX
    } else {
        GRACE
    }
}

/// Waits until a condition holds, for at most this time. Returns whether the condition holds.
pub(crate) fn wait_for(limit: Duration, mut is_done: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    let mut looks = 0_u32;
    while !is_done() {
        looks = looks.saturating_add(1);
        if looks < LOOKS_BEFORE_PAUSE {
            thread::yield_now();
        } else if begin.elapsed() < limit {
            thread::sleep(PAUSE);
        } else {
            return false;
        }
    }
    true
}

/// Sends this rank's counts to rank 0. Returns whether rank 0 has begun to receive them.
fn send(text: String) -> bool {
    // The text is leaked, since MPI may read it after this function has given up.
    let text = text.into_bytes().leak();
    let length = c_int::try_from(text.len()).unwrap_or(c_int::MAX);
    let mut request = Request::UNSET;
    // SAFETY: the text lives forever and has that many bytes; rank 0 exists; `request` has room for a handle.
    let code = unsafe {
        mpi().MPI_Issend(
            text.as_ptr().cast(),
            length,
            mpi().handles.MPI_BYTE,
            0,
            TAG,
            loaded::world().0,
            &raw mut request,
        )
    };
    code == SUCCESS && wait(&mut request, limit()) == End::Complete
}

/// Adds the counts of other ranks. Returns the number of ranks that have sent counts.
fn receive(statistics: &mut Statistics, others: usize) -> usize {
    let mut received = 0;
    while received < others {
        let mut message = None;
        if !wait_for(limit(), || {
            message = receive_one(TAG);
            message.is_some()
        }) {
            break;
        }
        received += 1;
        let _ = message.and_then(|(_, text)| statistics.add_text(&text));
    }
    received
}

/// Receives a message, if one has arrived. Returns the sender's rank and the message's text.
pub(crate) fn receive_one(tag: c_int) -> Option<(c_int, String)> {
    let (mpi, world) = (mpi(), loaded::world().0);
    let (any, byte) = (mpi.constants.MPI_ANY_SOURCE, mpi.handles.MPI_BYTE);
    let mut flag = 0;
    let mut status = Status::UNSET;
    // SAFETY: the handle is live; `flag` and `status` have room for one value each.
    unsafe { mpi.MPI_Iprobe(any, tag, world, &raw mut flag, &raw mut status) };
    if flag == 0 {
        return None;
    }
    let mut length = 0;
    // SAFETY: the probe has found a message, so it has written the status; `length` is a live int.
    unsafe { mpi.MPI_Get_count(&raw const status, byte, &raw mut length) };
    let source = status.source(mpi.constants);
    let mut text = vec![0_u8; usize::try_from(length).unwrap_or(0)];
    // SAFETY: the text has the message's length; no other thread receives the message, as this is MPI_Init or MPI_Finalize.
    unsafe {
        mpi.MPI_Recv(
            text.as_mut_ptr().cast(),
            length,
            byte,
            source,
            tag,
            world,
            &raw mut status,
        )
    };
    Some((source, String::from_utf8_lossy(&text).into_owned()))
}
