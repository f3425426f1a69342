/* A sum of small integer weights over the signals that are on: plane p holds bit p of the weights, first of the
   positive ones, then (if n_signs is 2) of the negative ones. */
static int64_t @count(const uint32_t *signals, const uint32_t *planes, @span span, int n_planes, int n_signs)
{
    int64_t total = 0;
    for (int p = n_planes - 1; p >= 0; p--) {
        const uint32_t *plane = planes + span.at + (uint32_t)(p * n_signs) * span.count;
        total *= 2;
        for (uint32_t k = 0; k < span.count; k++) {
            total += @popcount(signals[span.first + k] & plane[k]);
            if (n_signs == 2)
                total -= @popcount(signals[span.first + k] & plane[span.count + k]);
        }
    }
    return total;
}
