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
});
afterAll(() => hearing[Symbol.asyncDispose]());

const read = async (path: string) => succeeded(await hearing.world.gateway.call('GET', path));
const queueOf = async (type: string, name: string) =>
  (await read(`/integrations/${integration}/functions/${name}/queue?type=${type}`)).data as {
    readonly concurrency: number | null;
    readonly waiting: number;
    readonly connections: readonly {
      readonly connection_id: string;
      readonly running: readonly string[];
      readonly waiting: number;
      readonly next: readonly string[];
    }[];
  };
/** Numbers that came at the path, in order. */
const heard = (path: string): number[] =>
  hearing.upstream.at(path).bodies.map((body) => (body as { n: number }).n);

interface Run {
  readonly id: string;
  readonly status: string;
  readonly waiting: { readonly concurrency: number; readonly position: number } | null;
}
const runsOf = async (name: string, more = ''): Promise<readonly Run[]> =>
  (await read(`/runs?function=${name}&limit=500${more}`)).data as Run[];

describe('the concurrency of a function', () => {
  it('lets further runs wait in their order, and shows them', async () => {
    const { upstream, world } = hearing;
    const headers = { 'provider-config-key': integration, 'connection-id': 'calls' };
    await hearing.connect('calls');
    await hearing.set('action', 'concurrency', { concurrency: 2 });
    const release = upstream.hold();
    const calls = Array.from({ length: 8 }, (_, n) =>
      world.gateway.call('POST', '/action/trigger', {
        headers,
        body: { action_name: 'report', input: { n } },
      }),
    );
    const queue = await eventually(
      () => queueOf('action', 'report'),
      ({ waiting }) => waiting === 6,
    );
    expect(queue.concurrency).toBe(2);
    expect(queue.connections).toMatchObject([{ connection_id: 'calls' }]);
    expect(queue.connections[0]?.running).toHaveLength(2);
    const { next = [] } = queue.connections[0] ?? {};
    const waiting = await eventually(
      () => runsOf('report', '&status=queued'),
      (all) => all.filter(({ waiting: wait }) => wait !== null).length === 6,
    );
    for (const { id, waiting: wait } of waiting) {
      expect(next).toContain(id);
      expect(wait).toMatchObject({ concurrency: 2 });
    }
    const metrics = await world.gateway.call('GET', '/metrics', { key: world.gateway.accountKey });
    expect(metrics.body).toMatch(/^svc_runs_held [1-9]/m);
    release();
    for (const answer of await Promise.all(calls)) succeeded(answer);
    expect(upstream.at('/reported/calls').most).toBe(2);
    expect(heard('/reported/calls').toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await queueOf('action', 'report')).toMatchObject({ waiting: 0, connections: [] });
    const { data: run } = await read(`/runs/${next[0]}`);
    const steps = (run.timeline as { what: string }[]).map(({ what }) => what);
    expect(
      steps.filter((what) => ['queued', 'waiting', 'admitted', 'started'].includes(what)),
    ).toEqual(['queued', 'waiting', 'admitted', 'started']);
  });

  it('ends a run that waits when it is canceled, and a caller is answered in time', async () => {
    const { upstream, world } = hearing;
    const headers = { 'provider-config-key': integration, 'connection-id': 'calls' };
    await hearing.set('action', 'concurrency', { concurrency: 1 });
    const release = upstream.hold();
    const call = (n: number) =>
      world.gateway.call('POST', '/action/trigger', {
        headers,
        body: { action_name: 'report', input: { n } },
      });
    const first = call(10);
    await eventually(
      () => Promise.resolve(upstream.at('/reported/calls').now),
      (now) => now === 1,
    );
    const second = call(11);
    const { connections } = await eventually(
      () => queueOf('action', 'report'),
      ({ waiting }) => waiting === 1,
    );
    succeeded(await world.gateway.call('POST', `/runs/${connections[0]?.next[0]}/cancel`));
    expect((await second).body.error.code).toBe('script_aborted');
    release();
    succeeded(await first);
    expect(await queueOf('action', 'report')).toMatchObject({ waiting: 0, connections: [] });
    await hearing.set('action', 'concurrency', { concurrency: null });
  });

  it.each([0, 101, 1.5, '2'])('is refused as %j', async (concurrency) => {
    const path = `/integrations/${integration}/functions/report/concurrency?type=action`;
    const refused = await hearing.world.gateway.call('PUT', path, { body: { concurrency } });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_body' } } });
  });

  it('of an unknown function is refused', async () => {
    const { gateway } = hearing.world;
    const path = `/integrations/${integration}/functions/nothing`;
    const body = { concurrency: 1 };
    const refused = await gateway.call('PUT', `${path}/concurrency?type=action`, { body });
    expect(refused).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    const unread = await gateway.call('GET', `${path}/queue?type=action`);
    expect(unread).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });
});

describe('a concurrency of 1', () => {
  const connections = ['c-0', 'c-1', 'c-2', 'c-3', 'c-4', 'c-5'];
  const each = 8;

  it('is never exceeded, although a process is killed', async () => {
    const { upstream, world } = hearing;
    upstream.delayMs = 300;
    for (const id of connections) await hearing.connect(id);
    await hearing.set('sync', 'concurrency', { concurrency: 1 });
    const { nodes } = hearing;
    for (let n = 0; n < each; n += 1) {
      const sent = connections.map((id, at) => hearing.send(id, n, nodes[(n + at) % nodes.length]));
      for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
    }
    await eventually(
      () => Promise.resolve(connections.map((id) => heard(`/heard/${id}`).length)),
      (counts) => counts.every((count) => count >= 2),
    );
    const killed = nodes.at(-1)!;
    killed.process.kill('SIGKILL');
    await killed.exited;
    if (!isOnServices()) await world.restart(undefined, daysLater(2 / (24 * 60)));

    const ended = await eventually(
      () => runsOf('hears', '&kind=webhook'),
      (all) =>
        all.length === connections.length * each &&
        all.every(({ status }) => status !== 'queued' && status !== 'running'),
    );
    const interrupted = ended.filter(({ status }) => status === 'interrupted').length;
    const others = ended.filter(({ status }) => status !== 'interrupted');
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set(['succeeded']));
    const broken = connections.map((id) => upstream.at(`/heard/${id}`).broken);
    console.info(
      `concurrency: ${nodes.length} nodes, ${ended.length} runs, ${interrupted} interrupted, ${broken.reduce((sum, one) => sum + one, 0)} requests broken`,
    );
    for (const id of connections) {
      const { most } = upstream.at(`/heard/${id}`);
      expect(most).toBe(1);
    }
    const all = Array.from({ length: each }, (_, n) => n);
    const missed = connections.flatMap((id) => {
      const came = new Set(heard(`/heard/${id}`));
      return all.filter((n) => !came.has(n));
    });
    // A run that a crash interrupts before its request is not repeated: it may have begun.
    expect(missed.length).toBeLessThanOrEqual(interrupted);
    expect(await queueOf('sync', 'hears')).toMatchObject({ waiting: 0, connections: [] });
  });
});
