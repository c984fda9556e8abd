//! Random comparisons of versions, as expressions.

use super::random::Random;

impl Random {
    /// `semverCompare` of a constraint and a version, or the parts of a version.
    pub(super) fn comparison(&mut self) -> String {
        let version = self.version(false);
        if self.number(12) == 0 {
            return format!(
                "{{{{ $v := semver \"{version}\" }}}}{{{{ $v.Major }}}}.{{{{ $v.Minor }}}}.{{{{ $v.Patch }}}} \
                 {{{{ $v.Prerelease }}}} {{{{ $v.Metadata }}}} {{{{ $v.Original }}}} {{{{ $v }}}}"
            );
        }
        format!(
            "{{{{ semverCompare \"{}\" \"{version}\" }}}}",
            self.constraint()
        )
    }

    fn constraint(&mut self) -> String {
        let mut text = self.bounds();
        for _ in 0..self.number(5) / 3 {
            text += self.pick(&["||", " || "]);
            text += &self.bounds();
        }
        text
    }

    fn bounds(&mut self) -> String {
        if self.number(8) == 0 {
            let (from, to) = (self.version(true), self.version(true));
            return format!("{from} - {to}");
        }
        let mut text = self.bound();
        for _ in 0..self.number(3) {
            text += self.pick(&[", ", " ", ",", " , ", "  "]);
            text += &self.bound();
        }
        text
    }

    fn bound(&mut self) -> String {
        let operator = self.pick(&[
            "", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^", ">= ", "^ ", "==",
        ]);
        operator.to_owned() + &self.version(true)
    }

    fn version(&mut self, is_open: bool) -> String {
        let number = ["0", "1", "30", "31", "32", "8", "9", "01"];
        let mut text = self.pick(&["", "", "v", "v", "V"]).to_owned();
        text += self.pick(&["1", "1", "1", "0", "2", "v"]);
        for _ in 0..[2, 2, 2, 2, 1, 0, 3][self.number(7)] {
            text += ".";
            text += if is_open && self.number(8) == 0 {
                self.pick(&["x", "X", "*"])
            } else {
                self.pick(&number)
            };
        }
        text += self.pick(&[
            "", "", "", "", "", "-rc1", "-rc.2", "-0", "-alpha", "-eks-12", "-gke.100", "-rc.10",
            "-", "-01", "-A.b",
        ]);
        text + self.pick(&["", "", "", "+rke2r1", "+rke2r10", "+", "+01", "+a-b.c"])
    }
}
