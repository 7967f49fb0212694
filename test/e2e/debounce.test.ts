/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { daysLater } from '#test/support/processes/days-later.ts';
import { isOnServices } from '#test/support/processes/deployment.ts';
import { eventually, succeeded } from '#test/support/worlds/crm-world.ts';
import {
  integration,
  openHearingWorld,
  type HearingWorld,
} from '#test/support/worlds/hearing-world.ts';

let hearing: HearingWorld;
beforeAll(async () => {
  hearing = await openHearingWorld();
  hearing.upstream.delayMs = 5;
});
afterAll(() => hearing[Symbol.asyncDispose]());

const read = async (path: string) => succeeded(await hearing.world.gateway.call('GET', path));
const debounce = (seconds: number, maxWait: number, payload: 'all' | 'last') =>
  hearing.set('sync', 'debounce', {
    debounce: { seconds, max_wait_seconds: maxWait, payload },
  });
const bodies = (id: string) => hearing.upstream.at(`/heard/${id}`).bodies;
const numbers = (id: string): number[] =>
  (bodies(id).flat() as { readonly n: number }[]).map(({ n }) => n);

interface Run {
  readonly id: string;
  readonly status: string;
}
const runsOf = async (id: string): Promise<readonly Run[]> =>
  (await read(`/runs?kind=webhook&connection_id=${id}&limit=500`)).data as Run[];
/** The runs of a connection, once the table has the end of each that the provider has heard of. */
const endedRunsOf = (id: string): Promise<readonly Run[]> =>
  eventually(
    () => runsOf(id),
    (runs) =>
      runs.length >= bodies(id).length &&
      runs.every(({ status }) => status !== 'queued' && status !== 'running'),
  );

async function burst(id: string, from: number, count: number): Promise<void> {
  const senders = Array.from({ length: 20 }, async (_, sender) => {
    for (let n = from + sender; n < from + count; n += 20) {
      const { nodes } = hearing;
      const { status } = await hearing.send(id, n, nodes[sender % nodes.length]);
      expect(status).toBe(200);
    }
  });
  await Promise.all(senders);
}

describe('a burst of webhooks of one connection', () => {
  const count = 1_000;

  it('runs the function a few times, and none is missed', async () => {
    await hearing.connect('burst');
    await debounce(1, 10, 'all');
    await burst('burst', 0, count);
    await eventually(
      () => Promise.resolve(new Set(numbers('burst')).size),
      (size) => size === count,
    );
    const runs = await endedRunsOf('burst');
    console.info(`debounce: ${count} webhooks in ${runs.length} runs`);
    expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['succeeded']));
    expect(runs.length).toBeLessThan(count / 20);
    expect(numbers('burst')).toHaveLength(count);
    const { data } = await read('/webhook-deliveries?limit=1000');
    const ids = new Set(runs.map(({ id }) => id));
    const known = (data as { readonly run_ids: readonly string[] }[]).flatMap((one) => one.run_ids);
    expect(known).toHaveLength(count);
    expect(known.every((id) => ids.has(id))).toBe(true);
  });

  it('ends with a run on the newest one', async () => {
    await hearing.connect('newest');
    await debounce(0.5, 10, 'last');
    await burst('newest', 0, 100);
    await hearing.send('newest', 100);
    await eventually(
      () => Promise.resolve(numbers('newest').at(-1)),
      (last) => last === 100,
    );
    const runs = await endedRunsOf('newest');
    expect(bodies('newest')).toHaveLength(runs.length);
    expect(runs.length).toBeLessThan(20);
    const run = await read(`/runs/${runs[0]?.id}`);
    expect(run.data.timeline).toContainEqual(expect.objectContaining({ what: 'joined' }));
  });

  it('shows what waits, and survives the death of the process', async () => {
    await hearing.connect('killed');
    await debounce(60, 60, 'all');
    await burst('killed', 0, 40);
    const queue = () => read(`/integrations/${integration}/functions/hears/queue?type=sync`);
    const { data } = await queue();
    expect(data.joining).toMatchObject([{ connection_id: 'killed', webhooks: 40 }]);
    const { gateway } = hearing.world;
    gateway.process.kill('SIGKILL');
    await gateway.exited;
    await hearing.world.restart(undefined, isOnServices() ? {} : daysLater(2 / (24 * 60)));
    await eventually(
      () => Promise.resolve(numbers('killed').toSorted((a, b) => a - b)),
      (heard) => heard.length === 40,
    );
    expect(new Set(numbers('killed')).size).toBe(40);
    expect((await queue()).data.joining).toEqual([]);
    expect(await endedRunsOf('killed')).toHaveLength(1);
  });

  it('is no longer joined when that is turned off', async () => {
    await hearing.connect('single');
    await hearing.set('sync', 'debounce', { debounce: null });
    await burst('single', 0, 20);
    await eventually(
      () => Promise.resolve(numbers('single').length),
      (length) => length === 20,
    );
    expect(bodies('single').every((body) => !Array.isArray(body))).toBe(true);
  });

  it('is not joined by a debounce that makes no sense', async () => {
    const path = `/integrations/${integration}/functions/hears/debounce`;
    for (const wrong of [{ seconds: 0 }, { seconds: 4_000 }, { payload: 'some' }]) {
      const body = { debounce: { seconds: 1, max_wait_seconds: 2, payload: 'all', ...wrong } };
      const refused = await hearing.world.gateway.call('PUT', path, { body });
      expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_body' } } });
    }
    const unknown = path.replace('hears', 'nothing');
    const refused = await hearing.world.gateway.call('PUT', unknown, { body: { debounce: null } });
    expect(refused).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });
});
