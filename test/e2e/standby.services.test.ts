import '#test/support/processes/with-services.ts';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordsTopic } from '#modules/records/model/events.ts';
import { auditStreams } from '#test/support/judges/stream-audit.ts';
import { takeovers } from '#test/support/judges/takeovers.ts';
import { openLogOf } from '#test/support/processes/deployment.ts';
import type { RunningGateway } from '#test/support/processes/gateway.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const partitions = [0, 1, 2, 3];
const records = 20;
const contacts = (version: number) =>
  Array.from({ length: records }, (_, n) => ({ id: `c-${n}`, name: `version ${version}` }));

let snapshotDir: string;
let owning: Readonly<Record<string, string>>;
let world: CrmWorld;
/** Two processes that own the records; the first decides nothing itself. */
let owner: RunningGateway;
let standby: RunningGateway;
const connections: CrmConnection[] = [];

beforeAll(async () => {
  snapshotDir = await mkdtemp(join(tmpdir(), 'svc-standby-'));
  owning = { SVC_ROLES: 'owner', SVC_LOG_LEVEL: 'info', SVC_SNAPSHOT_DIR: snapshotDir };
  world = await openCrmWorld({
    env: { SVC_ROLES: 'api,projector,runner,webhooks' },
    beside: [owning, { ...owning, SVC_STANDBY: 'yes' }],
  });
  [owner, standby] = world.beside as [RunningGateway, RunningGateway];
  for (let made = 0; made < 8; made += 1) connections.push(await world.connect());
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(snapshotDir, { recursive: true, force: true });
});

/** Every connection gets another version of its records. While partitions move, a run may have to be tried again. */
async function save(version: number): Promise<void> {
  const saves = connections.map(async (crm) => {
    crm.account.contacts = contacts(version);
    for (let isSaved = false; !isSaved;) {
      const runs = crm.webhooks('contacts').length;
      const trigger = () => crm.trigger('contacts');
      succeeded(await eventually(trigger, ({ status }) => status !== 503));
      isSaved = (await crm.webhook('contacts', runs + 1)).success;
    }
  });
  await Promise.all(saves);
}

/** The end of each partition of the records. */
async function ends(): Promise<number[]> {
  await using opened = await openLogOf(world.gateway.dataDir);
  return await Promise.all(
    partitions.map((partition) => opened.log.endOffset(recordsTopic, partition)),
  );
}

/** How far the store of a partition is that a node keeps. */
function reached({ dataDir }: RunningGateway, partition: number): number {
  const file = join(dataDir, 'state', 'records', `records-${partition}.db`);
  if (!existsSync(file)) return 0;
  using db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  const hasRow = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'progress'").get();
  if (hasRow === undefined) return 0;
  return Number(db.prepare('SELECT changes FROM progress').get()?.['changes'] ?? 0);
}

/** The partitions that `node` was the last of both to take over. */
function heldBy(node: RunningGateway): number[] {
  const all = [owner, standby].flatMap((by) => takeovers(by).map((taken) => ({ by, ...taken })));
  return partitions.filter((partition) => {
    const ofIt = all.filter((taken) => taken.partition === partition);
    return ofIt.sort((x, y) => x.epoch - y.epoch).at(-1)?.by === node;
  });
}

describe('a process that stands by', () => {
  it('takes over the partitions of one that was killed, with nothing to read', async () => {
    await save(1);
    await save(2);
    const held = heldBy(owner);
    expect(held.length).toBeGreaterThan(0);
    const at = await ends();
    const isThere = () => held.every((partition) => reached(standby, partition) >= at[partition]!);
    await eventually(() => Promise.resolve(isThere()), Boolean);
    const before = takeovers(standby).length;
    owner.process.kill('SIGKILL');
    await save(3);
    const taken = await eventually(
      () => Promise.resolve(takeovers(standby).slice(before)),
      ({ length }) => length === held.length,
    );
    expect(taken.map(({ partition }) => partition).sort()).toEqual(held);
    for (const one of taken) expect(one).toMatchObject({ from: 'own store', read: 0 });
  });

  it('hands over to a process without stores, which begins with the snapshots', async () => {
    const touched = (await ends()).filter((end) => end > 0).length;
    const isCopied = (names: string[]) =>
      names.filter((name) => name.endsWith('.db')).length === touched;
    await eventually(() => readdir(snapshotDir, { recursive: true }), isCopied);
    const next = await world.startAnother(owning);
    await standby.stop();
    expect(await standby.exited).toBe(0);
    await save(4);
    const taken = await eventually(
      () => Promise.resolve(takeovers(next)),
      ({ length }) => length === partitions.length,
    );
    expect(taken.filter(({ from }) => from === 'snapshot')).toHaveLength(touched);
    await next.stop();
    expect(await next.exited).toBe(0);
  });

  it('has left each change once in the log', async () => {
    await world.gateway.stop();
    const streams = await auditStreams(world.gateway.dataDir);
    for (const { id } of connections) {
      const of = streams.find((one) => one.connectionId === id && one.model === 'Contact');
      const updated = Array<string>(3 * records).fill('updated');
      const expected = [...Array<string>(records).fill('added'), ...updated];
      expect(of?.changes.map(({ action }) => action)).toEqual(expected);
    }
  });
});
