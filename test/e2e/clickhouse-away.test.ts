import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startClickHouseFront,
  type ClickHouseFront,
} from '#test/support/fakes/clickhouse-front.ts';
import {
  apply,
  operation,
  sameRecords,
  type Kept,
  type Records,
} from '#test/support/judges/crash-model.ts';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { seeded, seedOfRun, type Random } from '#test/support/judges/random.ts';
import {
  connectionUid,
  originOf,
  pagesOf,
  readable,
  recordsIn,
  startNode,
  streamOf,
} from '#test/support/processes/node-child.ts';
import type { WholeNode } from '#test/support/processes/whole-node.ts';

const seed = seedOfRun();
console.log(`ClickHouse away: SVC_TEST_SEED=${seed}`);

const kills = roundsOf({ push: 2, all: 3 });
const stream = streamOf('Alpha');
const origin = originOf('write-Alpha', 1);

/** One model's records, saved through the node and kept beside it. */
class Saver {
  readonly #node: WholeNode;
  readonly #random: Random;
  expected: Records = new Map<string, Kept>();

  constructor(node: WholeNode, random: Random) {
    this.#node = node;
    this.#random = random;
  }

  /** Resolves when the save is acknowledged. */
  async save(): Promise<void> {
    const made = operation(this.#random);
    await this.#node.services.records.writer[made.kind](stream, origin, made.records);
    this.expected = apply(this.expected, made);
  }

  /** Waits until all of it can be read, and compares all pages with what was saved. */
  async judge(): Promise<void> {
    const { failures } = await readable(this.#node, stream, origin);
    expect(failures).toEqual([]);
    const found = (await pagesOf(this.#node, stream, { limit: 37 })).flatMap(recordsIn);
    const held = new Map(
      found.map(({ _svc_metadata: { deleted_at: deletedAt }, ...payload }) => [
        payload.id,
        { payload, isDeleted: deletedAt !== null } as Kept,
      ]),
    );
    expect(held.size).toBe(found.length);
    if (!sameRecords(held, this.expected)) {
      expect(Object.fromEntries(held)).toEqual(Object.fromEntries(this.expected));
    }
  }
}

const readCode = (node: WholeNode): Promise<string> =>
  pagesOf(node, stream, { limit: 37 }).then(
    () => 'read',
    (error: unknown) => (error as { code: string }).code,
  );

/** Until a page is refused: what was saved meanwhile cannot be in it. */
async function untilRefused(node: WholeNode): Promise<void> {
  while ((await readCode(node)) === 'read') await sleep(20);
  expect(await readCode(node)).toBe('projection_unavailable');
}

describe('ClickHouse as a server', () => {
  let folder: string;
  let front: ClickHouseFront;
  let node: WholeNode;
  let saver: Saver;
  const random = seeded(seed);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-away-'));
    front = await startClickHouseFront();
    node = await startNode(folder, { SVC_CLICKHOUSE_URL: front.url, SVC_LOG_LEVEL: 'silent' });
    await node.services.vault.create(connectionUid);
    saver = new Saver(node, random);
  });
  afterAll(async () => {
    await node[Symbol.asyncDispose]();
    await front[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('shows what was saved', async () => {
    for (let n = 0; n < 20; n++) await saver.save();
    await saver.judge();
  });

  it('that was killed during inserts and reads loses and doubles nothing', async () => {
    for (let round = 0; round < kills; round++) {
      const stop = new AbortController();
      const saving = (async () => {
        while (!stop.signal.aborted) await saver.save();
      })();
      const reading = (async () => {
        const codes = new Set<string>();
        while (!stop.signal.aborted) codes.add(await readCode(node));
        return codes;
      })();
      await sleep(random.int(300));
      await front.kill();
      await sleep(random.int(1_000));
      await front.start();
      await sleep(random.int(300));
      stop.abort();
      await saving;
      const codes = await reading;
      expect([...codes].filter((code) => code !== 'read')).toEqual(['projection_unavailable']);
      await saver.judge();
    }
  });

  it('that is away leaves saves acknowledged, and refuses reads until they are shown', async () => {
    await saver.judge();
    await front.kill();
    await saver.save();
    await untilRefused(node);
    for (let n = 0; n < 10; n++) {
      await saver.save();
      expect(await readCode(node)).toBe('projection_unavailable');
    }
    await front.start();
    await saver.judge();
  });

  it('that stands still refuses reads, too', async () => {
    front.pause();
    await saver.save();
    await untilRefused(node);
    front.resume();
    await saver.judge();
  });

  it('that comes back later than the gateway starts is filled then', async () => {
    await node[Symbol.asyncDispose]();
    await front.kill();
    const env = { SVC_CLICKHOUSE_URL: front.url, SVC_LOG_LEVEL: 'silent' };
    node = await startNode(folder, env);
    const { expected } = saver;
    saver = new Saver(node, random);
    saver.expected = expected;
    await saver.save();
    expect(await readCode(node)).toBe('projection_unavailable');
    await front.start();
    await saver.judge();
  });
});
