"""The cABC challenge: are two ring markers on the same of two overlapping letters?

The letters are found as a pair of elastic graphs. Each marker lies on one letter and clear of the
other. The answer weighs all pairs, each with both markers on one letter against one on each
(``mam.tasks.cabc_pairs``). Where that leaves doubt, the image is searched once more
(``mam.tasks.cabc_looks``).
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice

import numpy as np
from jaxtyping import Float, Int, UInt8

from mam.core.defaults import LETTER_ON
from mam.core.devices import batch_size, batches_at_once, host_threads
from mam.core.progress import Advance
from mam.data import CabcRow, find_rings
from mam.tasks.accuracy import Answered, measure_accuracy
from mam.tasks.cabc_looks import Looked, is_unsure, seen_again, weighed
from mam.tasks.cabc_pairs import MARKERS, MarkerConfig
from mam.tasks.cabc_pixels import pixels_under, read_as_paper, reduce_image
from mam.tasks.report import Report
from mam.tasks.rows import rows_of_kind
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.letters.finder import ObjectFinder
from mam.vision.elastic.letters.letter_learning import learn_bank
from mam.vision.elastic.letters.letter_match import Match
from mam.vision.elastic.letters.letter_search import LetterCandidates
from mam.vision.images.binary import as_states
from mam.vision.parts.greedy import greedy_cover
from mam.vision.parts.message_cover import message_cover
from mam.vision.parts.training import LETTER_SIDE, letter_masks

PUBLISHED_SIDE = 350  # px, of the published images; markers are given in these
_BATCH = 128  # rows read and answered at a time
_LEARNED = 512  # rows whose letters are learned at a time
NamedRow = tuple[str, CabcRow]
_MOST_EDGES = 300  # of a graph: one letter in twenty has more, a blob of many parts


@dataclass(frozen=True, eq=False)
class CabcAnswer:
    """What was decided about an image."""

    label: int  # 1: same letter
    log_odds: float  # of "same" against "different"; +-inf under the paper's preset
    markers: Float[np.ndarray, "2 2"]  # (row, column) in the reduced image
    proved: bool  # the places of both letters are proved to be the best of their graphs
    candidates: LetterCandidates  # what was weighed
    _pair: Callable[[], tuple[Match, Match]]

    @cached_property
    def letters(self) -> tuple[Match, Match]:
        """The best pair that agrees with the label; drawn only when asked for."""
        return self._pair()


def fit(
    rows: Iterable[CabcRow],
    advance: Advance = lambda count: None,
    preset: str = "best",
    **parameters: object,
) -> ObjectFinder:
    """Learn an elastic graph from every letter, but for those squeezed into a blob.

    Rows are taken a few at a time, so that a set of any size can be learned. With the preset
    "paper" parts are placed by max-product, and every letter has its graph.
    """
    learn = letter_learner(preset)
    banks, coming = [], ((f"row {number}", row) for number, row in enumerate(rows))
    learning: deque[Future[Bank]] = deque()

    def gather() -> None:
        banks.append(learning.popleft().result())
        advance(len(banks[-1]) // 2)

    # One thread reads and reduces the next letters while others make graphs of the last ones.
    side_by_side = batches_at_once()
    with ThreadPoolExecutor(1) as ahead, ThreadPoolExecutor(side_by_side) as learners:
        next_letters = ahead.submit(_letters, islice(coming, _LEARNED))
        while (letters := next_letters.result())[0]:
            next_letters = ahead.submit(_letters, islice(coming, _LEARNED))
            learning.append(learners.submit(learn, *letters))
            if len(learning) == side_by_side:
                gather()
        while learning:
            gather()
    return ObjectFinder.of(joined_letters(banks, preset), preset=preset, **parameters)


def letter_learner(preset: str) -> Callable[..., Bank]:
    """What makes graphs of masks, with their categories and names."""
    return partial(learn_bank, cover=message_cover if preset == "paper" else greedy_cover)


def learn_letters(rows: Iterable[NamedRow], learn: Callable[..., Bank]) -> Bank:
    """An elastic graph from every letter of some rows, by their names."""
    return learn(*_letters(rows))


def joined_letters(banks: Sequence[Bank], preset: str) -> Bank:
    """The graphs of all rows; blobs are left out, but for the preset "paper"."""
    if not banks:
        raise ValueError("no rows, so there is nothing to learn from")
    bank = Bank.joined(banks)
    shaped = np.flatnonzero(bank.edge_count <= _MOST_EDGES)
    return bank if preset == "paper" or not len(shaped) else bank.take(shaped)


def _letters(rows: Iterable[NamedRow]) -> tuple[list[np.ndarray], list[int], list[str]]:
    """Masks, categories and names of the letters of some rows."""
    some = list(rows)
    with ThreadPoolExecutor(4) as pool:
        masks = [mask for both in pool.map(lambda one: letter_masks(one[1]), some) for mask in both]
    categories = [category for _, row in some for category in row.categories.tolist()]
    names = [f"letter {letter} of {name}" for name, _ in some for letter in "AB"]
    return masks, categories, names


def read_image(
    image: UInt8[np.ndarray, "_ _"], name: str, config: MarkerConfig = MARKERS
) -> tuple[Int[np.ndarray, "side side"], Float[np.ndarray, "2 2"]]:
    """The pixels (1 ON, -1 OFF, 0 hidden by a ring) and the markers of an image."""
    scale = np.array(image.shape) / PUBLISHED_SIDE
    if not np.allclose(scale, scale[0], rtol=0.02):
        raise ValueError(f"{name}: {image.shape} px; a cABC image is square")
    found = find_rings(image, name, radius=11.0 * scale[0], ring=3.0 * scale[0])
    markers = (found + 0.5) * LETTER_SIDE / np.array(image.shape) - 0.5
    state = as_states(reduce_image(image, LETTER_ON))
    away = [_square_distance_from(marker) for marker in markers]
    for square in away:
        state[square <= config.hidden**2] = 0
    for marker, square in zip(found, away, strict=True):
        if not (state[square <= config.reach**2] > 0).any():
            raise ValueError(f"{name}: the marker at {marker.tolist()} lies on no letter")
        state[square <= config.core**2] = 1
    return state, markers


def predict(
    images: Sequence[UInt8[np.ndarray, "_ _"]],
    finder: ObjectFinder,
    names: Sequence[str] | None = None,
    config: MarkerConfig = MARKERS,
) -> list[CabcAnswer | ValueError]:
    """Answer for each image; an image that cannot be read gives its error instead."""
    names = names or [f"image {number}" for number in range(len(images))]
    finder.search([])  # prepares the library, before two threads want it
    with ThreadPoolExecutor(batches_at_once()) as pool:

        def in_batches(work: Callable[..., list], *columns: Sequence) -> list:
            size = batch_size()
            starts = range(0, len(columns[0]), size)
            found = pool.map(lambda at: work(*(one[at : at + size] for one in columns)), starts)
            return [answer for batch in found for answer in batch]

        seen = in_batches(partial(_look, finder, config), images, names)
        unsure = [number for number, one in enumerate(seen) if is_unsure(one, config)]
        again = in_batches(partial(seen_again, finder, config), [seen[n] for n in unsure])
        for number, one in zip(unsure, again, strict=True):
            seen[number] = one
        return list(pool.map(partial(_answer, finder), seen))


def _look(
    finder: ObjectFinder, config: MarkerConfig, images: Sequence[np.ndarray], names: Sequence[str]
) -> list[Looked | ValueError]:
    """Find the candidates of one batch of images, and weigh them."""
    paper = finder.preset == "paper"

    def read(image: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray] | ValueError:
        try:
            return read_as_paper(image, name) if paper else read_image(image, name, config)
        except ValueError as error:
            return error

    with ThreadPoolExecutor(host_threads()) as pool:
        seen = list(pool.map(read, images, names))
        known = [one for one in seen if not isinstance(one, ValueError)]
        states, markers = ([one[part] for one in known] for part in (0, 1))
        found = finder.search(states)
        weigh = partial(weighed, config=config, paper=paper)
        answers = pool.map(weigh, found, states, markers)
        return [one if isinstance(one, ValueError) else next(answers) for one in seen]


def evaluate(
    source: str,
    finder: ObjectFinder,
    limit: int | None = None,
    advance: Advance = lambda count: None,
) -> Report:
    """Answer the rows of a data set and compare with their labels.

    ``proved`` is the share of answers whose two letters have the best places of their graphs, in
    the model of ``mam.vision.elastic.search.certify``. Letters have loops: ``finder.bound`` tells.
    """

    def answers(rows: list[CabcRow], first: int) -> list[Answered | str]:
        return labels(rows, finder, [f"row {first + place}" for place in range(len(rows))])

    rows = islice(rows_of_kind(source, CabcRow, "row of cABC"), limit)
    return measure_accuracy(rows, _BATCH, answers, advance)


def labels(
    rows: Sequence[CabcRow], finder: ObjectFinder, names: Sequence[str]
) -> list[Answered | str]:
    """The label of every row, or why it has none."""
    return [
        str(one) if isinstance(one, ValueError) else Answered(one.label, one.proved)
        for one in predict([row.image for row in rows], finder, names)
    ]


def _answer(finder: ObjectFinder, seen: Looked | ValueError) -> CabcAnswer | ValueError:
    """Decide by what was seen."""
    if isinstance(seen, ValueError):
        return seen
    found, state, markers, known = seen
    if known is None:
        return _decide_as_paper(found, state, markers, finder)
    proved = _proved(finder, found, state, known.pair)
    label = int(known.log_odds > 0)
    letters = partial(_matches, finder, found, state, known.pair)
    return CabcAnswer(label, known.log_odds, markers, proved, found, letters)


def _decide_as_paper(
    found: LetterCandidates,
    state: np.ndarray,
    hulls: np.ndarray,
    finder: ObjectFinder,
) -> CabcAnswer:
    """The best pair; a marker goes to the letter with the larger overlap, else to the nearer."""
    one, two = (int(n) for n in np.unravel_index(int(found.pair.argmax()), found.pair.shape))
    graphs, part = found.graphs, finder.bank_.mask
    vertices = [graphs.place[letter][graphs.there[letter]] for letter in (one, two)]
    covered = [pixels_under(places, part) for places in vertices]
    owner = []
    markers = np.stack([np.argwhere(hull).mean(0) for hull in hulls])
    for marker, hull in zip(markers, hulls, strict=True):
        overlap = [int((pixels & hull).sum()) for pixels in covered]
        away = [float(np.hypot(*(places - marker).T).min()) for places in vertices]
        owner.append(int(np.argmax(overlap)) if max(overlap) else int(np.argmin(away)))
    same = owner[0] == owner[1]
    log_odds, proved = np.inf if same else -np.inf, _proved(finder, found, state, (one, two))
    return CabcAnswer(
        int(same),
        log_odds,
        markers,
        proved,
        found,
        partial(_matches, finder, found, state, (one, two)),
    )


def _proved(
    finder: ObjectFinder, found: LetterCandidates, state: np.ndarray, pair: tuple[int, int]
) -> bool:
    return all(one.proof for one in finder.certify(found, state, list(pair)))


def _matches(
    finder: ObjectFinder, found: LetterCandidates, state: np.ndarray, pair: tuple[int, int]
) -> tuple[Match, Match]:
    first, second = finder.matches(found, state, 2, list(pair))
    return first, second


def _square_distance_from(marker: Float[np.ndarray, "2"]) -> Float[np.ndarray, "side side"]:
    """The square of how far each pixel of the reduced image is."""
    row, col = (np.arange(LETTER_SIDE)[:, None] - marker).T ** 2
    return row[:, None] + col
