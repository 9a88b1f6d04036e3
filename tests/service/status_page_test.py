#!/usr/bin/env python3
"""The status page of a running schaasd: every page well-formed, every link answered, nothing from elsewhere, everything escaped; and,
where a Chromium is installed, shown by it.

    status_page_test.py BIN      BIN: folder with the programs
"""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

import schaas_program as program

BIN = pathlib.Path(sys.argv.pop(1))
HOSTILE = """<script>alert(1)</script>"'&<b>"""
VOID = {"meta", "link", "br", "circle", "line", "rect", "path"}
# Elements and attributes that the pages use; whatever else appears came in from outside.
ELEMENTS = VOID | {"html", "head", "title", "body", "nav", "a", "h1", "h2", "p", "pre", "code", "table", "tr", "th", "td", "section",
                   "svg", "g", "text", "progress"}


class Page(html.parser.HTMLParser):
    """Strict: every element known, opened and closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.links, self.ids, self.text, self.wrong = [], [], [], "", []
        self.feed(text)
        self.close()
        if self.open:
            self.wrong.append(f"not closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        if tag not in ELEMENTS:
            self.wrong.append(f"<{tag}>")
        values = dict(attributes)
        if len(values) != len(attributes):
            self.wrong.append(f"an attribute twice in <{tag}>")
        if any(name.startswith("on") or name in ("style", "src") for name in values):
            self.wrong.append(f"<{tag} {attributes}>")
        if "id" in values:
            self.ids.append(values["id"])
        if "href" in values:
            self.links.append(values["href"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data):
        self.text += data


class StatusPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = program.Daemon(BIN, ["--http", "127.0.0.1:0"])
        cls.addClassCleanup(cls.daemon.close)
        log = (cls.daemon.folder / "log").read_text()
        cls.base = "http://" + re.search(r"^serving http on (\S+)$", log, re.MULTILINE).group(1)
        cls.daemon.json("schedule", "A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", "-f", "B=csr", "-c", "8 <= k <= 256", "-c", "8 <= l <= 256")
        cls.daemon.json("schedule", "y(i) = B(i,j) * x(j)", "-f", "B=csr")
        matrix = cls.daemon.folder / "ratings.mtx"
        matrix.write_text("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 3 2\n3 2 1\n")
        cls.named = cls.daemon.json("run", "Out(user,label) = Weights(trait,label) * Ratings(user,item) * Traits(item,trait)", "-f", "Ratings=csr",
                                    "-c", "label <= 64", "-t", f"Ratings={matrix}", "-d", "label=4", "-d", "trait=5", "--tune")["key"]
        same = cls.daemon.json("run", "Z(p,q) = V(p,r) * U(r,s) * W(s,q)", "-f", "V=csr", "-c", "q <= 64", "-t", f"V={matrix}", "-d", "q=4", "-d", "s=5")
        assert same["key"] == cls.named and same["server"]["hit"]
        file = cls.daemon.folder / "job.json"
        file.write_text(json.dumps({"expression": "y(i) = B(i,j) * x(j)", "formats": {"B": "csr"}}))
        cls.job = cls.daemon.json("precompute", file, "--label", HOSTILE)["id"]

    def get(self, path):
        with urllib.request.urlopen(self.base + path, timeout=30) as reply:
            self.assertNotIn("unsafe", reply.headers["Content-Security-Policy"])
            return reply.read().decode("utf-8")

    def page(self, path):
        page = Page(self.get(path))
        self.assertEqual(page.wrong, [], path)
        self.assertEqual(len(page.ids), len(set(page.ids)), path)
        for link in page.links:
            self.assertRegex(link, r"^(/|#)", path)  # nothing from elsewhere
            if link.startswith("#"):
                self.assertIn(link[1:], page.ids)
        return page

    def test_every_page_is_well_formed_and_every_link_answered(self):
        seen, left = set(), ["/"]
        while left:
            path = left.pop()
            if path in seen or path in ("/metrics", "/style.css") or path.startswith("#"):
                continue
            seen.add(path)
            left += self.page(path).links
        self.assertGreaterEqual(len(seen), 5)
        self.assertIn("body{", self.get("/style.css"))

    def test_a_frontier_is_a_picture_whose_points_lead_to_the_schedules(self):
        problems = [link for link in self.page("/problems").links if link.startswith("/problems/")]
        self.assertEqual(len(problems), 3)
        for path in problems:
            page = self.page(path)
            points = [link[1:] for link in page.links if link.startswith("#")]
            self.assertTrue(points)
            self.assertEqual(points, page.ids)
            self.assertEqual(points, [f"s{n + 1}" for n in range(len(points))])
            self.assertIn("time", page.text)
            self.assertIn("for ", page.text)  # the loops
        self.assertGreater(max(len(self.page(path).ids) for path in problems), 2)

    def test_a_problem_is_shown_as_it_was_asked_beside_its_canonical_form(self):
        listed = self.page("/problems").text
        statement = "Out(user,label) = Weights(trait,label) * Ratings(user,item) * Traits(item,trait)"
        self.assertIn(statement, listed)
        self.assertIn("A(i,l) = B(i,j) * C(j,k) * D(k,l)", listed)
        self.assertNotIn("Z(p,q)", listed)  # under the names of who had it searched
        text = self.get(f"/problems/{self.named}")
        self.assertIn(f"<h1>{statement}</h1>", text)
        asked, canonical = re.findall(r"<td><pre>(.*?)</pre></td>", text, re.DOTALL)
        self.assertIn("\nformat Ratings dense,compressed:0,1\n", asked)
        self.assertIn("\nwhere label &lt;= 64\n", asked)
        self.assertIn("\nA(i,l) = B(i,j) * C(j,k) * D(k,l)\n", canonical)
        self.assertIn("\nwhere l &lt;= 64\n", canonical)
        sections = text[text.index("<section"):]
        self.assertIn("for user", sections)  # the loops, under the same names
        self.assertNotIn("for i ", sections)
        self.assertIn("measured", sections)  # by --tune: found again under these names

    def test_what_users_send_is_text(self):
        page = self.page(f"/jobs/{self.job}")
        self.assertIn(HOSTILE, page.text)
        self.assertIn("y(i) = B(i,j) * x(j)", page.text)
        self.assertNotIn("<script", self.get("/jobs"))

    def test_unknown_things_are_not_found(self):
        for path in ("/jobs/j999", "/problems/" + "0" * 64, "/problems/../../etc/passwd", "/jobs/j1x", "/problems/x"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                self.get(path)
            self.assertEqual(refused.exception.code, 404, path)

    @unittest.skipUnless(shutil.which("chromium"), "no chromium is installed")
    def test_a_browser_shows_it(self):
        path = f"/problems/{self.named}"
        shown = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.daemon.folder}/browser",
             "--virtual-time-budget=2000", "--enable-logging=stderr", "--window-size=1000,1400", "--dump-dom", self.base + path + "#s1"],
            capture_output=True, text=True, timeout=120)
        self.assertEqual(shown.returncode, 0, shown.stderr[-2000:])
        self.assertIn("<svg", shown.stdout)
        self.assertIn('id="s1"', shown.stdout)
        self.assertIn("<th>as requested</th><th>canonical form</th>", shown.stdout)
        self.assertIn("Ratings(user,item)", shown.stdout)
        self.assertNotIn("CONSOLE", shown.stderr)  # no complaint about the page or its policy


if __name__ == "__main__":
    unittest.main()
