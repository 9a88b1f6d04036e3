"""A frontier as a table."""

import html


class Frontier:
    """The schedules of which each is the best for some sizes: a sequence of dicts with id, tree, trace, time, memory, members and
    code. Prints as a table, also in notebooks."""

    def __init__(self, told):
        self.entries = told.pop("entries")
        self.statement = told.get("statement", "")
        self.complete = told.get("complete", False)
        self.counts = told.get("counts", {})
        self.limited = told.get("limited", "")
        self.key = told.get("key", "")

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
            raise KeyError(which)
        return self.entries[which]

    def _rows(self):
        return [("id", "tree", "time", "memory", "members"),
                *((entry["id"], entry["tree"], entry["time"], entry["memory"], entry["members"]) for entry in self.entries)]

    def __str__(self):
        rows = self._rows()
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        space = self.counts.get("space")
        head = f"{len(self)} schedule{'s' if len(self) != 1 else ''} on the frontier" + (f", of {int(space):,}" if space else "")
        if self.limited:
            lines.append(self.limited)
        return "\n".join([head, *("  " + line for line in lines)])

    __repr__ = __str__

    def _repr_html_(self):
        head, *rows = self._rows()
        line = lambda cells, tag: "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
        return ("<table><caption>" + html.escape(self.statement) + "</caption>" + line(head, "th")
                + "".join(line(row, "td") for row in rows) + "</table>")
