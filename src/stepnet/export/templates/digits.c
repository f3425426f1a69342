/* Adds the weights of the signals that are on, each of n_digits digits in base 2^32, lowest first. */
static void @add_digits(const uint32_t *signals, const int32_t *weights, @span span, int n_digits, int64_t *sum)
{
    for (uint32_t b = 0; b < span.count; b++) {
        const uint32_t bit = span.first + b;
        if ((signals[bit / 32] >> (bit % 32)) & 1)
            for (int k = 0; k < n_digits; k++)
                sum[k] += weights[(span.at + b) * (uint32_t)n_digits + (uint32_t)k];
    }
}

/* Whether left < right, as numbers of n_digits digits. */
static int @is_below(const int64_t *left, const int64_t *right, int n_digits)
{
    const int64_t base = INT64_C(4294967296);
    int64_t carry = 0;
    for (int k = 0; k < n_digits; k++) {
        const int64_t digit = left[k] - right[k] + carry;
        carry = k + 1 == n_digits ? digit : digit / base - (digit % base < 0);
    }
    return carry < 0;
}
