static void @layer$k(const uint32_t *signals, uint32_t *bits)
{
    for (int j = 0; j < $width; j++) {
        const int64_t sum = @count(signals, @planes$k, @spans$k[j], $n_planes, $n_signs);
        for (int l = 0; l < $n_thresholds; l++)
            if (sum >= @thresholds$k[j * $n_thresholds + l])
                @set_bit(bits, j * $n_thresholds + l);
    }
}
