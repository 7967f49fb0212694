import type { Answer, Client } from '#client/index.ts';

type Chain = Answer<'GET /audit/chains'>['data'][number];

const pageSize = 2_000;
const encoder = new TextEncoder();

/** The export of a chain, from its oldest event on: pages of lines of JSON (docs/audit.md). @throws ApiError */
async function* pagesOf(client: Client, environment: string): AsyncGenerator<readonly string[]> {
  for (let from = 1; ;) {
    const text = await client.request('GET /audit/export', {
      query: { environment, from, limit: pageSize },
    });
    const lines = text.split('\n').filter((line) => line !== '');
    yield lines;
    if (lines.length < pageSize) return;
    from = entryOf(lines.at(-1) ?? '').seq + 1;
  }
}

/** The whole chain as lines of JSON. @throws ApiError */
export async function exportOf(client: Client, environment: string): Promise<Blob> {
  const parts: string[] = [];
  for await (const lines of pagesOf(client, environment)) parts.push(`${lines.join('\n')}\n`);
  return new Blob(parts, { type: 'application/x-ndjson' });
}

/** An event of the export; the hash covers the other fields and the hash before. */
interface Entry {
  readonly seq: number;
  readonly chain_hash: string;
}

/** The service guarantees the shape. */
const entryOf = (line: string): Entry => JSON.parse(line) as Entry;

/**
 * Computes each hash of the chain again, and compares the one at its end with that of the owner. Older events may have
 * expired: the first remaining one is taken as valid.
 * @returns the first event that does not match; null when the chain is whole
 * @throws ApiError
 */
export async function firstBroken(client: Client, chain: Chain): Promise<number | null> {
  let before: Entry | null = null;
  let isEndSeen = chain.length === 0;
  for await (const lines of pagesOf(client, chain.environment)) {
    for (const line of lines) {
      const entry = entryOf(line);
      const isNext: boolean =
        before === null
          ? entry.seq > 1 || (await hashOf(entry, '0'.repeat(64))) === entry.chain_hash
          : entry.seq === before.seq + 1 &&
            (await hashOf(entry, before.chain_hash)) === entry.chain_hash;
      const isOtherEnd = entry.seq === chain.length && entry.chain_hash !== chain.hash;
      if (!isNext || isOtherEnd) return entry.seq;
      isEndSeen ||= entry.seq === chain.length;
      before = entry;
    }
  }
  return isEndSeen ? null : chain.length;
}

async function hashOf({ chain_hash: _own, ...covered }: Entry, previous: string): Promise<string> {
  const sorted = Object.entries(covered).sort(([left], [right]) => (left < right ? -1 : 1));
  const text = `${previous}\n${JSON.stringify(Object.fromEntries(sorted))}`;
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
