//! Parses lists of names and numbers in options.

use checkout::names;
use comm::threads::RANKS_MAX;

use crate::Error;
use crate::way::Sharing;
use crate::way::Way;

/// Parses the names of distributions.
pub fn distributions(typed: &str) -> Result<Vec<Sharing>, Error> {
    Ok(names("--distribution", typed, &Sharing::all(), str::parse)?)
}

/// Parses the names of algorithms and baselines.
pub fn algorithms(typed: &str) -> Result<Vec<Way>, Error> {
    Ok(names("--algorithm", typed, &Way::all(), str::parse)?)
}

/// Parses numbers of ranks: `1,17,33`, or `1..=241:16` for every sixteenth number from 1 to 241.
pub fn rank_counts(typed: &str) -> Result<Vec<usize>, Error> {
    let wrong = |reason: String| Error::option("--ranks", reason);
    let number = |word: &str| {
        let word = word.trim();
        let reason = match word.parse::<usize>() {
            Ok(0) => "a communicator needs at least one rank, not 0".to_owned(),
            Ok(count) if count > RANKS_MAX => format!("{count} is more than {RANKS_MAX} ranks"),
            Ok(count) => return Ok(count),
            Err(_) => format!("`{word}` is not a number of ranks"),
        };
        Err(wrong(reason))
    };
    let mut counts = Vec::new();
    for part in typed.split(',') {
        let Some((first, rest)) = part.split_once("..=") else {
            counts.push(number(part)?);
            continue;
        };
        let (last, step) = rest.split_once(':').unwrap_or((rest, "1"));
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if first > last {
            return Err(wrong(format!("the range `{part}` is empty")));
        }
        counts.extend((first..=last).step_by(step));
    }
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::rank_counts;

    #[test]
    fn ranks_are_lists_and_ranges() {
        let thesis: Vec<usize> = (1..=241).step_by(16).collect();
        assert_eq!(rank_counts("1..=241:16").unwrap(), thesis);
        assert_eq!(rank_counts("33, 1,17,1").unwrap(), [1, 17, 33]);
        assert_eq!(rank_counts("2..=4,9").unwrap(), [2, 3, 4, 9]);
        for wrong in "0||1,,2|five|4..=2|1..=9:0|-1|1..9|8193|1..=18446744073709551615".split('|') {
            let error = rank_counts(wrong).unwrap_err().to_string();
            assert!(error.starts_with("--ranks: "), "{error}");
        }
    }
}
