/** Decimals of the currencies that have not two (ISO 4217). */
const decimals: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'
      .split(' ')
      .map((currency) => [currency, 0]),
  ),
  ...Object.fromEntries('BHD IQD JOD KWD LYD OMR TND'.split(' ').map((currency) => [currency, 3])),
};

/** An amount in the smallest unit of its currency, such as cents, in units of the currency. */
export const unitsOf = (amount: number, currency: string): number =>
  amount / 10 ** (decimals[currency.toUpperCase()] ?? 2);
