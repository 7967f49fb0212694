import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import { topicSpecs } from '#app/process/topics.ts';
import { minuteMs, systemClock } from '#kernel/time.ts';
import { keysTopic } from '#modules/access/vault/key-log.ts';
import type { WrappedKey } from '#modules/access/vault/key-ring.ts';
import { openVault } from '#modules/access/vault/open-vault.ts';
import { startKafka } from '#test/services/kafka.ts';
import { filesWith } from '#test/support/judges/stored-bytes.ts';
import { aRootKey, openControlWorld, silent } from '#test/support/worlds/control.ts';
import { openTestLog } from '#test/support/worlds/kafka-open.ts';

const [spec] = topicSpecs(1).filter(({ name }) => name === keysTopic);

describe('a key that was destroyed, in Kafka', () => {
  // The broker is as it is delivered, and so are the limits: the test waits for the real bound.
  it(
    'is in no file of the broker within the bound that the receipt names, also in a topic of a release before',
    { timeout: 10 * minuteMs },
    async () => {
      const settings = { 'log.cleaner.backoff.ms': 15_000, 'log.segment.delete.delay.ms': 60_000 };
      await using kafka = await startKafka({ settings });
      await using opened = await openTestLog(kafka.url, { allowsFuture: false });
      // Only for its schemas, whose ids stand in the values.
      await using world = await openControlWorld();
      const { log } = opened;
      const { schemas } = world.embedded;
      const before = { policy: 'compact', minLagMs: 0, maxLagMs: 60 * minuteMs } as const;
      const cleanup = { ...before, tombstoneMs: 7 * 24 * 60 * minuteMs };
      await log.ensureTopics([{ name: keysTopic, partitions: 1, cleanup }]);
      await log.ensureTopics([spec!]);

      const deps = { log, schemas, rootKeys: [aRootKey()], newCipher: createAesGcm };
      await using vault = await openVault({ ...deps, clock: systemClock, logger: silent });
      for (const id of ['k', 'kept']) await vault.create(id);
      const codec = await schemas.codec<WrappedKey>(keysTopic);
      const wrapped = new Map<string, Buffer>();
      for await (const { messages } of log.read({ topic: keysTopic, partition: 0, offset: 0 })) {
        for (const { key, value } of messages) {
          if (value !== null) wrapped.set(key, Buffer.from(codec.decode(value).wrapped));
        }
      }
      const data = join(kafka.folder, 'data');
      expect(await filesWith(data, wrapped.get('k')!)).not.toEqual([]);

      const withinMs = await vault.shred('k');
      expect(withinMs).toBe(5 * minuteMs);
      const shreddedAt = performance.now();
      const isGone = async () => (await filesWith(data, wrapped.get('k')!)).length === 0;
      await vi.waitUntil(isGone, { timeout: withinMs, interval: 1_000 });
      console.info(`gone after ${Math.round((performance.now() - shreddedAt) / 1000)} s`);
      expect(await filesWith(data, wrapped.get('kept')!)).not.toEqual([]);
      await vault.ready('kept');
    },
  );
});
