import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/stable-json.ts';
import {
  changesShown,
  expectEachOnce,
  messagesShown,
  tableOf,
  type TypedRead,
} from '#test/support/judges/typed-topic.ts';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { compiledFunctions } from '#test/support/worlds/deploy.ts';

const text = { type: 'string' };

let world: SharedCrmWorld;
/** Of the topic, without its major version. */
let address: string;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  address = `svc.cdc.${world.environmentName}.crm.contact`;
});
afterAll(() => world[Symbol.asyncDispose]());

const contact = (id: string, name = id) => ({ id, name });
const path = '/typed-topics/crm/Contact';
const call = (method: string, to: string, body?: unknown) =>
  world.gateway.call(method, to, body === undefined ? {} : { body });

async function save(crm: CrmConnection, ...contacts: object[]): Promise<void> {
  crm.account.contacts = contacts as typeof crm.account.contacts;
  expect(await crm.run('contacts')).toMatchObject({ success: true });
}

/** Reads until the last reported change is there: messages are written in order. */
async function readUntil(
  fits: (found: Pick<TypedRead, 'messages'>) => boolean,
  major = 1,
): Promise<TypedRead> {
  const found = await eventually(() => messagesShown(world.gateway, `${address}.v${major}`), fits);
  return { ...found, changes: await changesShown(world.gateway, 'Contact', found.messages) };
}

const opsOf = ({ messages }: Pick<TypedRead, 'messages'>, recordId: string): string[] =>
  messages
    .filter(({ key }) => key.endsWith(`/${recordId}`))
    .map(({ value }) => value?.op ?? 'tombstone');

describe('a model that is opted in', () => {
  let crm: CrmConnection;
  let doomed: CrmConnection;
  let first: TypedRead;

  beforeAll(async () => {
    crm = await world.connect();
    doomed = await world.connect();
    await save(crm, contact('old-1'), contact('old-2'), contact('old-3'));
    await save(crm, contact('old-1', 'changed'), contact('old-3'));
    await save(doomed, contact('d-1'));
    const enabled = succeeded(await call('PUT', path)) as object;
    expect(enabled).toEqual({
      data: {
        before: false,
        ts_ns: false,
        key: 'text',
        snapshot: null,
        heartbeat_s: null,
        provider_config_key: 'crm',
        model: 'Contact',
        topic: `${address}.v1`,
        subject: `${address}.v1-value`,
        enabled_at: expect.any(String) as string,
      },
    });
    await save(crm, contact('old-1', 'again'), contact('old-3'), contact('new-1'));
    await save(crm, contact('old-1', 'again'), contact('new-1', 'renamed'));
    const pruned = {
      model: 'Contact',
      until_cursor: (await crm.all('Contact'))[0]!._svc_metadata.cursor,
    };
    succeeded(
      await world.gateway.call('PATCH', '/records/prune', { headers: crm.headers, body: pruned }),
    );
    await save(crm, contact('old-1', 'again'), contact('new-1', 'renamed'), contact('last'));
    first = await readUntil((found) => opsOf(found, 'last').length > 0);
  });

  it('begins with existing records, goes on with each change, and publishes deletes twice', () => {
    const backfilled = opsOf(first, 'old-2').filter((op) => op !== 'tombstone');
    expect(backfilled).toEqual(['r', 'd']);
    expect(opsOf(first, 'old-1').at(-1)).toBe('u');
    expect(opsOf(first, 'old-3').slice(-2)).toEqual(['d', 'tombstone']);
    expect(opsOf(first, 'new-1')).toEqual(['c', 'u']);
    expect(opsOf(first, 'last')).toEqual(['c']);
    for (const [n, { key, value }] of first.messages.entries()) {
      if (value?.op !== 'd') continue;
      expect(first.messages[n + 1]).toMatchObject({ key, value: null });
    }
  });

  it('has each published change once, in the order and on the partition of the records', () => {
    expectEachOnce(first);
    expect(first.changes.some(({ action }) => action === 'pruned')).toBe(true);
  });

  it('is an envelope of Debezium, with the row in the types of the model', () => {
    const [event] = first.messages.filter(({ key, value }) => key.endsWith('/new-1') && value);
    const { value, headers } = event!;
    expect(value).toEqual({
      before: null,
      after: {
        id: 'new-1',
        name: 'new-1',
        email: null,
        _connection_id: crm.id,
        _variant: 'base',
        _deleted: false,
        _extra: {},
      },
      source: {
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string,
        connector: 'svc',
        name: address,
        ts_ms: expect.any(Number) as number,
        ts_us: expect.any(Number) as number,
        ts_ns: null,
        snapshot: 'false',
        connection_id: crm.id,
        sync: 'contacts',
        variant: 'base',
        seq: expect.any(Number) as number,
      },
      op: 'c',
      ts_ms: expect.any(Number) as number,
      ts_us: expect.any(Number) as number,
      ts_ns: null,
      transaction: null,
    });
    expect(headers).toEqual({
      ce_specversion: '1.0',
      ce_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      ce_type: 'svc.cdc.created',
      ce_source: expect.stringMatching(/^\/environments\/.*\/connections\//) as string,
      'content-type': 'application/avro',
      'svc-stream': expect.any(String) as string,
      'svc-seq': String(value!.source.seq),
    });
    const gone = first.messages.findLast(({ value: of }) => of?.op === 'd')!.value!;
    expect(gone).toMatchObject({ after: null, before: { _deleted: true } });
    expect(typeof gone.before!['name']).toBe('string');
  });

  it('gives a sink the table that the records API has', async () => {
    const rows = (await crm.all('Contact')).filter(
      ({ _svc_metadata: meta }) => meta.deleted_at === null,
    );
    const ofCrm = [...tableOf(first.messages).values()].filter(
      (row) => row!['_connection_id'] === crm.id,
    );
    expect(ofCrm.map((row) => row!['id']).sort()).toEqual(rows.map(({ id }) => id).sort());
    const names = new Map(ofCrm.map((row) => [row!['id'], row!['name']]));
    expect([...names].filter(([id]) => id === 'new-1' || id === 'old-1').sort()).toEqual([
      ['new-1', 'renamed'],
      ['old-1', 'again'],
    ]);
  });

  it('publishes no emptied cache, and publishes an erasure', async () => {
    const opsOfCrm = ({ messages }: TypedRead) =>
      messages.flatMap(({ value }) => (value?.source.connection_id === crm.id ? value.op : []));
    await crm.run('contacts', { more: { opts: { reset: true, emptyCache: true } } });
    succeeded(await call('DELETE', `/connections/${doomed.id}?provider_config_key=crm`));
    const found = await readUntil((of) => opsOf(of, 'd-1').includes('tombstone'));
    expect(opsOf(found, 'd-1')).toEqual(['r', 'd', 'tombstone']);
    const erased = found.messages.find(
      ({ key, value }) => key.endsWith('/d-1') && value?.op === 'd',
    );
    expect(erased?.value?.before).toMatchObject({ id: 'd-1', name: null, _deleted: true });
    const before = opsOfCrm(first);
    expect(opsOfCrm(found).slice(0, before.length)).toEqual(before);
    expect(new Set(opsOfCrm(found).slice(before.length))).toEqual(new Set(['c']));
    expect(found.changes.filter(({ action }) => action === 'purged').length).toBeGreaterThan(1);
  });
});

describe('a model that changes', () => {
  it('keeps its topic while readers can follow, and opens another where they cannot', async () => {
    const crm = await world.connect();
    const deploy = async (properties: JsonObject) => {
      const body = (await compiledFunctions()) as {
        functions: { name: string; models_json_schema?: JsonObject }[];
      };
      const text = JSON.stringify(body, (key, value: unknown) => {
        const isModel = key === 'Contact' && typeof value === 'object' && value !== null;
        return isModel && 'properties' in value ? { ...value, properties } : value;
      });
      succeeded(await call('POST', '/functions/deployments/bundle', JSON.parse(text) as object));
    };
    const wider = { id: text, name: text, email: text, age: { type: 'integer' } };
    await deploy(wider);
    await save(crm, { id: 'w-1', name: 'Wide', age: 7 });
    const same = await readUntil((of) => opsOf(of, 'w-1').length > 0);
    const [added] = same.messages.filter(({ key }) => key.endsWith('/w-1'));
    expect(added?.value?.after).toMatchObject({ name: 'Wide', age: 7 });

    const other = { id: text, name: { type: 'integer' } };
    await deploy(other);
    await save(crm, { id: 'w-1', name: 'Wide', age: 7 }, { id: 'o-1', name: 12 });
    const opened = await readUntil((of) => opsOf(of, 'o-1').length > 0, 2);
    const [fresh] = opened.messages.filter(({ key }) => key.endsWith('/o-1'));
    expect(fresh?.value?.after).toMatchObject({ name: 12, _extra: {} });
    // The new topic has the others too; what they were no longer fits.
    expect(opsOf(opened, 'w-1')[0]).toBe('r');
    const [former] = opened.messages.filter(({ key }) => key.endsWith('/w-1'));
    expect(former?.value?.after).toMatchObject({
      name: null,
      _extra: { name: '"Wide"', age: '7' },
    });
    const { data } = succeeded(await call('GET', '/typed-topics')) as { data: object[] };
    expect(data).toMatchObject([{ model: 'Contact', topic: `${address}.v2` }]);
  });
});

describe('the API of typed topics', () => {
  const refusal = async (method: string, to: string, body?: unknown) => {
    const { status, body: said } = (await call(method, to, body)) as {
      status: number;
      body: unknown;
    };
    const { error } = said as { error: { code: string; message: string } };
    return `${status} ${error.code} ${error.message}`;
  };

  it('refuses what it cannot write, and names it', async () => {
    expect(await refusal('PUT', '/typed-topics/none/Contact')).toMatch(/^404 not_found .*"none"/);
    expect(await refusal('PUT', '/typed-topics/crm/Nothing')).toMatch(/^404 not_found .*"Nothing"/);
    expect(await refusal('PUT', '/typed-topics/crm/lower')).toMatch(/^400 invalid_uri_params/);
    expect(await refusal('DELETE', '/typed-topics/crm/Deal')).toMatch(/^404 not_found/);
  });

  it('keeps the names and the openness of what has typed topics', async () => {
    const account = { key: world.gateway.accountKey };
    const to = `/environments/${world.environmentId}`;
    const patch = (body: object) => world.gateway.call('PATCH', to, { ...account, body });
    for (const body of [{ payload_mode: 'sealed' }, { name: 'renamed' }]) {
      expect((await patch(body)).body).toMatchObject({
        error: { code: 'conflict', message: expect.stringContaining('"Contact"') as string },
      });
    }
    succeeded(await call('DELETE', path));
    expect(await refusal('DELETE', path)).toMatch(/^404 not_found/);
    expect(succeeded(await call('GET', '/typed-topics'))).toEqual({ data: [] });
    succeeded(await patch({ payload_mode: 'sealed' }));
    expect(await refusal('PUT', path)).toMatch(/^409 conflict .*seals its payloads.*payload_mode/);
    succeeded(await patch({ payload_mode: 'plain' }));
  });

  it('fills the topic again after an opt-out, and publishes nothing in between', async () => {
    const crm = await world.connect();
    await save(crm, { id: 'between', name: 1 });
    succeeded(await call('PUT', path));
    await save(crm, { id: 'between', name: 2 });
    const found = await readUntil((of) => opsOf(of, 'between').length > 1, 2);
    expect(opsOf(found, 'between').slice(-2)).toEqual(['r', 'u']);
  });
});
