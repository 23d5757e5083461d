"""From detections to numbers: miss rates against false positives, average precision, intervals.

Boxes are rows x, y, w, h and, for detections, a score: float64, in continuous pixels counted from 0, of area w * h.
Lists have one entry per image, also for images without detections or people.

==========================  ====================================================================================
`match_detections`          one image: which detections are true, false or ignored; which people are found
`match_images`              many images, pooled: the basis of curves, intervals and differences
`prepare_images`            boxes of any data set in the form of the Caltech protocol (shape, heights)
`image_results`             a table of what is found, missed and wrong in each image
`box_results`               the same of each box, with scores; `write_results` writes either as CSV
`miss_rate_curve`           miss rate against false positives per image
`log_average_miss_rate`     its geometric mean at nine references: the number of Tables 2 and 3
`miss_rate_interval`        the same with its interval over images (and seeds)
`miss_rate_difference`      paired difference of two detectors, with its interval
`evaluate_caltech`          all experiments of the Caltech benchmark from its files
`fppw_curve`                miss rate against false positives per window (Figure 3)
`miss_rate_at_fppw`         its value at one rate
`kitti_average_precision`   average precision of the KITTI benchmark, 11 and 40 points
`kitti_precision_recall`    the curve that it is the mean of
==========================  ====================================================================================
"""

from paucens.evaluation.boxes import prepare_images, standardize_boxes
from paucens.evaluation.caltech import CaltechResult, evaluate_caltech
from paucens.evaluation.curves import (
    fppw_curve,
    log_average_miss_rate,
    miss_rate_at_fppw,
    miss_rate_curve,
    miss_rates_at,
)
from paucens.evaluation.intervals import MissRateDifference, MissRateInterval, miss_rate_difference, miss_rate_interval
from paucens.evaluation.kitti import kitti_average_precision, kitti_precision_recall
from paucens.evaluation.matching import Matches, match_detections, match_images
from paucens.evaluation.results import box_results, image_results, write_results

__all__ = [
    "CaltechResult",
    "Matches",
    "MissRateDifference",
    "MissRateInterval",
    "box_results",
    "evaluate_caltech",
    "fppw_curve",
    "image_results",
    "kitti_average_precision",
    "kitti_precision_recall",
    "log_average_miss_rate",
    "match_detections",
    "match_images",
    "miss_rate_at_fppw",
    "miss_rate_curve",
    "miss_rate_difference",
    "miss_rate_interval",
    "miss_rates_at",
    "prepare_images",
    "standardize_boxes",
    "write_results",
]
