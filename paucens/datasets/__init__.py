"""Data sets: raw files in, checked arrays out. Nothing here trains, plots or downloads.

================  ===========================================  =======================  ====================
name              what                                         where to get it          loader
================  ===========================================  =======================  ====================
toy               two-dimensional points of Sec. 4.2           drawn from a seed        `load_toy`
usps              9298 digits of 16 x 16, even against odd     zip.train.gz and         `load_usps`
                  (Table 5)                                    zip.test.gz of ESL (1)
digits_parity     1797 digits of 8 x 8, even against odd; a    comes with scikit-learn  `load_digits_parity`
                  stand-in for USPS, never beside the paper
scene15           4485 photographs of 15 scenes, indoor        scene_categories.zip     `load_scene15`
                  against outdoor (Table 5)                    (3)
faces             4916 faces against 5000 random patches, 24   Viola and Jones (2004),  `load_faces`
                  x 24 (Table 5)                               and INRIAPerson.tar (4)
protein_pairs     240249 pairs of yeast proteins, interacting  two .feature files of    `load_protein_pairs`
                  or not (Table 4)                             Qi et al. (2006) (2)
yeast_pairs       a substitute for protein_pairs, of its size  put together for this    `load_yeast_pairs`
                  and under its own name                       project
mammography       11183 spots on mammograms                    mammography.csv          `load_mammography`
htru2             17898 candidates for pulsars                 HTRU_2.csv of UCI        `load_htru2`
sylva             13086 samples of forest                      made of the challenge's  `load_sylva`
hiv_ecfp4         41120 compounds as fingerprints              made of HIV.csv          `load_hiv_ecfp4`
inria             INRIA Person: crops of people, photographs   INRIAPerson.tar (4),     `load_inria`
                  without, 288 test images (Tables 2, 3)       data/assemble_inria.py
caltech           annotations, videos and results of the       Caltech-USA (5)          `read_vbb`,
                  Caltech benchmark                                                     `read_results`,
                                                                                        `SeqVideo`
eth_bahnhof       999 frames of one walk                       sequence BAHNHOF (6)     `load_eth_bahnhof`
tud_stadtmitte    179 frames of one street                     MOTChallenge 2015 (7)    `load_tud_stadtmitte`
kitti             7481 photographs of streets from a car       object data set (8)      `load_kitti`,
                                                                                        `read_kitti`
penn_fudan        170 photographs of people                    PennFudanPed.zip (9)     `load_penn_fudan`
toolbox           detectors of Dollar's toolbox, and what      pdollar/toolbox on       `load_toolbox`
                  they found in INRIA and Caltech              GitHub
streets           street scenes, any number; a stand-in for    rendered from a seed     `synthetic_streets`,
                  inria, never beside the paper                                         `street_sequences`
================  ===========================================  =======================  ====================

`describe(name)` adds the terms of use and how the loader checks the content; `describe()` lists all sets. Files are
searched in the `path` argument, then in `$PAUCENS_DATA`, then in `./data`, each time in the sub-folder of the set
first. A set that is not found raises FileNotFoundError with the places and the source; a set that is not the genuine
one raises ValueError. `load_tabular(name)` reads mammography, htru2, sylva and hiv_ecfp4.

Sets for detection are lists of `DetectionRecord`: an image (a path for `paucens.images.read_rgb`, or pixels), boxes to
find and boxes to ignore, all x, y, w, h in 0-based continuous pixels. `read_pascal`, `read_idl`, `read_mot` and
`read_kitti` read one file of these formats. Text is UTF-8, with or without a byte order mark, or else Latin-1; line
ends are those of any system, and blank lines do not count.

A new set is one file in this folder, with a loader and an `ABOUT`, and an entry in `catalogue.py`.

Sources:

1. Data page of Hastie, Tibshirani and Friedman, The Elements of Statistical Learning,
   https://hastie.su.domains/ElemStatLearn/data.html
2. http://www.cs.cmu.edu/~qyj/papers_sulp/proteins05_pages/feature-download.html
3. http://www-cvr.ai.uiuc.edu/ponce_grp/data/scene_categories/scene_categories.zip
4. http://pascal.inrialpes.fr/data/human/
5. http://www.vision.caltech.edu/Image_Datasets/CaltechPedestrians/
6. https://data.vision.ee.ethz.ch/cvl/aess/dataset/
7. https://motchallenge.net/data/MOT15/
8. https://www.cvlibs.net/datasets/kitti/eval_object.php
9. https://www.cis.upenn.edu/~jshi/ped_html/
"""

from paucens._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
