#!/usr/bin/env python3
"""What yardstick.py measured at many extents, as tables and a picture.

    tests/bench/extents.py FILE.json... [--picture docs/pictures/extents.svg]

The files are those of `yardstick.py --json`, of one type of values. Prints plain loops and hand-written code over ours for each kernel and extent
(geometric means over the data sets), the least of each, and steps: our time at an extent over that at the next multiple of eight, where both were
measured. The picture has a panel for each kernel: the time for a column, over ours at the largest extent, against the extent.
"""

import argparse
import collections
import json
import math

from schaas_runs import mean

COLOURS = {"ours": "#1f77b4", "plain": "#999999", "hand": "#d95f02"}
PANEL, COLUMNS, MARGIN = (230, 150), 4, 36


class Measured:
    """Median seconds by kernel, data set, extent and program."""

    def __init__(self, paths):
        self.seconds = collections.defaultdict(lambda: collections.defaultdict(dict))
        for path in paths:
            with open(path, encoding="utf-8") as text:
                whole = json.load(text)
            for case in whole["cases"]:
                found = case["seconds"]
                one = {"ours": found[f"ours{whole['threads'][0]}"]["median"], "plain": found["yardstick"]["median"]}
                if "hand" in found:
                    one["hand"] = found["hand"]["median"]
                self.seconds[case["kernel"]][case["data"]][case["extent"]] = one

    def extents(self, kernel):
        return sorted({extent for sets in self.seconds[kernel].values() for extent in sets})

    def ratios(self, kernel, extent, program):
        return [sets[extent][program] / sets[extent]["ours"] for sets in self.seconds[kernel].values() if program in sets.get(extent, {})]

    def steps(self, kernel):
        """(extent, data set, time over that at the next multiple of eight)."""
        for data, sets in self.seconds[kernel].items():
            for extent, one in sets.items():
                up = -(-extent // 8) * 8
                if up != extent and up in sets:
                    yield extent, data, one["ours"] / sets[up]["ours"]


def show_tables(measured):
    for program in ("plain", "hand"):
        print(f"\n{program} / ours, geometric means")
        for kernel in measured.seconds:
            cells = [(extent, measured.ratios(kernel, extent, program)) for extent in measured.extents(kernel)]
            cells = [(extent, ratios) for extent, ratios in cells if ratios]
            if cells:
                everything = [ratio for _, ratios in cells for ratio in ratios]
                print(f"{kernel:7} " + " ".join(f"{extent}:{mean(ratios):.2f}" for extent, ratios in cells)
                      + f"   all {mean(everything):.2f}, least {min(everything):.2f}, {sum(ratio < 0.95 for ratio in everything)} of {len(everything)} below 0.95")
    print("\nsteps to the next multiple of eight: geometric mean, largest")
    for kernel in measured.seconds:
        by_extent = collections.defaultdict(list)
        for extent, data, step in measured.steps(kernel):
            by_extent[extent].append((step, data))
        if by_extent:
            print(f"{kernel:7} " + " ".join(f"{extent}:{mean([s for s, _ in steps]):.2f} ({max(steps)[0]:.2f})" for extent, steps in sorted(by_extent.items())))


def panel(measured, kernel, left, top):
    """SVG of one kernel; both axes are logarithmic."""
    width, height = PANEL
    extents = measured.extents(kernel)
    lines = collections.defaultdict(list)
    largest = extents[-1]
    for extent in extents:
        for program in COLOURS:
            ratios = [sets[extent][program] / extent / (sets[largest]["ours"] / largest)
                      for sets in measured.seconds[kernel].values() if program in sets.get(extent, {}) and largest in sets]
            if ratios:
                lines[program].append((extent, mean(ratios)))
    values = [value for line in lines.values() for _, value in line]
    low, high = math.log(min(values)), math.log(max(max(values), 1.01 * min(values)))
    x = lambda extent: left + width * math.log(extent / extents[0]) / max(math.log(largest / extents[0]), 1e-9)
    y = lambda value: top + height - height * (math.log(value) - low) / (high - low)
    out = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#888"/>',
           f'<text x="{left + 4}" y="{top + 12}" font-weight="bold">{kernel}</text>']
    for value in (0.1, 1, 10, 100):
        if low <= math.log(value) <= high:
            out.append(f'<path d="M{left} {y(value):.1f}h{width}" stroke="#888" stroke-dasharray="2"/><text x="{left - 4}" y="{y(value) + 3:.1f}" text-anchor="end">{value:g}</text>')
    for extent in (1, 8, 16, 64, 200):
        if extents[0] <= extent <= largest:
            out.append(f'<text x="{x(extent):.1f}" y="{top + height + 11}" text-anchor="middle">{extent}</text>')
    for program, line in lines.items():
        points = " ".join(f"{x(extent):.1f},{y(value):.1f}" for extent, value in line)
        out.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[program]}" stroke-width="1.5"/>')
        out += [f'<circle cx="{x(extent):.1f}" cy="{y(value):.1f}" r="1.8" fill="{COLOURS[program]}"><title>{program}, {extent} columns: {value:.2f}</title></circle>'
                for extent, value in line]
    return out


def picture(measured):
    width, height = PANEL[0] + MARGIN, PANEL[1] + MARGIN
    kernels = list(measured.seconds)
    rows = -(-len(kernels) // COLUMNS)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS * width + MARGIN} {rows * height + MARGIN}" font-family="sans-serif" font-size="9" fill="#888">',
           "<title>Time for a column against the number of columns</title>"]
    for number, (program, colour) in enumerate(COLOURS.items()):
        out.append(f'<text x="{MARGIN + 90 * number}" y="14" fill="{colour}" font-size="11">{program}</text>')
    for number, kernel in enumerate(kernels):
        out += panel(measured, kernel, MARGIN + number % COLUMNS * width, MARGIN - 12 + number // COLUMNS * height)
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--picture", help="write an SVG to this file")
    options = parser.parse_args()
    measured = Measured(options.files)
    show_tables(measured)
    if options.picture:
        with open(options.picture, "w", encoding="utf-8") as out:
            out.write(picture(measured))


if __name__ == "__main__":
    main()
