/* oxlint-disable typescript/no-unsafe-assignment -- a test looks into any answer */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { isOnServices } from '#test/support/processes/deployment.ts';
import type { GatewayAccess, RunningGateway } from '#test/support/processes/gateway.ts';
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

/** A consumer of small pages that takes its time, asks one gateway after the other, and goes on when it is there again. */
class SlowConsumer {
  readonly read: Change[] = [];
  readonly repeatedAfterCommit: Change[] = [];
  readonly #nodes: () => readonly GatewayAccess[];
  readonly #committed = new Set<string>();
  readonly #stop = new AbortController();
  #turns = 0;
  readonly #running: Promise<void>;
  /** Whether the last page was empty, and the log had no more. */
  isAtEnd = false;

  constructor(nodes: () => readonly GatewayAccess[]) {
    this.#nodes = nodes;
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
    this.#turns += 1;
    const nodes = this.#nodes();
    const gateway = nodes[this.#turns % nodes.length]!;
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
/** With services two gateways work on the log. */
let another: RunningGateway | undefined;
beforeAll(async () => {
  world = await openCrmWorld();
  if (isOnServices()) another = await world.startAnother();
  crm = await world.connect();
});
afterAll(async () => {
  await another?.stop();
  await world[Symbol.asyncDispose]();
});

const nodes = (): readonly GatewayAccess[] => [
  world.gateway,
  ...(another === undefined ? [] : [another]),
];

/** A kill of the first gateway in even rounds, and of the other, where there is one, in odd ones. */
async function killOne(round: number): Promise<void> {
  if (another !== undefined && round % 2 === 1) {
    another.process.kill('SIGKILL');
    await another.stop();
    another = await world.startAnother();
    return;
  }
  world.gateway.process.kill('SIGKILL');
  await world.restart();
}

/** The run of a killed gateway would be tried again a minute later. */
async function cancelLostRun(): Promise<void> {
  const { data } = succeeded(await world.gateway.call('GET', '/runs?limit=1')) as {
    data: { id: string; status: string }[];
  };
  for (const { id } of data.filter(({ status }) => status === 'running'))
    succeeded(await world.gateway.call('POST', `/runs/${id}/cancel`));
}

describe('a slow consumer of a gateway that is killed', () => {
  it('misses no change, gets those of a record in order, and none again after its commit', async () => {
    const random = seeded(seed);
    succeeded(await world.gateway.call('PUT', path, { body: {} }));
    const consumer = new SlowConsumer(nodes);
    for (let round = 0; round < 4; round += 1) {
      crm.account.contacts = Array.from({ length: 120 }, (_, n) => ({
        id: `c-${n}`,
        name: `${round}`,
      }));
      await crm.trigger('contacts');
      await wait(random.int(400));
      await killOne(round);
      await cancelLostRun();
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
