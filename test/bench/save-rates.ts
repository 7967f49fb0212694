/** How fast records are saved: until the log has the commands, they are decided, and they can be read. */
import type { Json } from '#kernel/stable-json.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import type { WriteOrigin } from '#modules/records/write/writer.ts';
import type { Figures } from './measure.ts';
import { decided, newOrigin, readable, type BenchNode } from './node.ts';

export const batchSize = 1000;

export type Batches = readonly (readonly Json[])[];

/** Made beforehand: what is measured begins with the call of a saver. */
export function batchesOf(make: (index: number) => Json, records: number): Batches {
  return Array.from({ length: records / batchSize }, (_, batch) =>
    Array.from({ length: batchSize }, (_item, at) => make(batch * batchSize + at)),
  );
}

export interface Rates {
  readonly acknowledged: number;
  readonly decided: number;
  readonly readable: number;
}

export type Write = (stream: Stream, origin: WriteOrigin, batch: readonly Json[]) => Promise<void>;

/** Records per second until acknowledged, decided and readable; one stream per writer. */
export async function rates(
  node: BenchNode,
  streams: readonly Stream[],
  all: Batches,
  write: Write,
): Promise<Rates> {
  const origins = streams.map(() => newOrigin());
  const started = performance.now();
  const since = () => (performance.now() - started) / 1000;
  const answers = streams.map(async (stream, at) => {
    const origin = origins[at] as WriteOrigin;
    for (let index = at; index < all.length; index += streams.length)
      await write(stream, origin, all[index] ?? []);
    const acknowledgedAt = since();
    const answer = await decided(node, stream, origin);
    return { acknowledgedAt, decidedAt: since(), answer };
  });
  const ends = await Promise.all(answers);
  await Promise.all(ends.map(({ answer }) => readable(node, answer)));
  const records = all.length * batchSize;
  const rate = (times: readonly number[]) => Math.round(records / Math.max(...times));
  return {
    acknowledged: rate(ends.map(({ acknowledgedAt }) => acknowledgedAt)),
    decided: rate(ends.map(({ decidedAt }) => decidedAt)),
    readable: rate([since()]),
  };
}

export const named = (
  prefix: string,
  { acknowledged, decided: decidedRate, readable: readableRate }: Rates,
): Figures => ({
  [`${prefix}_acknowledged_per_s`]: acknowledged,
  [`${prefix}_decided_per_s`]: decidedRate,
  [`${prefix}_readable_per_s`]: readableRate,
});
