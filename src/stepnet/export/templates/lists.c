/* A sum of small integer weights over the signals that are on, of those that a neuron lists. */
static int64_t @listed(const uint32_t *signals, const uint16_t *places, const int16_t *weights, uint32_t count)
{
    int64_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += (int64_t)weights[i] * (int64_t)((signals[places[i] / 32] >> (places[i] % 32)) & 1);
    return total;
}
