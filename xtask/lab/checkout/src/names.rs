//! Lists of names, as they are typed after an option.

use crate::Error;

/// Names between commas; `all` stands for all of them.
pub fn names<T: Copy + PartialEq>(
    option: &'static str,
    typed: &str,
    all: &[T],
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, Error> {
    let mut chosen = Vec::new();
    for name in typed.split(',').map(str::trim) {
        if name == "all" {
            chosen.extend(all);
        } else {
            let one = parse(name).map_err(|reason| Error::option(option, reason + ", all"))?;
            chosen.push(one);
        }
    }
    let mut distinct = Vec::new();
    for choice in chosen {
        if !distinct.contains(&choice) {
            distinct.push(choice);
        }
    }
    Ok(distinct)
}
