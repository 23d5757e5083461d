from paucens.datasets._files import content_hash
from paucens.datasets._pascal import read_pascal
from paucens.datasets._registry import DataSet
from paucens.datasets.caltech import SeqVideo, locate_caltech, read_results, read_vbb
from paucens.datasets.catalogue import REGISTRY, describe, whereabouts
from paucens.datasets.digits import load_digits_parity
from paucens.datasets.eth import load_eth_bahnhof, read_idl
from paucens.datasets.faces import load_faces
from paucens.datasets.inria import load_inria
from paucens.datasets.kitti import kitti_record, load_kitti, read_kitti
from paucens.datasets.mot import load_tud_stadtmitte, read_mot
from paucens.datasets.pennfudan import load_penn_fudan
from paucens.datasets.protein_pairs import load_protein_pairs
from paucens.datasets.records import DetectionRecord
from paucens.datasets.scene15 import load_scene15
from paucens.datasets.streets import StreetSequence, street_crops, street_sequences, synthetic_streets
from paucens.datasets.tabular import load_hiv_ecfp4, load_htru2, load_mammography, load_sylva, load_tabular
from paucens.datasets.toolbox import load_toolbox
from paucens.datasets.toy import load_toy
from paucens.datasets.usps import load_usps
from paucens.datasets.yeast_pairs import load_yeast_pairs

__all__ = [
    "REGISTRY",
    "DataSet",
    "DetectionRecord",
    "SeqVideo",
    "StreetSequence",
    "content_hash",
    "describe",
    "kitti_record",
    "load_digits_parity",
    "load_eth_bahnhof",
    "load_faces",
    "load_hiv_ecfp4",
    "load_htru2",
    "load_inria",
    "load_kitti",
    "load_mammography",
    "load_penn_fudan",
    "load_protein_pairs",
    "load_scene15",
    "load_sylva",
    "load_tabular",
    "load_toolbox",
    "load_toy",
    "load_tud_stadtmitte",
    "load_usps",
    "load_yeast_pairs",
    "locate_caltech",
    "read_idl",
    "read_kitti",
    "read_mot",
    "read_pascal",
    "read_results",
    "read_vbb",
    "street_crops",
    "street_sequences",
    "synthetic_streets",
    "whereabouts",
]
