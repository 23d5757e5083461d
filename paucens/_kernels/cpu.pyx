"""Capabilities of this processor."""

cdef extern from *:
    """
    #if (defined(__GNUC__) || defined(__clang__)) && (defined(__x86_64__) || defined(__i386__))
    static int avx2_is_here(void) { __builtin_cpu_init(); return __builtin_cpu_supports("avx2") != 0; }
    #else
    static int avx2_is_here(void) { return 0; }
    #endif
    """
    bint avx2_is_here()


def has_avx2():
    """Return whether the processor and the operating system support vectors of 256 bits."""
    return avx2_is_here()
