/* oxlint-disable typescript/no-unsafe-assignment -- a test looks into any answer */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import {
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const seed = seedOfRun();
console.log(`subscriptions test: SVC_TEST_SEED=${seed}`);

interface Change {
  readonly id: string;
  readonly record_id: string;
  readonly seq: number;
}

interface ChangesPage {
  readonly changes: readonly Change[];
  readonly cursor: string;
  readonly has_more: boolean;
}

const path = '/subscriptions/slow';

/** A consumer of small pages that takes its time, and goes on when the gateway is there again. */
class SlowConsumer {
  readonly read: Change[] = [];
  readonly repeatedAfterCommit: Change[] = [];
  readonly #world: () => CrmWorld;
  readonly #committed = new Set<string>();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** Whether the last page was empty, and the log had no more. */
  isAtEnd = false;

  constructor(world: () => CrmWorld) {
    this.#world = world;
    this.#running = this.#run();
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      // The gateway is killed and started under its hands.
      await this.#turn().catch(() => wait(50));
    }
  }

  async #turn(): Promise<void> {
    const { gateway } = this.#world();
    const asked = await gateway.call('GET', `${path}/changes?limit=15&wait_s=1`);
    const page: ChangesPage = succeeded(asked);
    this.read.push(...page.changes);
    this.repeatedAfterCommit.push(...page.changes.filter(({ id }) => this.#committed.has(id)));
    await wait(20);
    succeeded(await gateway.call('POST', `${path}/commit`, { body: { cursor: page.cursor } }));
    for (const { id } of page.changes) this.#committed.add(id);
    this.isAtEnd = page.changes.length === 0 && !page.has_more;
  }
}

let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openCrmWorld();
  crm = await world.connect();
});
afterAll(() => world[Symbol.asyncDispose]());

describe('a slow consumer of a gateway that is killed', () => {
  it('misses no change, gets those of a record in order, and none again after its commit', async () => {
    const random = seeded(seed);
    succeeded(await world.gateway.call('PUT', path, { body: {} }));
    const consumer = new SlowConsumer(() => world);
    for (let round = 0; round < 3; round += 1) {
      crm.account.contacts = Array.from({ length: 120 }, (_, n) => ({
        id: `c-${n}`,
        name: `${round}`,
      }));
      await crm.trigger('contacts');
      await wait(random.int(400));
      world.gateway.process.kill('SIGKILL');
      await world.restart();
      expect(await crm.run('contacts')).toMatchObject({ success: true });
    }
    consumer.isAtEnd = false;
    await expect.poll(() => consumer.isAtEnd, { timeout: 60_000 }).toBe(true);
    await consumer.end();

    const truth: Change[] = [];
    let query = '';
    for (;;) {
      const page: ChangesPage = succeeded(
        await world.gateway.call('GET', `/changes?limit=100${query}`),
      );
      truth.push(...page.changes);
      if (!page.has_more) break;
      query = `&cursor=${page.cursor}`;
    }
    expect(truth.length).toBeGreaterThanOrEqual(360);
    expect(new Set(consumer.read.map(({ id }) => id))).toEqual(new Set(truth.map(({ id }) => id)));
    expect(consumer.repeatedAfterCommit).toEqual([]);
    const once = [...new Map(consumer.read.map((one) => [one.id, one])).values()];
    for (const [recordId, changes] of Map.groupBy(once, (one) => one.record_id)) {
      const seqs = changes.map(({ seq }) => seq);
      expect(seqs, recordId).toEqual(seqs.toSorted((a, b) => a - b));
    }
  });
});
