"""How the detectors of Tables 2 and 3 are trained, chosen and judged. Written down before the first test run.

Training. Positives are the 1208 crops of INRIA Person and their mirror images. Negatives are random windows of its 1218
photographs without people, then hard ones. AdaBoost with shrinkage 0.1 boosts `Tree(depth=3)`, which sees a sixteenth
of the features per node. There are rounds of 32, 128, 512 and 2048 trees, so hard negatives are mined three times: 5000
negatives at first, then at most 10 000. The window is 128 x 64 around a box of 100 x 41, in cells of 4 pixels. A cell
is offered to the trees only if nothing outside the crop of 160 x 96 can change it. The soft cascade rejects at -10.

Choices. They are made on training data only, by `crop_miss_rate`. The 607 source photographs of the crops are split
into five folds, stratified by the prefixes of their names, and a fifth of the negative photographs is held out. The
figure is the miss rate of the held-out crops without repeated edges (`without_edges`), at the scores that give 0.01 to
1 false positives per held-out photograph.

Judging. There are 8 scales per octave. Suppression is greedy ("maxg") at 0.65 of the smaller area. Images are padded
with their own border so that people at the border fit into a window. The miss rate is the log-average of dbEval 3.2.1
for boxes of at least 50 pixels, at an overlap of 0.5. INRIA is judged without upsampling. TUD-Stadtmitte and
ETH-Bahnhof (100 of its frames) are judged with one octave of upsampling for people of at least 50 pixels, and without
for those of at least 100. They are test sets too. Every evaluation of a detector on images of a test set is a line of
`test_evaluations.csv` in the folder of the results, which is `figures/` for those of the paper's scale.

Changes since. The first evaluations were three of M+O+LUV (17.6, 18.4 and 16.5 % on INRIA) and one of all channels
(20.5 %), with unchanged negatives ("negatives unchanged" in that list). Two properties of the training data may tell
crops from windows without having to do with people. Since then they are the same in both; nothing else was changed.
A test set made us look: all channels found people above 300 pixels of INRIA less often than M+O+LUV did. What was
changed, and by how much, comes from the training data:
- 432 of the 1208 crops left their photograph and repeat its border. Negatives get such edges as often as positives have
  them, and crops with edges are left out of the choices.
- The crops were resampled by their makers and are smoother than photographs. The ratio of second to first differences
  is 0.62 at their sides and 0.69 to 0.71 in photographs, at full size as at 1 / 2.5. Smoothed by a triangle filter of
  radius 0.5, photographs have 0.60 to 0.64 (`sharpness.py`). So images are smoothed at every size, both while negatives
  are drawn and in the detector.
For M+O+LUV both together are worth nothing (17.9, 17.0 and 17.7 % afterwards); all channels went from 20.5 to 13.8 %
with them (seed 0). `ablation.py` says what each of the two is worth.
"""

from detectors.data import (
    PERSON_HEIGHT,
    AnnotatedData,
    TestSet,
    TrainingData,
    load,
    parts,
    records_hash,
    test_set,
    training_data,
    without_edges,
)
from detectors.judging import (
    DIFFERENCE,
    SCORE,
    crop_miss_rate,
    crop_miss_rates,
    detections_of,
    detections_of_each,
    judged,
    log_evaluation,
    per_cent,
    person_and_second_scores,
)
from detectors.peers import ToolboxConfig, on_disk
from detectors.results import cases, compare, judge, pair_cases, picture, table
from detectors.training import PROTOCOLS, DetectorConfig, Protocol, adaboost, n_threads, pauc_ensemble, trained
