"""A frontier as a table and as a picture."""

import html


def _count(value):
    return f"{value:,.0f}" if value < 1e6 else f"{value:.3g}"


def size_text(value):
    """Bytes, for people."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:,.0f} {unit}" if unit == "B" else f"{value:,.1f} {unit}"
        value /= 1024


def _seconds(value):
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} us"


class Frontier:
    """The schedules of which each is the best for some sizes: a sequence of dicts with id, tree, trace, time, memory, members and
    code. At the sizes of tensors (`here`: a dict with chosen, reason, threads, extents, nonzeros) each has `here` too: tree (of the
    variant that would run), time (weighted trips), memory_bytes (of that variant), fits, chosen, measured_seconds (None where nobody
    measured). Prints as a table; in a notebook `picture`, an SVG of
    time against memory, comes above it."""

    def __init__(self, told):
        self.entries = told.pop("entries")
        self.statement = told.get("statement", "")
        self.complete = told.get("complete", False)
        self.counts = told.get("counts", {})
        self.limited = told.get("limited", "")
        self.key = told.get("key", "")
        self.here = told.get("here")
        self.picture = self.here.pop("picture") if self.here else ""

    def __len__(self):
        return len(self.entries)

    def __iter__(self):
        return iter(self.entries)

    def __getitem__(self, which):
        """By place or by id."""
        if isinstance(which, str):
            for entry in self.entries:
                if entry["id"] == which:
                    return entry
            raise KeyError(f"{which}: there are {', '.join(entry['id'] for entry in self.entries)}")
        return self.entries[which]

    def _rows(self):
        rows = [["id", "tree", "time", "memory", "members"],
                *([entry["id"], entry["tree"], entry["time"], entry["memory"], entry["members"]] for entry in self.entries)]
        if not self.here:
            return rows
        rows[0] += ["trips here", "bytes here"]
        for row, entry in zip(rows[1:], self.entries):
            row += [_count(entry["here"]["time"]), size_text(entry["here"]["memory_bytes"])]
        if any(entry["here"]["measured_seconds"] is not None for entry in self.entries):
            rows[0].append("measured")
            for row, entry in zip(rows[1:], self.entries):
                seconds = entry["here"]["measured_seconds"]
                row.append("" if seconds is None else _seconds(seconds))
        return rows

    def _notes(self):
        notes = [self.limited] if self.limited else []
        if self.here and self.here["chosen"]:
            notes.append(f"{self.here['chosen']} runs at these sizes: {self.here['reason']}")
        return notes

    def __str__(self):
        rows = self._rows()
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        space = self.counts.get("space")
        head = f"{len(self)} schedule{'s' if len(self) != 1 else ''} on the frontier" + (f", of {int(space):,}" if space else "")
        return "\n".join([head, *("  " + line for line in lines + self._notes())])

    __repr__ = __str__

    def _repr_html_(self):
        head, *rows = self._rows()

        def line(cells, tag, chosen=False):
            weight = ' style="font-weight:bold"' if chosen else ""
            return f"<tr{weight}>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
        chosen = [bool(self.here) and entry["here"]["chosen"] for entry in self.entries]
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self._notes())
        return (self.picture + "<table><caption>" + html.escape(self.statement) + "</caption>" + line(head, "th")
                + "".join(line(row, "td", one) for row, one in zip(rows, chosen)) + "</table>" + notes)
