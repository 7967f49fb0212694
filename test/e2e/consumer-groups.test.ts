/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-call --
   a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consumerGroups, type ConsumerGroupName } from '#streams/consumer-groups.ts';
import type { Answer } from '#test/support/processes/gateway.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openCrmWorld();
  crm = await world.connect();
  crm.account.contacts = [{ id: '1', name: 'Ada' }];
});
afterAll(() => world[Symbol.asyncDispose]());

interface Position {
  readonly committed: number | null;
  readonly end: number;
  readonly reset: unknown;
}
interface Group {
  readonly lag: number;
  readonly partitions: readonly Position[];
}
interface Move {
  readonly from: number;
  readonly to: number;
}

const call = (method: string, path: string, body?: object): Promise<Answer> =>
  world.gateway.call(method, path, {
    key: world.gateway.accountKey,
    ...(body === undefined ? {} : { body }),
  });
const group = async (name: ConsumerGroupName): Promise<Group> =>
  succeeded(await call('GET', `/consumer-groups/${name}`)).data;
const reset = (name: string, body: object) => call('POST', `/consumer-groups/${name}/reset`, body);
/** Resolves with the group once it has taken everything. */
const caughtUp = (name: ConsumerGroupName) =>
  eventually(
    () => group(name),
    ({ lag }) => lag === 0,
  );
const sumOfEnds = ({ partitions }: Group) => partitions.reduce((sum, { end }) => sum + end, 0);
const committedOf = ({ partitions }: Group) =>
  partitions.reduce((sum, { committed }) => sum + (committed ?? 0), 0);
const resetsOf = ({ partitions }: Group) => partitions.map(({ reset }) => reset);
/** What the application heard of ended runs, and how often functions asked the provider. */
const endedRuns = () => crm.webhooks('contacts').length;
const providerCalls = () => crm.account.asked.length;

describe('consumer groups', () => {
  it('are listed with topic, position, end and lag', async () => {
    await crm.run('contacts');
    const runners = await caughtUp('svc.runners');
    expect(runners).toMatchObject({ topic: 'svc.runs.v1', resettable: true, lag: 0 });
    const ends = runners.partitions.map(({ end }) => end);
    expect(ends.reduce((sum, end) => sum + end, 0)).toBeGreaterThan(0);
    const { data } = succeeded(await call('GET', '/consumer-groups'));
    expect(data.map(({ name }: { name: string }) => name).sort()).toEqual(
      Object.keys(consumerGroups).sort(),
    );
  });

  it('belong to the account: a key of an environment may not see them', async () => {
    const answer = await world.gateway.call('GET', '/consumer-groups');
    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
  });

  it('that nobody knows are named with those that there are', async () => {
    const answer = await call('GET', '/consumer-groups/nobody');
    expect(answer.status).toBe(404);
    expect(answer.body.error.message).toContain('svc.runners');
  });
});

describe('a reset', () => {
  it('says first what it would do, and does nothing', async () => {
    const before = await caughtUp('svc.webhook-deliveries');
    const { data } = succeeded(
      await reset('svc.webhook-deliveries', { to: 'start', dry_run: true }),
    );
    const after = await group('svc.webhook-deliveries');
    expect(data).toMatchObject({ dry_run: true, skipped: 0 });
    // The outcome of a delivery comes after the webhook: the group may have moved on meanwhile.
    expect(data.replayed).toBeGreaterThanOrEqual(sumOfEnds(before));
    expect(data.replayed).toBeLessThanOrEqual(sumOfEnds(after));
    expect(committedOf(after)).toBeGreaterThanOrEqual(committedOf(before));
    expect(resetsOf(after)).toEqual(resetsOf(before));
  });

  it.each([
    'svc.runners',
    'svc.sync-webhooks',
    'svc.auth-webhooks',
    'svc.sync-instances',
    'svc.webhook-deliveries',
  ])('of %s to the start repeats no run and no webhook, while it goes on', async (name) => {
    const before = { hooks: world.receiver.received.length, calls: providerCalls() };
    const answer = await reset(name, { to: 'start' });
    expect(answer).toMatchObject({ status: 200, body: { data: { dry_run: false } } });
    for (const { state } of answer.body.data.partitions) expect(state).toBe('applied');
    await caughtUp('svc.runners');
    await caughtUp('svc.sync-webhooks');
    await caughtUp('svc.auth-webhooks');
    await caughtUp('svc.webhook-deliveries');
    expect({ hooks: world.receiver.received.length, calls: providerCalls() }).toEqual(before);
    await crm.run('contacts');
  });

  it('sends finished webhooks again when that is asked for', async () => {
    await caughtUp('svc.webhook-deliveries');
    const before = endedRuns();
    succeeded(await reset('svc.webhook-deliveries', { to: 'start', repeat: true }));
    await eventually(
      async () => endedRuns(),
      (now) => now === 2 * before,
    );
    await caughtUp('svc.webhook-deliveries');
    expect(endedRuns()).toBe(2 * before);
    await crm.run('contacts');
    expect(endedRuns()).toBe(2 * before + 1);
  });

  it('takes a time, and one partition', async () => {
    const before = await caughtUp('svc.runners');
    const partition = before.partitions.findIndex(({ end }) => end > 0);
    const to = { time: new Date(Date.now() + 60_000).toISOString() };
    const wanted = { to, partitions: [partition], dry_run: true };
    const { data } = succeeded(await reset('svc.runners', wanted));
    const after = await group('svc.runners');
    expect(data.partitions).toHaveLength(1);
    const [move] = data.partitions as [Move];
    expect(move).toMatchObject({ partition, replayed: 0, skipped: move.to - move.from });
    // The progress of a run comes after its webhook: the end may have moved on meanwhile.
    expect(move.from).toBeGreaterThanOrEqual(before.partitions[partition]!.end);
    expect(move.to).toBeGreaterThanOrEqual(move.from);
    expect(move.to).toBeLessThanOrEqual(after.partitions[partition]!.end);
  });

  it.each([
    ['svc.record-owners', { to: 'start' }, 409, 'consumer_not_resettable', 'only a hint'],
    ['svc.control-owners', { to: 'end' }, 409, 'consumer_not_resettable', 'only a hint'],
    ['svc.runners', { to: 'start', repeat: true }, 409, 'consumer_not_resettable', 'runs twice'],
    ['svc.runners', { to: { offset: 3 } }, 400, 'invalid_body', 'name it in partitions'],
    ['svc.runners', { to: 'end', partitions: [99] }, 400, 'invalid_body', '0 to 3'],
    ['svc.runners', { to: { offset: 1e9 }, partitions: [0] }, 400, 'invalid_body', 'offsets'],
    ['svc.runners', { to: 'middle' }, 400, 'invalid_body', ''],
    ['svc.runners', {}, 400, 'invalid_body', ''],
  ])('of %s with %j is refused', async (name, body, status, code, reason) => {
    const answer = await reset(name, body);
    expect(answer).toMatchObject({ status, body: { error: { code } } });
    expect(JSON.stringify(answer.body)).toContain(reason);
  });
});
