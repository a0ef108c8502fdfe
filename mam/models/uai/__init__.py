"""The UAI format of the inference competitions: models, evidence and queries."""

from mam.models.uai.evidence_file import read_uai_evidence, write_uai_evidence
from mam.models.uai.marginal_map import marginal_map, read_uai_query
from mam.models.uai.read import read_uai
from mam.models.uai.uai_model import UaiAnswer, UaiModel
from mam.models.uai.uai_writer import write_uai

__all__ = [
    "UaiAnswer",
    "UaiModel",
    "marginal_map",
    "read_uai",
    "read_uai_evidence",
    "read_uai_query",
    "write_uai",
    "write_uai_evidence",
]
