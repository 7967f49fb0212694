import { join } from 'node:path';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import type { ReadMessage } from '#ports/event-log.ts';
import { isPublicTopic, topics } from '#streams/topics.ts';
import { readAll } from '../worlds/log.ts';

export type PublicValue = Readonly<Record<string, unknown>>;

export interface PublicMessageRead {
  readonly topic: string;
  readonly partition: number;
  readonly message: ReadMessage;
  /** Null of a tombstone. */
  readonly value: PublicValue | null;
}

/** Every message of every public topic of a gateway that has stopped. */
export async function readPublicTopics(dataDir: string): Promise<PublicMessageRead[]> {
  await using embedded = await openEmbeddedLog({ directory: join(dataDir, 'log') });
  const { log, schemas } = embedded;
  const found: PublicMessageRead[] = [];
  for (const topic of Object.keys(topics).filter(isPublicTopic)) {
    const codec = await schemas.codec<PublicValue>(topic);
    const partitions = await log.partitions(topic);
    for (let partition = 0; partition < partitions; partition++) {
      for (const message of await readAll(log, topic, partition)) {
        const value = message.value === null ? null : codec.decode(message.value);
        found.push({ topic, partition, message, value });
      }
    }
  }
  return found;
}

/** Puts a message that is none of ours on a topic of a gateway that has stopped. */
export async function appendGarbage(dataDir: string, topic: string, key: string): Promise<void> {
  await using embedded = await openEmbeddedLog({ directory: join(dataDir, 'log') });
  const message = { key, value: Buffer.from('no framing'), headers: { ce_id: 'garbage' } };
  await embedded.log.append([{ topic, partition: 0, messages: [message] }]);
}
