#!/usr/bin/env python3
"""Makes docs/editor.png: the demo workspace in Neovim 0.11 or later, with a mistake that was just typed.

    cargo build && python3 tests/lsp/picture.py NVIM

Needs git, tmux and chromium. A person should look at the result.
"""

import html
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FILE = "environment-values/workload-clusters/edge-paris/values.yaml"
COLUMNS, LINES = 156, 28
INIT = """
vim.o.termguicolors, vim.o.number, vim.o.swapfile = true, true, false
vim.o.laststatus, vim.o.ruler, vim.o.showmode, vim.o.signcolumn = 0, false, false, 'yes'
vim.diagnostic.config({ virtual_lines = true })
vim.lsp.config.metalmark = { cmd = { '%s', 'lsp' }, filetypes = { 'yaml' }, root_markers = { 'metalmark.yaml' } }
vim.lsp.enable('metalmark')
vim.lsp.inlay_hint.enable(true)
"""
KEYS = [
    ":%s/opensuse-15-6-hardened-rke2-1-31-8/ubuntu-noble-hardened-rke2-1-30-12/",
    ":call cursor(6, 12)",
    ":lua vim.lsp.buf.hover({ border = 'rounded', max_width = 108, max_height = 12 })",
    ":echo",
]
STYLES = {"1": "font-weight:bold", "3": "font-style:italic", "4": "text-decoration:underline"}


def style(parameters, current):
    """The CSS of a terminal's text after a `SGR` sequence."""
    codes = re.split("[;:]", parameters or "0")
    while codes:
        code = codes.pop(0)
        if code in ("", "0"):
            current = {}
        elif code in ("38", "48") and codes[:1] == ["2"]:
            red, green, blue = [part for part in codes[1:] if part][:3]
            codes = codes[4:] if len(codes) > 3 else []
            current[code] = f"{'color' if code == '38' else 'background'}:rgb({red},{green},{blue})"
        elif code == "39":
            current.pop("38", None)
        elif code == "49":
            current.pop("48", None)
        elif code in STYLES:
            current[code] = STYLES[code]
    return dict(current)


def page(screen):
    lines = []
    for line in screen.split("\n"):
        current, shown = {}, ""
        for text, parameters in re.findall("([^\x1b]*)(?:\x1b\\[([0-9;:]*)m)?", line):
            if text:
                shown += f'<span style="{";".join(current.values())}">{html.escape(text)}</span>'
            if parameters is not None and (parameters or "\x1b[m" in line):
                current = style(parameters, current) if parameters else current
        lines.append(shown)
    font = "13px/17px 'DejaVu Sans Mono',monospace"
    body = f"margin:0;padding:10px 14px;background:#14161b;color:#e0e2ea;font:{font}"
    return f'<meta charset="utf-8"><body style="{body}"><pre style="margin:0;font:inherit">' + "\n".join(lines)


def main():
    neovim = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        clone = scratch / "fleet"
        shutil.copytree(TOP / "fixtures/workspaces/sylva-baremetal", clone)
        for arguments in (["init", "-qb", "main"], ["add", "-A"], ["commit", "-qm", "Base"]):
            identity = ["-c", "user.name=Author", "-c", "user.email=author@example.org"]
            subprocess.run(["git", *identity, *arguments], cwd=clone, check=True)
        (scratch / "init.lua").write_text(INIT % (TOP / "target/debug/metalmark"))

        def tmux(*arguments):
            command = ["tmux", "-S", scratch / "socket", "-f", "/dev/null", *arguments]
            return subprocess.run(command, cwd=clone, check=True, capture_output=True, text=True).stdout

        size = ["-x", str(COLUMNS), "-y", str(LINES)]
        editor = f"env TERM=tmux-256color COLORTERM=truecolor HOME={scratch} {neovim} -u {scratch}/init.lua {FILE}"
        tmux("new-session", "-d", *size, editor)
        tmux("set", "-ga", "terminal-overrides", ",*:Tc")
        time.sleep(10)
        for keys in KEYS:
            tmux("send-keys", keys, "Enter")
            time.sleep(8)
        screen = tmux("capture-pane", "-p", "-e")
        tmux("kill-server")
        (scratch / "page.html").write_text(page(screen.rstrip("\n")))
        window = f"--window-size={COLUMNS * 8 + 8},{LINES * 17 + 20}"
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=1.25", window]
        picture = f"--screenshot={TOP / 'docs/editor.png'}"
        subprocess.run(["chromium", *options, picture, scratch / "page.html"], check=True, capture_output=True)


main()
