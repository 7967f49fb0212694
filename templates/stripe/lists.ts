import type { SvcSync } from 'svc';

/** Pages of a list, the newest first, after an object: what is created meanwhile moves nothing. */
export async function* listed<Item extends { id: string }>(
  svc: Pick<SvcSync, 'get'>,
  endpoint: string,
  lastId: string | undefined,
): AsyncGenerator<Item[]> {
  for (let after = lastId; ;) {
    const response = await svc
      .get<{ data: Item[]; has_more: boolean }>({
        endpoint,
        params: { limit: 100, starting_after: after },
        retries: 5,
      })
      .catch((error: unknown) => {
        if (after === undefined || !isPositionGone(error)) throw error;
        return null;
      });
    after = response?.data.data.at(-1)?.id;
    // Without its last object a list begins again: what was read is not changed by a second reading.
    if (response === null) continue;
    if (after === undefined) return;
    yield response.data.data;
    if (!response.data.has_more) return;
  }
}

interface Refusal {
  response?: { data?: { error?: { code?: string; param?: string } } };
}

/** Whether the object after which a page begins was deleted, such as a draft of an invoice. */
function isPositionGone(error: unknown): boolean {
  const { code, param } = (error as Refusal).response?.data?.error ?? {};
  return code === 'resource_missing' && param === 'starting_after';
}

/** A time in seconds since the epoch as ISO 8601. */
export const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString();

/** Decimals of amounts that are not in hundredths, as Stripe counts them. */
const decimals: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'
      .split(' ')
      .map((currency) => [currency, 0]),
  ),
  ...Object.fromEntries('bhd jod kwd omr tnd'.split(' ').map((currency) => [currency, 3])),
};

/** An amount in the smallest unit of its currency in units of the currency. */
export const unitsOf = (amount: number, currency: string): number =>
  amount / 10 ** (decimals[currency] ?? 2);
