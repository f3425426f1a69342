static void @layer$k(const uint32_t *signals, uint32_t *bits)
{
    for (int j = 0; j < $width; j++) {
        const @span span = @spans$k[j];
        const int64_t sum = @listed(signals, @places$k + span.at, @weights$k + span.at, span.count);
        for (int l = 0; l < $n_thresholds; l++)
            if (sum >= @thresholds$k[j * $n_thresholds + l])
                @set_bit(bits, j * $n_thresholds + l);
    }
}
