import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KafkaLogOptions } from '#adapters/event-log/kafka/open.ts';
import type { EventLog } from '#ports/event-log.ts';
import { startKafka } from '#test/services/kafka.ts';
import { freePort } from '#test/services/ports.ts';
import type { Service } from '#test/services/service.ts';
import { ownPrefix } from '#test/services/url.ts';
import { CuttingProxy, type KafkaApi } from '#test/support/fakes/cutting-proxy.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { openTestLog } from '#test/support/worlds/kafka-open.ts';
import {
  HoldingMember,
  keptTopic,
  keysOf,
  message,
  placed,
  position,
} from '#test/support/worlds/log.ts';

const password = 'right-password';
const login = 'org.apache.kafka.common.security.plain.PlainLoginModule required';

let kafka: Service;
let proxy: CuttingProxy;
let url: string;
beforeAll(async () => {
  const [inside, outside, control] = [await freePort(), await freePort(), await freePort()];
  const before = await freePort();
  url = `kafka://127.0.0.1:${before}`;
  proxy = await CuttingProxy.listen(before, outside);
  const outsiders = 'listener.name.outside.plain.sasl.jaas.config';
  kafka = await startKafka({
    settings: {
      'listener.security.protocol.map':
        'PLAINTEXT:PLAINTEXT,OUTSIDE:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
      listeners: `PLAINTEXT://127.0.0.1:${inside},OUTSIDE://127.0.0.1:${outside},CONTROLLER://127.0.0.1:${control}`,
      'advertised.listeners': `PLAINTEXT://127.0.0.1:${inside},OUTSIDE://127.0.0.1:${before}`,
      'controller.quorum.voters': `1@127.0.0.1:${control}`,
      'listener.name.outside.sasl.enabled.mechanisms': 'PLAIN',
      [outsiders]: `${login} user_svc="${password}";`,
    },
  });
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await kafka.stop();
});

let names = 0;
const newName = (): string => `cut-${++names}`;

async function newTopic(log: EventLog, partitions = 1): Promise<string> {
  const topic = newName();
  await log.ensureTopics([keptTopic(topic, partitions)]);
  return topic;
}

const signIn = (given: string): Partial<KafkaLogOptions> => ({
  prefix: ownPrefix(),
  sasl: { mechanism: 'plain', username: 'svc', password: given },
});

const open = () => openTestLog(url, signIn(password));

describe('a broker that asks for a sign-in', () => {
  it('serves who signs in, over every connection, and again after a restart', async () => {
    await using opened = await open();
    const { log } = opened;
    await log.ensureTopics([keptTopic('topic')]);
    await log.append([placed('topic', 0, message('a'))]);
    await kafka.kill();
    await kafka.restart();
    await using writer = await log.openWriter('writer');
    await writer.commit([placed('topic', 0, message('b'))]);
    await log.append([placed('topic', 0, message('c'))]);
    let keys: string[] = [];
    while (keys.length < 3) keys = await keysOf(log, 'topic');
    expect(keys).toEqual(['a', 'b', 'c']);
  });

  it('refuses another password at once, and the error does not repeat it', async () => {
    const refused = await openTestLog(url, signIn('wrong-password')).catch(
      (error: unknown) => error as Error,
    );
    expect(refused).toMatchObject({ code: 'log_unavailable' });
    expect(JSON.stringify(refused)).not.toContain('wrong-password');
    expect(String((refused as Error).stack)).not.toContain('wrong-password');
    expect((refused as Error).message).toContain('authentication');
  });
});

describe('a broker that dies in the middle of an answer', () => {
  const random = seeded(seedOfRun());
  const lengthAndHead = 20;

  /** Each byte of the head, and some of the rest; with `SVC_TEST_CUTS=all` each of all. */
  function after(bytes: number, length: number): number {
    const isAll = process.env['SVC_TEST_CUTS'] === 'all' || bytes < lengthAndHead;
    return bytes + 1 + (isAll ? 0 : random.int(Math.ceil(length / 10)));
  }

  /** Does it with an answer cut after each byte of it; `act` checks what came of it. */
  async function cutting(api: KafkaApi, act: (nth: number) => Promise<void>): Promise<void> {
    let length = Infinity;
    for (let bytes = 0, nth = 0; bytes <= length; nth++) {
      const cut = proxy.cut(api, bytes);
      await act(nth);
      length = await cut;
      bytes = after(bytes, length);
    }
  }

  for (const api of ['ApiVersions', 'SaslHandshake', 'SaslAuthenticate'] as const) {
    it(`leaves every connection usable: ${api}`, async () => {
      await using opened = await open();
      const { log } = opened;
      const topic = await newTopic(log);
      const written: string[] = [];
      await cutting(api, async (nth) => {
        proxy.endConnections();
        written.push(String(nth));
        const writing = log.append([placed(topic, 0, message(String(nth)))]);
        const [, end] = await Promise.all([writing, log.endOffset(topic, 0), keysOf(log, topic)]);
        expect([nth, nth + 1]).toContain(end);
      });
      expect(await keysOf(log, topic)).toEqual(written);
    });
  }

  it('loses and doubles no append: Produce', async () => {
    await using opened = await open();
    const { log } = opened;
    const topic = await newTopic(log);
    await cutting('Produce', async (nth) => {
      const [first] = await log.append([placed(topic, 0, message(String(nth)))]);
      expect(first?.offset).toBe(nth);
    });
    const keys = await keysOf(log, topic);
    expect(keys).toEqual(keys.map((_, nth) => String(nth)));
  });

  it('loses and doubles nothing that is read: Fetch', async () => {
    await using opened = await open();
    const { log } = opened;
    const topic = await newTopic(log);
    const keys = ['a', 'b', 'c'];
    await log.append([placed(topic, 0, ...keys.map((key) => message(key)))]);
    await cutting('Fetch', async () => expect(await keysOf(log, topic)).toEqual(keys));
  });

  for (const api of [
    'FindCoordinator',
    'InitProducerId',
    'AddPartitionsToTxn',
    'AddOffsetsToTxn',
    'TxnOffsetCommit',
    'EndTxn',
  ] as const) {
    it(`loses and doubles no commit: ${api}`, async () => {
      await using opened = await open();
      const { log } = opened;
      const topic = await newTopic(log);
      const group = newName();
      const written: string[] = [];
      await cutting(api, async (nth) => {
        await using writer = await log.openWriter(group);
        const moved = { group, positions: [position(topic, 0, nth)] };
        await writer.commit([placed(topic, 0, message(String(nth)))], moved);
        written.push(String(nth));
        await expect.poll(() => log.committed(group, topic)).toEqual(new Map([[0, nth]]));
      });
      // The last transaction may still be on its way to readers.
      await expect.poll(() => keysOf(log, topic)).toEqual(written);
    });
  }

  it('leaves what is asked of it answered right', async () => {
    await using opened = await open();
    const { log } = opened;
    const topic = await newTopic(log);
    await log.append([placed(topic, 0, message('a'), message('b'), message('c'))]);
    const group = newName();
    const identity = await log.identity();
    await cutting('Metadata', async () => expect(await log.identity()).toBe(identity));
    await cutting('ListOffsets', async () => expect(await log.endOffset(topic, 0)).toBe(3));
    await cutting('OffsetCommit', (nth) =>
      log.commit({ group, positions: [position(topic, 0, nth)] }),
    );
    const committed = await log.committed(group, topic);
    await cutting('OffsetFetch', async () =>
      expect(await log.committed(group, topic)).toEqual(committed),
    );
    await cutting('DeleteRecords', async () => {
      await log.deleteBefore(position(topic, 0, 2));
      expect(await keysOf(log, topic)).toEqual(['c']);
    });
    for (const api of ['CreateTopics', 'DescribeConfigs'] as const) {
      await cutting(api, async () => expect(await log.partitions(await newTopic(log, 3))).toBe(3));
    }
  });

  it('leaves a member its work', async () => {
    await using opened = await open();
    const { log } = opened;
    const topic = await newTopic(log, 3);
    for (const api of ['JoinGroup', 'SyncGroup', 'LeaveGroup'] as const) {
      await cutting(api, async () => {
        const member = new HoldingMember();
        await using _ = await log.join(newName(), [topic], member);
        expect([...member.held]).toEqual([0, 1, 2]);
      });
    }
    const member = new HoldingMember();
    await using _ = await log.join(newName(), [topic], member);
    await cutting('Heartbeat', () => proxy.nextAnswer('Heartbeat').then(() => undefined));
    expect(member.calls).toEqual(['+0,1,2']);
  });
});

describe('an answer that is none of the protocol', () => {
  const length = Buffer.alloc(4);
  for (const [what, make] of [
    ['of another protocol', () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['of no length', () => Buffer.alloc(4)],
    ['of a negative length', () => Buffer.alloc(4, 0xff)],
    [
      'to no request',
      (answer: Buffer) => Buffer.concat([answer.subarray(0, 4), Buffer.alloc(answer.length - 4)]),
    ],
    [
      'that ends too early',
      (answer: Buffer) => {
        length.writeInt32BE(7);
        return Buffer.concat([length, answer.subarray(4, 11)]);
      },
    ],
  ] as const) {
    it(`fails its connection and nothing else: ${what}`, async () => {
      await using opened = await open();
      const { log } = opened;
      const topic = await newTopic(log);
      for (const api of ['Metadata', 'ListOffsets', 'Fetch', 'Produce', 'OffsetFetch'] as const) {
        const replaced = proxy.replace(api, make);
        await log.append([placed(topic, 0, message(api))]);
        const all = [log.identity(), log.endOffset(topic, 0), log.committed('none', topic)];
        await Promise.all([...all, keysOf(log, topic)]);
        await replaced;
      }
      expect(await log.endOffset(topic, 0)).toBe(5);
      expect(await keysOf(log, topic)).toHaveLength(5);
    });
  }
});
