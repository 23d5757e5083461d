# Every dtype of the kernels, named once.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

ctypedef uint8_t code_t      # a bin (at most 256) or eight packed +-1 outputs
ctypedef int32_t index_t     # rows, columns, nodes: half the bytes of a pointer in everything gathered
ctypedef int32_t grid_t      # a signed weight on the fixed-point grid, sum of magnitudes < 2**31
ctypedef int64_t sum_t       # (sum of signed weights) * 2**32 + (sum of magnitudes): both in one addition
ctypedef uint64_t key_t      # state of the column sampler

ctypedef fused real_t:       # features as the user holds them: never copied, never widened as a whole
    float
    double

ctypedef fused pixel_t:      # images: bytes, or floats in [0, 1]
    code_t
    float
