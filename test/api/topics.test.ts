import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinKey } from '#kernel/ids.ts';
import type { Message } from '#ports/event-log.ts';
import { isPublicTopic, topics } from '#streams/topics.ts';
import { codeOf, startApi, type Api } from '#test/support/worlds/api.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const read = (path: string, key = api.keys.account) => api.call('GET', path, { key });
const messages = (topic: string, query = '') => read(`/topics/${topic}/messages?${query}`);

interface Shown {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: string;
  readonly key: string;
  readonly kind: string;
  readonly value: Readonly<Record<string, unknown>> | null;
}
const shown = (answer: { at(path: string): unknown }): readonly Shown[] =>
  answer.at('data') as readonly Shown[];

/** Follows the cursor to its end. */
async function allPages(topic: string, query: string): Promise<Shown[][]> {
  const pages: Shown[][] = [];
  for (let cursor = ''; ;) {
    const page = await messages(topic, `${query}${cursor}`);
    expect(page.status).toBe(200);
    pages.push([...shown(page)]);
    const next = page.at('next_cursor') as string | null;
    if (next === null) return pages;
    cursor = `&cursor=${next}`;
  }
}

async function append(topic: string, partition: number, ...list: readonly Message[]) {
  const [at] = await api.services.log.append([{ topic, partition, messages: list }]);
  return at?.offset ?? -1;
}
const tombstone = (key: string, timestamp = 1): Message => ({
  key,
  value: null,
  headers: {},
  timestamp,
});

describe('GET /topics', () => {
  it('lists every public topic of the service with its settings, and none that is internal', async () => {
    const list = await read('/topics');
    const found = list.at('data') as { name: string; key: string; settings: object }[];
    const existing = Object.keys(topics).filter(isPublicTopic).sort();
    expect(found.map(({ name }) => name)).toEqual(existing);
    const runs = found.find(({ name }) => name === 'svc.runs.v1');
    expect(runs).toMatchObject({
      address: 'svc.runs.v1',
      key: 'environment/integration/connection/run',
      settings: { 'cleanup.policy': ['delete'], 'retention.ms': 90 * 86_400_000 },
    });
  });

  it('counts the messages, and those that a group has not consumed', async () => {
    await append('svc.runs.v1', 1, tombstone('a'), tombstone('b'));
    const topic = await read('/topics/svc.runs.v1');
    expect(topic.at('data.messages_max')).toBe(2);
    expect(topic.at('data.groups.0')).toEqual({ name: 'svc.runners', lag: 2 });
    expect(topic.at('data.ranges.1')).toEqual({ partition: 1, start: 0, end: 2 });
    expect(topic.at('data.value_schema.name')).toBe('RunChanged');
    expect(topic.at('data.headers_schema.required')).toContain('ce_id');
  });

  it('knows no internal topic and no other one', async () => {
    for (const name of ['svc.internal.control.v1', 'svc.internal.keys.v1', 'other']) {
      for (const path of [`/topics/${name}`, `/topics/${name}/messages`]) {
        const refused = await read(path);
        expect(codeOf(refused)).toBe('404 not_found');
        expect(refused.at('error.message')).toContain(name);
      }
    }
  });

  it('opens nothing for a key of an environment, whose records share the topics with others', async () => {
    for (const path of ['', '/svc.records.v1', '/svc.records.v1/messages']) {
      expect(codeOf(await read(`/topics${path}`, api.keys.dev))).toBe('403 forbidden');
    }
  });
});

describe('the messages of a topic', () => {
  it('are decoded, with what belongs to a message', async () => {
    const config = await messages('svc.config.v1', 'limit=500');
    const prod = shown(config).find(({ value }) => String(value?.['document']).includes('"prod"'));
    expect(prod).toMatchObject({
      partition: 0,
      kind: 'value',
      error: null,
      headers: { ce_type: 'svc.environment.created', 'content-type': 'application/avro' },
      value: { kind: 'environment', action: 'created' },
    });
    expect(Date.parse(prod?.timestamp ?? '')).toBeGreaterThan(Date.now() - 600_000);
  });

  it('never show a key of an environment or of the account', async () => {
    for (const topic of Object.keys(topics).filter(isPublicTopic)) {
      const text = JSON.stringify((await messages(topic, 'limit=500')).body);
      for (const secret of Object.values(api.keys)) expect(text).not.toContain(secret);
    }
  });

  it('come newest first, and page after page without a gap or a repetition', async () => {
    const topic = 'svc.syncs.v1';
    const own = Array.from({ length: 3 }, (_, partition) =>
      Array.from({ length: 25 }, (_unused, at) =>
        tombstone(`${partition}/${at}`, at * 3 + partition),
      ),
    );
    for (const [partition, list] of own.entries()) await append(topic, partition, ...list);
    const pages = await allPages(topic, 'limit=7');
    expect(pages.slice(0, -1).every((page) => page.length === 7)).toBe(true);
    const keys = pages.flat().map(({ key }) => key);
    const byTime = own.flat().sort((a, b) => (b.timestamp ?? 0) - (a.timestamp ?? 0));
    expect(keys).toEqual(byTime.map(({ key }) => key));

    const oldest = await allPages(topic, `limit=7&since=1970-01-01T00:00:00.050Z`);
    const later = byTime.filter(({ timestamp = 0 }) => timestamp >= 50).reverse();
    expect(oldest.flat().map(({ key }) => key)).toEqual(later.map(({ key }) => key));

    const one = await messages(topic, 'partition=2&limit=3');
    expect(shown(one).map(({ key }) => key)).toEqual(['2/24', '2/23', '2/22']);
    const from = await messages(topic, 'partition=2&offset=10&limit=2');
    expect(shown(from).map(({ offset, key }) => [offset, key])).toEqual([
      [10, '2/10'],
      [11, '2/11'],
    ]);
    const end = await messages(topic, 'partition=2&offset=25');
    expect(end.body).toEqual({
      data: [],
      ranges: [{ partition: 2, start: 0, end: 25 }],
      next_cursor: null,
    });
  });

  it('of a key are found in the partition that the key chooses', async () => {
    const topic = 'svc.connections.v1';
    const key = joinKey('environment', 'crm', 'a/b');
    const publish = (connectionId: string) =>
      api.services.publisher.publish(
        [
          {
            topic,
            key: joinKey('environment', 'crm', connectionId),
            type: 'svc.connection.deleted',
            environmentUid: 'environment',
            value: null,
          },
        ],
        'system',
      );
    for (const id of ['a/b', ...Array.from({ length: 30 }, (_, at) => `c${at}`), 'a/b']) {
      await publish(id);
    }
    const found = await messages(topic, `key=${encodeURIComponent(key)}`);
    expect(shown(found).map((one) => [one.key, one.kind])).toEqual([
      [key, 'tombstone'],
      [key, 'tombstone'],
    ]);
    expect(found.at('ranges')).toHaveLength(1);
    expect(found.at('next_cursor')).toBe(null);
    // What the partition does not follow from is searched everywhere.
    const everywhere = await messages('svc.webhooks-out.v1', 'key=environment%2Fmessage');
    expect(everywhere.at('ranges')).toHaveLength(3);
  });

  it('that cannot be read say so beside the others', async () => {
    const topic = 'svc.logs.v1';
    const unknown = Buffer.from([0, 0, 1, 0, 0, 1]);
    const cut = (await codecBytes('svc.runs.v1')).subarray(0, 9);
    const first = await append(
      topic,
      2,
      { key: 'text', value: Buffer.from('no frame'), headers: { a: 'b' } },
      { key: 'unknown', value: unknown, headers: {}, timestamp: 8e15 },
      { key: 'cut', value: cut, headers: {} },
      tombstone('-'),
    );
    const found = await messages(topic, `partition=2&offset=${first}`);
    expect(found.status).toBe(200);
    expect(found.at('data')).toMatchObject([
      { key: 'text', kind: 'unreadable', value: null, bytes: 8, headers: { a: 'b' } },
      { key: 'unknown', kind: 'unreadable', timestamp: null },
      { key: 'cut', kind: 'unreadable' },
      { key: '-', kind: 'tombstone', error: null },
    ]);
    expect(found.at('data.0.error')).toContain('framing');
    expect(found.at('data.1.error')).toContain('does not exist');
    expect(found.at('data.2.error')).toContain('does not fit');
  });

  it('show the payload of a record, and of a sealed one only its size', async () => {
    const topic = 'svc.records.v1';
    const codec = await api.services.schemas.codec(topic);
    const change = (payload: Buffer, encoding: string): Message => ({
      key: 'environment/uid/Contact/base/1',
      value: codec.encode({ ...recordChange, payload, payload_encoding: encoding }),
      headers: {},
    });
    const first = await append(
      topic,
      0,
      change(Buffer.from('{"name":"Ada","__proto__":1}'), 'json'),
      change(Buffer.from('ciphertext'), 'json+deflate+aes256gcm'),
      change(Buffer.from('{"torn'), 'json'),
    );
    const found = await messages(topic, `partition=0&offset=${first}`);
    const payloads = shown(found).map(({ value }) => JSON.stringify(value?.['payload']));
    expect(payloads).toEqual(['{"name":"Ada","__proto__":1}', '{"bytes":10}', '{"bytes":6}']);
  });

  it('of 2 MiB end a page early, and the cursor goes on', async () => {
    const large = (key: string): Message => ({ key, value: Buffer.alloc(900_000), headers: {} });
    const topic = 'svc.webhooks-in.v1';
    await append(topic, 0, ...['a', 'b', 'c', 'd', 'e'].map(large));
    const pages = await allPages(topic, 'partition=0');
    expect(pages.map((page) => page.map(({ key }) => key).join(''))).toEqual(['ed', 'cb', 'a']);
  });

  it('are refused for a position that does not exist', async () => {
    const refusals = [
      ['partition=3', '400 invalid_query_params', 'partitions 0 to 2'],
      ['offset=0', '400 invalid_query_params', 'name it with partition'],
      ['partition=0&offset=1000', '400 invalid_query_params', 'offsets 0 to'],
      ['key=a&since=2026-01-01T00:00:00Z', '400 invalid_query_params', ''],
      ['since=yesterday', '400 invalid_query_params', ''],
      ['limit=501', '400 invalid_query_params', ''],
      ['cursor=none', '400 invalid_cursor_value', ''],
      [`cursor=${cursorOf(['oldest', [0, 0, 0]])}`, '400 invalid_cursor_value', ''],
      [`cursor=${cursorOf(['newest', [0]])}`, '400 invalid_cursor_value', ''],
      [`cursor=${cursorOf(['newest', [0, 0, 1e9]])}`, '400 invalid_cursor_value', ''],
    ] as const;
    for (const [query, code, message] of refusals) {
      const refused = await messages('svc.runs.v1', query);
      expect([query, codeOf(refused)]).toEqual([query, code]);
      expect(String(refused.at('error.message'))).toContain(message);
    }
  });

  it('leave a trace in the audit of the account when they are read', async () => {
    await messages('svc.credentials.v1');
    await expect
      .poll(async () => {
        const audit = await messages('svc.audit.v1', 'key=account&limit=500');
        return shown(audit).map(
          ({ value }) => `${String(value?.['action'])} ${String(value?.['target'])}`,
        );
      })
      .toContain('topic.read_messages svc.credentials.v1');
  });
});

const cursorOf = (parts: unknown): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

async function codecBytes(topic: string): Promise<Buffer> {
  const { schemaId } = await api.services.schemas.codec(topic);
  const bytes = Buffer.alloc(64, 0xff);
  bytes[0] = 0;
  bytes.writeUInt32BE(schemaId, 1);
  return bytes;
}

const recordChange = {
  event_id: randomUUID(),
  type: 'svc.record.added',
  occurred_at: 1,
  environment_id: 'environment',
  integration: 'crm',
  connection_id: 'a',
  actor: 'system',
  run_id: null,
  connection_uid: 'uid',
  model: 'Contact',
  variant: 'base',
  record_id: '1',
  action: 'added',
  stream_seq: 1,
  stream_generation: 'g',
  owner_epoch: 1,
  version: 1,
  position: 1,
  previous_position: null,
  key_id: null,
  payload_hash: '',
  previous_hash: null,
  changed_fields: null,
  first_seen_at: 1,
  last_modified_at: 1,
  deleted_at: null,
  pruned_at: null,
  sync_name: null,
  delete_pass_id: null,
};
