static int @layer$k(const uint32_t *signals)
{
    int best = 0;
    int64_t highest[$n_digits] = {0};
    for (int j = 0; j < $width; j++) {
        int64_t score[$n_digits];
        for (int d = 0; d < $n_digits; d++)
            score[d] = -(int64_t)@thresholds$k[j * $n_digits + d];
        @add_digits(signals, @weights$k, @spans$k[j], $n_digits, score);
        if (j == 0 || @is_below(highest, score, $n_digits)) {
            best = j;
            memcpy(highest, score, sizeof highest);
        }
    }
    return best;
}
