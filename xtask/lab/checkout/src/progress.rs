//! Shows the progress of a command on standard error. On a terminal, one line is updated; elsewhere, a line is printed every ten seconds.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The time between plain lines.
const PAUSE: Duration = Duration::from_secs(10);

/// How often a terminal's line is updated, even without progress.
const TICK: Duration = Duration::from_secs(1);

/// Shows the progress of a long task. Dropping this value ends the display.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// The thread that writes plain lines, and the channel whose closing ends the thread.
    teller: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// A task without a count.
    #[must_use]
    pub fn of(what: impl Into<String>) -> Self {
        Self::start(what.into(), None, "", "{msg}, {elapsed}")
    }

    /// A task that counts up to `total`. A plural noun names what is counted.
    #[must_use]
    pub fn to(what: impl Into<String>, total: u64, noun: &'static str) -> Self {
        let template = format!("{{msg}} {{wide_bar}} {{pos}}/{{len}} {noun}, {{elapsed}}");
        Self::start(what.into(), Some(total), noun, &template)
    }

    fn start(what: String, total: Option<u64>, noun: &'static str, template: &str) -> Self {
        let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        if io::stderr().is_terminal() {
            bar.enable_steady_tick(TICK);
            return Self { bar, teller: None };
        }
        Self::told(bar, noun, PAUSE, io::stderr())
    }

    /// A task that writes a plain line to `output` after each pause.
    fn told(
        bar: ProgressBar,
        noun: &'static str,
        pause: Duration,
        mut output: impl Write + Send + 'static,
    ) -> Self {
        let (end, ended) = mpsc::channel();
        let told = bar.clone();
        let tell = move || {
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                // If writing fails, nobody reads the output.
                let _ = writeln!(output, "{}", line(&told, noun));
            }
        };
        // If no thread can be started, no plain lines are written.
        let thread = thread::Builder::new().spawn(tell).ok();
        let teller = thread.map(|thread| (end, thread));
        Self { bar, teller }
    }

    /// Shows the current step.
    pub fn say(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    /// Adds to the count.
    pub fn advance(&self, count: u64) {
        self.bar.inc(count);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.teller.take() {
            drop(end);
            // The thread only writes, so it does not panic.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

/// A plain line: the task, its count, and the time so far.
fn line(bar: &ProgressBar, noun: &str) -> String {
    let counted = |length| format!("{} of {length} {noun}, ", bar.position());
    let done = bar.length().map_or(String::new(), counted);
    format!("{}: {done}{} s", bar.message(), bar.elapsed().as_secs())
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};
    use std::thread;
    use std::time::Duration;

    use indicatif::ProgressBar;

    use super::{Progress, line};

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Lines {
        fn count(&self) -> usize {
            let bytes = self.0.lock().unwrap();
            bytes.iter().filter(|&&byte| byte == b'\n').count()
        }
    }

    #[test]
    fn lines_come_until_it_is_over() {
        let lines = Lines::default();
        let told = |pause| Progress::told(ProgressBar::hidden(), "rows", pause, lines.clone());
        let progress = told(Duration::from_millis(1));
        while lines.count() < 3 {
            thread::yield_now();
        }
        drop(progress);
        let count = lines.count();
        thread::sleep(Duration::from_millis(20));
        assert_eq!(lines.count(), count);
        // Dropping a task does not wait for its next line.
        drop(told(Duration::from_secs(1_000_000)));
        assert_eq!(lines.count(), count);
    }

    #[test]
    fn a_line_says_what_and_how_many() {
        #[track_caller]
        fn check(progress: &Progress, noun: &str, expected: &str) {
            let line = line(&progress.bar, noun);
            let rest = line.strip_prefix(expected);
            let seconds = rest.and_then(|rest| rest.strip_suffix(" s"));
            let number = seconds.and_then(|seconds| seconds.parse::<u64>().ok());
            assert!(number.is_some(), "{line}");
        }
        let progress = Progress::to("threads, p = 5", 7, "rows");
        progress.advance(3);
        check(&progress, "rows", "threads, p = 5: 3 of 7 rows, ");
        progress.say("clusters");
        check(&progress, "rows", "clusters: 3 of 7 rows, ");
        check(&Progress::of("cargo build"), "", "cargo build: ");
    }
}
