import kafkajs from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import { Names } from '#adapters/event-log/kafka/names.ts';
import { topicSpecs } from '#app/process/topics.ts';
import { systemClock } from '#kernel/time.ts';
import { fillerKey, keysTopic } from '#modules/access/vault/key-log.ts';
import { openVault, type OpenVault } from '#modules/access/vault/open-vault.ts';
import { ownPrefix, serviceUrl } from '#test/services/url.ts';
import { aRootKey, openControlWorld, silent } from '#test/support/worlds/control.ts';
import { brokersOf, openTestLog } from '#test/support/worlds/kafka-open.ts';

const nodes = 6;
const keysOfEach = 10;
const specs = topicSpecs(1).filter(({ name }) => name === keysTopic);
const timeout = 180_000;

/** Vaults on one Kafka, each with a connection of its own, opened together on an empty topic. */
async function openVaults(count: number) {
  const stack = new AsyncDisposableStack();
  const { schemas } = stack.use(await openControlWorld()).embedded;
  const prefix = ownPrefix();
  const deps = { schemas, rootKeys: [aRootKey()], newCipher: createAesGcm };
  const open = async (): Promise<OpenVault> => {
    const { log } = stack.use(await openTestLog(serviceUrl('kafka'), { prefix }));
    await log.ensureTopics(specs);
    return stack.use(await openVault({ ...deps, log, clock: systemClock, logger: silent }));
  };
  const vaults = await Promise.all(Array.from({ length: count }, open));
  return { prefix, vaults, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe('nodes on one Kafka', () => {
  it('that start together make connections at once, and remove them', { timeout }, async () => {
    await using world = await openVaults(nodes);
    const { vaults } = world;
    expect(new Set(vaults.map((vault) => vault.fingerprint('p', 'text'))).size).toBe(1);
    const onEach = (work: (vault: OpenVault, id: string) => Promise<unknown>) =>
      Promise.all(
        vaults.flatMap((vault, node) =>
          Array.from({ length: keysOfEach }, (_, n) => work(vault, `k-${node}-${n}`)),
        ),
      );

    await onEach((vault, id) => vault.create(id));
    for (const one of vaults) await onEach((_vault, id) => one.ready(id));
    await onEach((vault, id) => vault.shred(id));
    for (const one of vaults)
      await onEach((_vault, id) => expect(one.ready(id)).rejects.toThrow('destroyed'));
  });

  it(
    'make connections behind a transaction that a killed node left open',
    { timeout },
    async () => {
      await using world = await openVaults(1);
      const names = new Names(world.prefix);
      const kafka = new kafkajs.Kafka({
        brokers: brokersOf(serviceUrl('kafka')),
        logLevel: kafkajs.logLevel.NOTHING,
      });
      const killed = kafka.producer({ transactionalId: names.inKafka('keys'), idempotent: true });
      await killed.connect();
      const transaction = await killed.transaction();
      const messages = [{ key: fillerKey, value: null }];
      await transaction.send({ topic: names.inKafka(keysTopic), messages });
      await killed.disconnect();
      const [vault] = world.vaults;
      await vault!.create('k');
      await vault!.ready('k');
    },
  );
});
