//! Replaces module `linux` on other systems, which have no namespaces. Functions that need a cluster return an error.

use std::ffi::OsString;
use std::io;
use std::process::Command;

use crate::{Error, Order, Settings};

/// Does nothing, because this system has no clusters.
pub fn take_part() {}

/// Fails.
pub fn check() -> Result<(), Error> {
    Err(Error::Unsupported("a cluster needs Linux".to_owned()))
}

/// Fails.
pub fn on_first_node() -> Result<Vec<String>, Error> {
    check().map(|()| Vec::new())
}

/// Fails.
pub fn run(_: &Settings, _: &[OsString], _: impl FnOnce(&mut Command)) -> Result<u8, Error> {
    check().map(|()| 0)
}

/// A connection to a cluster. No value exists, since this system has no clusters.
#[derive(Debug)]
pub enum Control {}

impl Control {
    /// Fails.
    pub fn announced(_: &str) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Sends an order about a node.
    pub fn tell(&mut self, _: Order, _: usize) -> io::Result<()> {
        match *self {}
    }
}
