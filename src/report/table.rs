//! Tables with aligned columns.

use std::io::{self, Write};

/// Rows of cells; the first one is the head.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(head: &[&str]) -> Self {
        Self {
            rows: vec![head.iter().map(|cell| cell.to_uppercase()).collect()],
        }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Two spaces between columns, none at the end of a line.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
        };
        let widths: Vec<usize> = (0..columns)
            .map(|column| width(column).unwrap_or(0))
            .collect();
        for row in &self.rows {
            let cells = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| pad(cell, *width));
            writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// With spaces up to a width, which Rust's own formatting takes no more than 16 bits of.
fn pad(cell: &str, width: usize) -> String {
    let spaces = width.saturating_sub(cell.chars().count());
    format!("{cell}{}", " ".repeat(spaces))
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn a_very_long_cell_is_written_whole() {
        let long = "x".repeat(100_000);
        let mut table = Table::new(&["a", "b"]);
        table.row([long.clone(), "y".to_owned()]);
        let mut text = Vec::new();
        table.write(&mut text).expect("memory");
        assert!(String::from_utf8_lossy(&text).ends_with(&format!("{long}  y\n")));
    }

    #[test]
    fn columns_line_up_and_lines_end_in_text() {
        let mut table = Table::new(&["a", "b"]);
        table.row(["long".to_owned(), "x".to_owned()]);
        let mut text = Vec::new();
        table.write(&mut text).expect("memory");
        assert_eq!(String::from_utf8_lossy(&text), "A     B\nlong  x\n");
    }
}
