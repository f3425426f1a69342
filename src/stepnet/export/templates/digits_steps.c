static void @layer$k(const uint32_t *signals, uint32_t *bits)
{
    for (int j = 0; j < $width; j++) {
        int64_t sum[$n_digits] = {0};
        @add_digits(signals, @weights$k, @spans$k[j], $n_digits, sum);
        for (int l = j * $n_thresholds; l < (j + 1) * $n_thresholds; l++) {
            int64_t end[$n_digits];
            for (int d = 0; d < $n_digits; d++)
                end[d] = @thresholds$k[l * $n_digits + d];
            if (!@is_below(sum, end, $n_digits))
                @set_bit(bits, l);
        }
    }
}
