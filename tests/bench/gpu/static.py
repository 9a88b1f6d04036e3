#!/usr/bin/env python3
"""What the device's compiler makes of the kernels of a folder that make_travel.py wrote, without a device.

    static.py FOLDER [--problems spmm,sddmm] [--nvcc PATH]

Prints a table: of each proposed schedule, for sm_80 and sm_90, registers of a thread, bytes that are spilled, threads that a multiprocessor
holds, bytes of shared memory of a block, and of its PTX the loads of 16 and of 4 or 8 bytes, those from shared memory, wide stores and atomic
steps.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

ARCHITECTURES = ("sm_80", "sm_90")
POINT = re.compile(r'\{"(\w+)", "(g\d+ [^"]*)", "proposed", 0, 0, 0, &(\w+)\}')
REGISTERS_OF_A_PROCESSOR, THREADS_OF_A_PROCESSOR, BLOCK = 65536, 2048, 256
SHARED_OF_A_PROCESSOR = {"sm_80": 164 << 10, "sm_90": 228 << 10}
SHARED_OF_THE_SYSTEM = 1 << 10  # for each block


def resident_threads(registers, shared, architecture):
    """Blocks that fit, by the occupancy rules of CUDA: a warp's registers come in units of 256."""
    warp = -(-registers * 32 // 256) * 256
    blocks = min(REGISTERS_OF_A_PROCESSOR // (warp * BLOCK // 32), SHARED_OF_A_PROCESSOR[architecture] // (shared + SHARED_OF_THE_SYSTEM))
    return min(blocks * BLOCK, THREADS_OF_A_PROCESSOR)


def figures(nvcc, folder, source):
    out = []
    with tempfile.TemporaryDirectory() as work:
        for architecture in ARCHITECTURES:
            command = [nvcc, "-std=c++17", "-O3", "-w", f"-arch={architecture}", "-I", folder, source, "-o", f"{work}/out"]
            told = subprocess.run([*command, "-cubin", "-Xptxas", "-v"], stderr=subprocess.PIPE, text=True, check=True).stderr
            registers = max(int(count) for count in re.findall(r"Used (\d+) registers", told))
            spilled = sum(int(count) for count in re.findall(r"(\d+) bytes spill stores", told))
            shared = max(map(int, re.findall(r"(\d+) bytes smem", told)), default=0)
            out.append(f"{registers} | {spilled} | {resident_threads(registers, shared, architecture)}")
        subprocess.run([*command, "-ptx"], check=True)
        ptx = pathlib.Path(f"{work}/out").read_text()
    loads = re.findall(r"\bld\.global(?:\.nc)?(\.v[24])?\.[bf](\d+)", ptx)
    wide = sum(1 for vector, bits in loads if int(bits) * int(vector[2:] or 1 if vector else 1) == 128)
    stores = len(re.findall(r"\bst\.global(?:\.wb)?\.v[24]\.", ptx))
    atomics = len(re.findall(r"\b(?:red|atom)\.global", ptx))
    from_shared = len(re.findall(r"\bld\.shared\b", ptx))
    return " | ".join([*out, *map(str, (shared, wide, len(loads) - wide, from_shared, stores, atomics))])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--problems", default="spmm,sddmm,fused")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    options = parser.parse_args()
    points = [point for point in POINT.findall((options.folder / "kernels.inc").read_text()) if point[0] in options.problems.split(",")]
    print("| problem | schedule | sm_80: registers | spilled | threads | sm_90: registers | spilled | threads | shared bytes | loads of 16 bytes | others | from shared memory | wide stores | atomic |")
    print("| --- " * 14 + "|")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = pool.map(lambda point: figures(options.nvcc, options.folder, options.folder / f"{point[2]}.cu"), points)
        for (problem, name, _), row in zip(points, rows):
            print(f"| {problem} | {name} | {row} |", flush=True)


if __name__ == "__main__":
    main()
