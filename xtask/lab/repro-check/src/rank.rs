//! What a rank does that a launcher has started as a process of this program.

use std::env;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use comm::text::tell;
use reduce::{World, mpi};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::matrix::{self, Items};
use crate::ranks::RANK_WORD;
use crate::{Backend, Error};

/// Longer than any rank computes in these jobs, even many on one core.
const SILENCE_LIMIT: Duration = Duration::from_secs(300);

/// Runs a rank, if that is what this program was started for: `run` gets the words of its job.
pub fn take_part(run: impl FnOnce(&World, &[&str]) -> Result<(), Error>) -> Option<ExitCode> {
    if env::args_os().nth(1).is_none_or(|word| word != RANK_WORD) {
        return None;
    }
    let run = |world: &World| {
        world.set_silence_limit(SILENCE_LIMIT);
        let words: Vec<String> = env::args().skip(2).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match run(world, &words) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // The others may be in the middle of something.
                mpi::abort(2, &format!("{RANK_WORD}: rank {}: {error}", world.rank()));
                ExitCode::from(2)
            }
        }
    };
    Some(match mpi::run(run) {
        Ok(code) => code,
        Err(error) => {
            tell(&format!("{RANK_WORD}: {error}"));
            ExitCode::from(2)
        }
    })
}

/// Reads what a rank is to do.
pub fn read_job<J: DeserializeOwned>(path: &str) -> Result<J, Error> {
    let path = Path::new(path);
    let text = fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
    serde_json::from_str(&text).map_err(|error| Error::file(path, error))
}

/// Reports a row. They are plain numbers and names, which JSON always has words for.
pub fn print_row(row: &impl Serialize) {
    println!(
        "{}",
        serde_json::to_string(row).expect("a row is plain data")
    );
}

/// Runs rows of the matrix.
pub fn check(world: &World, job: &str) -> Result<(), Error> {
    let job = read_job(job)?;
    matrix::check_all(world, Backend::Mpi, &job, Items::OnRankZero, &|row| {
        print_row(&row)
    })
}
