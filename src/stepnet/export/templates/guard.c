#if defined(__FAST_MATH__)
#error "this model is exact only without -ffast-math"
#endif
#if FLT_EVAL_METHOD != 0
#error "this model needs double arithmetic without extended precision (FLT_EVAL_METHOD 0; on x86: -msse2 -mfpmath=sse)"
#endif
#if FLT_RADIX != 2 || DBL_MANT_DIG != 53 || DBL_MAX_EXP != 1024
#error "this model needs 64-bit doubles as in IEEE 754"
#endif
