import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { partitionOf } from '#kernel/partition.ts';
import { dayMs } from '#kernel/time.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import { streamKey, type Stream } from '#modules/records/model/stream.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { openRecordsInKafka } from '#test/support/worlds/records-in-kafka.ts';
import { anOrigin, aStream } from '#test/support/worlds/records.ts';

const partitions = 2;
const partitionOfStream = (stream: Stream) => partitionOf(streamKey(stream), partitions);
const stream = aStream();
/** Its messages roll no segment of the other's partition. */
const elsewhere = Array.from({ length: 20 }, (_, n) => aStream({ model: `Other${n}` })).find(
  (other) => partitionOfStream(other) !== partitionOfStream(stream),
)!;

it('a record whose sync has not run for 60 days leaves a tombstone in Kafka, and its payload goes', async () => {
  const clock = movedClock();
  await using world = await openRecordsInKafka({
    clock,
    cleanup: { policy: 'compact', minLagMs: 0, maxLagMs: 1_000, tombstoneMs: 7 * dayMs },
    tickMs: 100,
  });
  const { writer, log } = world;
  const payload = randomUUID();
  const save = async (to: Stream, record: { readonly id: string }) => {
    const run = anOrigin({ runId: randomUUID() });
    await writer.save(to, run, [record]);
    await writer.barrier(to, run);
  };
  /** Of the record, oldest first: whether each message is a tombstone, and has the payload. */
  const messages = async () => {
    const found: { readonly isTombstone: boolean; readonly hasPayload: boolean }[] = [];
    const from = { topic: recordsTopic, partition: partitionOfStream(stream), offset: 0 };
    for await (const batch of log.read(from)) {
      for (const { key, value } of batch.messages) {
        if (!key.startsWith(streamKey(stream))) continue;
        const hasPayload = value !== null && Buffer.from(value).includes(payload);
        found.push({ isTombstone: value === null, hasPayload });
      }
    }
    return found;
  };
  await save(stream, { id: 'a', ...{ secret: payload } });
  expect(await messages()).toEqual([{ isTombstone: false, hasPayload: true }]);
  clock.forward(61 * dayMs);
  await save(elsewhere, { id: 'x' });
  await eventually(messages, (all) => all.at(-1)?.isTombstone === true);
  // The day after, the owner writes the message that rolls the segment of its quiet partition.
  clock.forward(dayMs + 1_000);
  await save(elsewhere, { id: 'y' });
  expect(await eventually(messages, (all) => all.length === 1)).toEqual([
    { isTombstone: true, hasPayload: false },
  ]);
});
