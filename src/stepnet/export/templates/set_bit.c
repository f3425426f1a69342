static void @set_bit(uint32_t *bits, int number)
{
    bits[number / 32] |= UINT32_C(1) << (number % 32);
}
