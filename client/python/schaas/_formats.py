"""What a computation takes with an operand stored in each of several formats."""

import math

from ._frontier import size_text


class FormatComparison:
    """Measured on the tensors that were given, the operand's own format first. `formats` is a list of dicts: format, bytes,
    convert_seconds (from the own format), run_seconds, uses_to_pay (runs from which on it takes less time than the own format, None:
    never), tree; a format that does not fit has format and error. str() is a table."""

    def __init__(self, operand, formats):
        self.operand, self.formats = operand, formats

    def best(self, uses=math.inf):
        """The format that takes the least time when the operand is used so often, conversion included."""
        fitting = [one for one in self.formats if "error" not in one]
        if math.isinf(uses):
            return min(fitting, key=lambda one: one["run_seconds"])["format"]
        return min(fitting, key=lambda one: one["convert_seconds"] + uses * one["run_seconds"])["format"]

    def __str__(self):
        rows = [("format", "in memory", "conversion", "a run", "pays off")]
        for one in self.formats:
            if "error" in one:
                continue
            pays = "as it is" if one is self.formats[0] else _paying(one["uses_to_pay"])
            rows.append((one["format"], size_text(one["bytes"]), _milliseconds(one["convert_seconds"]), _milliseconds(one["run_seconds"]), pays))
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = [f"{self.operand} as"]
        for row in rows:
            cells = [cell.rjust(width) if 0 < n < 4 else cell.ljust(width) for n, (cell, width) in enumerate(zip(row, widths))]
            lines.append("  " + "  ".join(cells).rstrip())
        lines += [f"  {one['format']}: {one['error']['message']}" for one in self.formats if "error" in one]
        return "\n".join(lines)

    def __repr__(self):
        return f"<schaas.FormatComparison of {self.operand}: {self.best()} runs fastest>"


def _paying(uses):
    if uses is None:
        return "never"
    runs = int(uses) + 1
    return f"after {runs} run{'s' if runs > 1 else ''}"


def _milliseconds(seconds):
    return f"{seconds * 1e3:.3g} ms"
