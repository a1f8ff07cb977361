"""Small experiments, and a store that has run one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bookahead

ROOT = Path(__file__).parents[3]


def experiment(**more: Any) -> dict[str, Any]:
    """Two strategies at three thresholds, four batteries of 100 jobs: a fraction of a second."""
    return {
        "experiment": {"name": "small", "replications": 4, "seed": 3},
        "workload": {"model": "lublin-feitelson", "jobs": 2000, "nodes": 64, "battery_jobs": 100, "load": {"value": 2.0}, "laxity": 2.0},
        "estimates": {"classes": "runtime"},
        "axis": [
            {"key": "scheduling.strategy", "values": ["heuristic-planning", "heuristic-overbooking"]},
            {"key": "acceptance.pof_max", "values": [0.05, 0.2, 0.5]},
        ],
        **more,
    }


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> bookahead.Run:
    return bookahead.run(experiment(), store=tmp_path_factory.mktemp("small") / "store.db")
