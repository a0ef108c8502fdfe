"""The same work over many pictures and machines: shards, what is done of them, and clusters."""

from mam.scale.answers import answers_in
from mam.scale.job import EstimatorJob, Item, ItemAnswer, ShardJob
from mam.scale.map import HeldRun, Outcome, held_run, map_shards, run_shards
from mam.scale.shards import Piece, Shard, plan_shards

__all__ = [
    "EstimatorJob",
    "HeldRun",
    "Item",
    "ItemAnswer",
    "Outcome",
    "Piece",
    "Shard",
    "ShardJob",
    "answers_in",
    "held_run",
    "map_shards",
    "plan_shards",
    "run_shards",
]
