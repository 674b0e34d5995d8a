//! Computes revenue, mean price and standard deviation for five shops. The bits are the same in any order of rows, on any number of
//! threads.

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;
use std::thread;

use treefold::exact::{Keyed, Moments, ProductSum};

const SHOPS: usize = 5;
const ROWS: usize = 200_000;

/// The columns of a table.
#[derive(Clone, Default)]
struct Table {
    shop: Vec<usize>,
    price: Vec<f64>,
    quantity: Vec<f64>,
}

/// The statistics of each shop.
struct Groups {
    revenue: Keyed<ProductSum<f64>>,
    price: Keyed<Moments<f64>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let table = table();
    let groups = grouped(&table, 1)?;
    println!("shop  rows    revenue            mean price         deviation");
    for shop in 0..SHOPS {
        println!(
            "{shop}     {}  {:<17}  {:<17}  {}",
            groups.price.get(shop).items(),
            groups.revenue.value(shop),
            groups.price.get(shop).mean(),
            groups.price.get(shop).standard_deviation(1.0),
        );
    }
    println!("\nrows      threads  treefold's bits   bits of plain loops");
    let sorted = sorted(&table);
    for (order, table) in [("unsorted", &table), ("by price", &sorted)] {
        for threads in [1, 3] {
            let exact = fingerprint(&answers(&grouped(table, threads)?));
            let plain = fingerprint(&plain_revenues(table, threads));
            println!("{order}        {threads}  {exact:016x}  {plain:016x}");
        }
    }
    Ok(())
}

/// Computes the groups' statistics: each thread sums a part of the rows, and the threads' sums are merged.
fn grouped(table: &Table, threads: usize) -> Result<Groups, Box<dyn Error>> {
    let parts = thread::scope(|scope| {
        let parts = parts(table, threads).map(|part| {
            scope.spawn(move || {
                let mut groups = Groups {
                    revenue: Keyed::<ProductSum<_>>::new(SHOPS)?,
                    price: Keyed::<Moments<_>>::new(SHOPS)?,
                };
                groups
                    .revenue
                    .add(&part.shop, [&part.price, &part.quantity])?;
                groups.price.add(&part.shop, &part.price)?;
                Ok(groups)
            })
        });
        let parts: Vec<_> = parts.collect();
        let parts = parts.into_iter().map(|part| part.join().expect("no panic"));
        parts.collect::<Result<Vec<_>, treefold::exact::KeyError>>()
    })?;
    let mut parts = parts.into_iter();
    let mut merged = parts.next().ok_or("there are no threads")?;
    for part in parts {
        merged.revenue.merge(&part.revenue)?;
        merged.price.merge(&part.price)?;
    }
    Ok(merged)
}

/// Divides the rows into one part per thread.
fn parts(table: &Table, threads: usize) -> impl Iterator<Item = Table> {
    let begin = move |part| ROWS * part / threads;
    (0..threads).map(move |part| Table {
        shop: table.shop[begin(part)..begin(part + 1)].to_vec(),
        price: table.price[begin(part)..begin(part + 1)].to_vec(),
        quantity: table.quantity[begin(part)..begin(part + 1)].to_vec(),
    })
}

fn answers(groups: &Groups) -> Vec<f64> {
    let shops = (0..SHOPS).flat_map(|shop| {
        let price = groups.price.get(shop);
        [price.mean(), price.standard_deviation(1.0)]
    });
    groups.revenue.values().into_iter().chain(shops).collect()
}

/// The revenues, computed as in a program without treefold.
fn plain_revenues(table: &Table, threads: usize) -> Vec<f64> {
    let mut revenues = vec![0.0; SHOPS];
    for part in parts(table, threads) {
        let mut of_part = [0.0; SHOPS];
        let factors = part.price.iter().zip(&part.quantity);
        for (shop, (price, quantity)) in part.shop.iter().zip(factors) {
            of_part[*shop] += price * quantity;
        }
        for (revenue, part) in revenues.iter_mut().zip(of_part) {
            *revenue += part;
        }
    }
    revenues
}

/// The same table, ordered by price.
fn sorted(table: &Table) -> Table {
    let mut rows: Vec<usize> = (0..ROWS).collect();
    rows.sort_by(|left, right| table.price[*left].total_cmp(&table.price[*right]));
    Table {
        shop: rows.iter().map(|row| table.shop[*row]).collect(),
        price: rows.iter().map(|row| table.price[*row]).collect(),
        quantity: rows.iter().map(|row| table.quantity[*row]).collect(),
    }
}

/// A table of pseudorandom rows. Prices are whole numbers of cents, up to 9999.99.
fn table() -> Table {
    let mut state = 1_u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state >> 33
    };
    let mut table = Table::default();
    for _ in 0..ROWS {
        let shop = usize::try_from(next() % SHOPS as u64);
        table.shop.push(shop.expect("there are few shops"));
        let cents = next() % 10_u64.pow(1 + (next() % 6) as u32);
        table.price.push(cents as f64 / 100.0);
        table.quantity.push((1 + next() % 9) as f64);
    }
    table
}

/// An FNV-1a hash of the values' bits.
fn fingerprint(values: &[f64]) -> u64 {
    let bytes = values
        .iter()
        .flat_map(|value| value.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
