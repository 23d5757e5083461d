# The dtypes of the kernels, each named once.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

ctypedef uint8_t code_t      # a bin (at most 256) or eight packed predictions of +-1
ctypedef uint16_t pair_t     # the values that two learners predict, 5 bits each
ctypedef int32_t index_t     # rows, columns, nodes: half the size of a pointer
ctypedef int32_t grid_t      # a signed weight on the fixed-point grid; the sum of magnitudes is below 2**31
ctypedef int64_t sum_t       # (sum of signed weights) * 2**32 + (sum of magnitudes), so that one addition adds both
ctypedef uint64_t key_t      # state of the column sampler, or the bits of a number that is sorted

ctypedef fused real_t:       # features in the dtype of the user, never copied or converted as a whole
    float
    double

ctypedef fused place_t:      # entries of a table of values, bytes if it is short
    code_t
    index_t

ctypedef fused count_t:      # counts of the samples of a cut: whole numbers, or sums of weights
    index_t
    double

ctypedef fused pixel_t:      # images: bytes, or floats in [0, 1]
    code_t
    float
