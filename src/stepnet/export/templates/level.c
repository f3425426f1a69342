/* The number of a neuron's bits that are on. */
static int @level(const uint32_t *bits, int neuron, int n_thresholds)
{
    int level = 0;
    for (int l = neuron * n_thresholds; l < (neuron + 1) * n_thresholds; l++)
        level += (int)((bits[l / 32] >> (l % 32)) & 1);
    return level;
}
