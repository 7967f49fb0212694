/* oxlint-disable typescript/no-unsafe-assignment -- expect.arrayContaining() is anything */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErasureReceipt } from '#modules/connections/connections/events.ts';
import { Canaries } from '#test/support/judges/canaries.ts';
import { everythingKept } from '#test/support/judges/canary-places.ts';
import { filesWith, rowKeysOf } from '#test/support/judges/stored-bytes.ts';
import { daysLater } from '#test/support/processes/days-later.ts';
import { openLogOf } from '#test/support/processes/deployment.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { cleanLogOf } from '#test/support/worlds/embedded-log.ts';

const credentialsTopic = 'svc.credentials.v1';
const canaries = new Canaries();
let world: CrmWorld;
beforeAll(async () => {
  world = await openCrmWorld({ env: { SVC_PARTITIONS: '1', SVC_LOG_LEVEL: 'info' } });
});
afterAll(() => world[Symbol.asyncDispose]());

/** A connection with a secret and a record of its own, saved as the environment's payloads travel. */
async function filled(name: string, mode: 'plain' | 'sealed'): Promise<CrmConnection> {
  const path = `/environments/${world.environmentId}`;
  const key = world.gateway.accountKey;
  succeeded(await world.gateway.call('PATCH', path, { key, body: { payload_mode: mode } }));
  const crm = await world.connect({ metadata: { secret: canaries.plant(`secret of ${name}`) } });
  crm.account.deals = [{ id: 1, amount: 1, title: canaries.plant(`record of ${name}`) }];
  await crm.run('deals');
  return crm;
}

/** `what in where`, of all that was planted, once the gateway has stopped. */
async function found(): Promise<string[]> {
  const places = new Set<string>();
  for await (const { place, bytes } of everythingKept(world.gateway.dataDir)) {
    // Parts that were merged away are files for some minutes yet, which nobody reads; rows are searched as rows.
    if (place.startsWith('file clickhouse')) continue;
    for (const { canary } of canaries.search(place, bytes)) {
      const [kind = '', name = ''] = place.split(' ');
      const [where = ''] = name.split('/');
      places.add(`${canary} in ${kind} ${kind === 'table' ? '' : where}`.trim());
    }
  }
  return [...places].sort();
}

async function receipts(): Promise<ErasureReceipt[]> {
  await using opened = await openLogOf(world.gateway.dataDir);
  const codec = await opened.schemas.codec<{ readonly erasure: string | null }>(credentialsTopic);
  const told: ErasureReceipt[] = [];
  const from = { topic: credentialsTopic, partition: 0, offset: 0 };
  for await (const { messages } of opened.log.read(from)) {
    for (const { value } of messages) {
      const { erasure } = value === null ? { erasure: null } : codec.decode(value);
      if (erasure !== null) told.push(JSON.parse(erasure) as ErasureReceipt);
    }
  }
  return told;
}

describe('connections that are deleted', () => {
  it('are gone from all that is read, and from the log with compaction; a receipt says so', async () => {
    const plain = await filled('plain', 'plain');
    const sealed = await filled('sealed', 'sealed');
    await filled('kept', 'plain');
    const log = join(world.gateway.dataDir, 'log');
    const before = rowKeysOf(log);
    const removed = [plain, sealed].map(({ id }) =>
      world.gateway.call('DELETE', `/connections/${id}?provider_config_key=crm`),
    );
    for (const answer of await Promise.all(removed)) succeeded(answer);
    const after = rowKeysOf(log);
    const destroyed = [...before].filter(([owner, key]) => after.get(owner)?.equals(key) !== true);
    expect(destroyed).toHaveLength(2);
    for (const [, key] of destroyed) {
      expect(await filesWith(log, key)).toEqual([]);
    }
    await eventually(
      () => Promise.resolve(world.gateway.log),
      (lines) => lines.some((line) => line.includes('removed superseded rows')),
    );
    const kept = ['svc.internal.record-commands.v1', 'svc.records.v1'];
    const atOnce: string[][] = [];
    const told: ErasureReceipt[] = [];
    await world.restart(async () => {
      atOnce.push(await found());
      told.push(...(await receipts()));
    }, daysLater(31));
    const [left = []] = atOnce;
    expect(left.filter((place) => !place.startsWith('record of kept'))).toEqual([
      'record of plain in file log',
      ...kept.map((topic) => `record of plain in topic ${topic}`),
    ]);
    expect(left).toContain('record of kept in table');
    const [first, second] = told.sort((a, b) => b.records[0]!.plain - a.records[0]!.plain);
    expect(told).toHaveLength(2);
    expect(first).toMatchObject({
      unreadable_at_once: ['credentials', 'metadata', 'connection_config', 'sealed payloads'],
      gone_later: expect.arrayContaining(
        kept.map((topic): unknown => expect.objectContaining({ topic })),
      ),
      records: expect.arrayContaining([
        { model: 'Deal', variant: 'base', plain: 1, sealed: 0, pruned: 0 },
      ]),
    });
    expect(second?.records).toContainEqual({
      model: 'Deal',
      variant: 'base',
      plain: 0,
      sealed: 1,
      pruned: 0,
    });

    await world.gateway.stop();
    await cleanLogOf(world.gateway.dataDir, 31);
    const afterCompaction = await found();
    expect(afterCompaction.filter((place) => !place.startsWith('record of kept'))).toEqual([]);
    expect(afterCompaction).toContain('record of kept in topic svc.records.v1');
  });
});
