# The public names: kinds of factors, graphs, solvers and models; estimators, what they are made of
# and what they answer. `import mam` reads this list, and so do type checkers.

from .factors import And as And
from .factors import AnyOf as AnyOf
from .factors import Choice as Choice
from .factors import Count as Count
from .factors import Or as Or
from .factors import Pairwise as Pairwise
from .factors import Pattern as Pattern
from .factors import PatternSet as PatternSet
from .factors import Table as Table
from .factors import Window as Window
from .graph import FactorGraph as FactorGraph
from .graph import GraphBuilder as GraphBuilder
from .graph import compile_graphs as compile_graphs
from .infer import Marginals as Marginals
from .infer import Options as Options
from .infer import Solution as Solution
from .infer import enumerate_exactly as enumerate_exactly
from .infer import log_partition as log_partition
from .infer import marginals as marginals
from .infer import propagate as propagate
from .infer import sample as sample
from .infer import solve as solve
from .models import MamBuilder as MamBuilder
from .models import MarkovAttentionModel as MarkovAttentionModel
from .models import PartKind as PartKind
from .models import part_attention_model as part_attention_model
from .vision.curves.strands.curve_answer import CurveGrouping as CurveGrouping
from .vision.curves.strands.curve_grouper import CurveGrouper as CurveGrouper
from .vision.curves.strokes.contour_answer import Grouping as Grouping
from .vision.curves.strokes.contour_grouper import ContourGrouper as ContourGrouper
from .vision.elastic.letters.finder import ObjectFinder as ObjectFinder
from .vision.elastic.letters.letter_match import Match as Match
from .vision.elastic.photographs.detection import Detection as Detection
from .vision.elastic.photographs.detector import ObjectDetector as ObjectDetector
from .vision.parts.masks import Noise as Noise
from .vision.parts.masks import Parts as Parts
from .vision.parts.part_learning import PartLearner as PartLearner
from .vision.parts.part_learning import PartLearningConfig as PartLearningConfig
from .vision.parts.placements import Placements as Placements
from .vision.parts.sparsifier import Sparsifier as Sparsifier

__version__: str
