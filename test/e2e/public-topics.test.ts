import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinKey } from '#kernel/ids.ts';
import { partitionOf } from '#kernel/partition.ts';
import { headersSchema, type MessageKind } from '#modules/operations/topics/headers.ts';
import { isPublicTopic, partitionsOf, topics, type TopicName } from '#streams/topics.ts';
import { draft7 } from '#test/support/judges/json-schema.ts';
import {
  appendGarbage,
  readPublicTopics,
  type PublicMessageRead,
  type PublicValue,
} from '#test/support/judges/public-log.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

/** What docs/reference/topics.md says of a topic; `key` and `place` are made of the value. */
interface Promised {
  readonly actions?: readonly string[];
  readonly fields: readonly string[];
  readonly key?: (value: PublicValue) => string;
  /** What the partition is chosen by; the key where there is nothing else. */
  readonly place?: (value: PublicValue) => string;
}

const common =
  'event_id type occurred_at environment_id integration connection_id actor run_id'.split(' ');
const text = (value: PublicValue, name: string): string => value[name] as string;
const keyOf =
  (...names: string[]) =>
  (value: PublicValue): string =>
    joinKey(...names.map((name) => text(value, name)));
const ofConnection = keyOf('environment_id', 'integration', 'connection_id');
const ofStream = keyOf('environment_id', 'connection_uid', 'model', 'variant');
const words = (list: string): string[] => list.split(' ');

const promised: Readonly<Partial<Record<TopicName, Promised>>> = {
  'svc.records.v1': {
    actions: words('added updated deleted pruned purged restored'),
    fields: words(
      'model variant record_id action stream_seq stream_generation owner_epoch version payload ' +
        'payload_encoding key_id payload_hash previous_hash changed_fields first_seen_at ' +
        'last_modified_at deleted_at pruned_at sync_name delete_pass_id position previous_position',
    ),
    key: keyOf('environment_id', 'connection_uid', 'model', 'variant', 'record_id'),
    place: ofStream,
  },
  'svc.connections.v1': {
    actions: words(
      'created updated reauthorized auth_failed auth_recovered metadata_changed tags_changed ' +
        'deletion_begun deleted erased',
    ),
    fields: words(
      'action provider auth_mode tags metadata_keys metadata errors created_at updated_at last_fetched_at',
    ),
    key: ofConnection,
    place: ofConnection,
  },
  'svc.credentials.v1': {
    actions: words('stored refreshed refresh_failed revoked rewrapped shredded'),
    fields: words(
      'action auth_mode fingerprint key_id expires_at granted_scopes attempt error_code ' +
        'provider_status exhausted',
    ),
    key: ofConnection,
    place: ofConnection,
  },
  'svc.config.v1': { fields: words('kind action document revision') },
  'svc.syncs.v1': {
    actions: words(
      'enabled disabled paused started frequency_changed triggered reset checkpoint_saved ' +
        'checkpoint_cleared generation_started generation_completed variant_created variant_deleted',
    ),
    fields: words('sync_name variant action frequency state checkpoint next_due_at'),
    key: keyOf('environment_id', 'integration', 'connection_id', 'sync_name', 'variant'),
    place: ofConnection,
  },
  'svc.runs.v1': {
    actions: words('queued started progress succeeded failed cancelled timed_out interrupted'),
    fields: words(
      'kind function function_version action attempt counts duration_ms input_hash output_hash ' +
        'error_code error_message log_id',
    ),
    key: keyOf('environment_id', 'integration', 'connection_id', 'run_id'),
    place: ofConnection,
  },
  'svc.webhooks-in.v1': {
    fields: words(
      'delivery_id disposition reason matched_connections subscription headers body body_hash received_at',
    ),
  },
  'svc.webhooks-out.v1': {
    actions: words('created attempt_succeeded attempt_failed exhausted replayed cancelled'),
    fields: words(
      'message_id endpoint_id action event_kind body attempt status latency_ms next_attempt_at ' +
        'error_code replay_of',
    ),
    key: keyOf('environment_id', 'message_id'),
    place: ofConnection,
  },
  'svc.logs.v1': {
    fields: words(
      'operation_id level message operation_type state started_at function source context',
    ),
    key: keyOf('environment_id', 'operation_id'),
  },
  'svc.audit.v1': {
    fields: words('action target outcome ip_prefix details chain_seq chain_hash'),
    key: keyOf('environment_id'),
  },
  'svc.projections.v1': {
    actions: words(
      'building progress ready verifying verified switched rolled_back paused resumed failed ' +
        'retiring retired',
    ),
    fields: words('action schema_version generation position end_position rows'),
  },
  'svc.dead-letters.v1': {
    fields: words(
      'consumer topic partition offset attempts error_code error_message key value headers',
    ),
  },
};

let world: CrmWorld;
let all: PublicMessageRead[];
/** Of the topics that every installation has again. */
let document: unknown;

beforeAll(async () => {
  world = await openCrmWorld();
  document = succeeded(await world.gateway.call('GET', '/asyncapi.json', { key: null }));
  await live();
  const { dataDir } = world.gateway;
  await world.gateway.stop();
  await appendGarbage(dataDir, 'svc.internal.record-commands.v1', 'no/such/stream/here');
  await appendGarbage(dataDir, 'svc.internal.commands.v1', 'nothing');
  await world.restart();
  // What comes after the garbage is decided: it has been set aside by then.
  for (let n = 0; n < 8; n++) {
    const crm = await world.connect();
    crm.account.contacts = [{ id: 'after', name: 'After' }];
    await crm.run('contacts');
  }
  await world.gateway.stop();
  all = await readPublicTopics(dataDir);
});
afterAll(() => world[Symbol.asyncDispose]());

/** The traces that callers name with their requests. */
const traces = {
  action: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  sync: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00',
};

/** A sync whose trigger names its trace. */
async function traced(crm: CrmConnection): Promise<void> {
  const runs = crm.webhooks('contacts').length;
  crm.account.contacts = [{ id: 'c-1', name: 'Traced' }];
  const body = { provider_config_key: 'crm', connection_id: crm.id, syncs: ['contacts'] };
  const headers = { traceparent: traces.sync };
  succeeded(await world.gateway.call('POST', '/sync/trigger', { headers, body }));
  await crm.webhook('contacts', runs + 1);
}

/** Something of everything: records of each action, a run of each outcome, a deleted connection and key. */
async function live(): Promise<void> {
  const { gateway } = world;
  const crm = await world.connect({ metadata: { team: 'a' }, tags: { plan: 'pro' } });
  const contact = (id: string, name = 'Ada') => ({ id, name });
  crm.account.contacts = ['c-1', 'c-2', 'c/3 ü'].map((id) => contact(id));
  await crm.run('contacts');
  crm.account.contacts = [contact('c-1', 'Bo'), contact('c-4')];
  await crm.run('contacts');
  await crm.run('contacts', { more: { opts: { reset: true, emptyCache: true } } });
  crm.account.plan('/contacts', { status: 400 });
  await crm.run('contacts');
  succeeded(await crm.action('echo', { said: 'hello' }, { traceparent: traces.action }));
  await traced(crm);
  expect((await crm.action('fail', { how: 'exception' })).status).toBeGreaterThanOrEqual(400);
  const patch = { connection_id: crm.id, provider_config_key: 'crm', metadata: { team: 'b' } };
  succeeded(await gateway.call('PATCH', '/connections/metadata', { body: patch }));
  const account = { key: gateway.accountKey };
  for (const word of ['pause', 'resume']) {
    succeeded(await gateway.call('POST', `/projections/records/${word}`, { ...account, body: {} }));
  }
  const environmentUid = await environmentOf(gateway);
  // Kept whatever becomes of it.
  const provider = { provider: 'granola', unique_key: 'granola' };
  succeeded(await gateway.call('POST', '/integrations', { body: provider }));
  await gateway.call('POST', `/webhook/${environmentUid}/granola`, { key: null, body: { n: 1 } });
  const doomed = await world.connect();
  doomed.account.contacts = [contact('gone')];
  await doomed.run('contacts');
  const path = `/connections/${doomed.id}?provider_config_key=crm`;
  succeeded(await gateway.call('DELETE', path));
  await eventually(
    () => gateway.call('GET', path),
    ({ status }) => status === 404,
  );
}

/** Uid of the environment dev, as the address of its webhooks names it. */
async function environmentOf(gateway: CrmWorld['gateway']): Promise<string> {
  const chains = await gateway.call('GET', '/audit/chains', { key: gateway.accountKey });
  const { data } = succeeded(chains) as {
    data: { environment: string; name: string | null }[];
  };
  return data.find(({ name }) => name === 'dev')?.environment ?? '';
}

const ajv = draft7({ allErrors: true });

function kindOf({ topic, value }: PublicMessageRead): MessageKind {
  const kind = topic === 'svc.records.v1' ? ('record' as const) : ('event' as const);
  if (value !== null) return kind;
  return kind === 'record' ? 'record-tombstone' : 'tombstone';
}

const publicTopics = Object.keys(topics).filter(isPublicTopic) as TopicName[];

describe('the messages of the public topics of a running gateway', () => {
  it('are there on each topic, and each topic is promised and described', () => {
    expect([...new Set(all.map(({ topic }) => topic))].sort()).toEqual([...publicTopics].sort());
    expect(Object.keys(promised).sort()).toEqual([...publicTopics].sort());
    const { channels } = document as { channels: object };
    expect(Object.keys(channels)).toEqual([...publicTopics, 'typed', 'heartbeat']);
    const actions = all.filter(({ topic }) => topic === 'svc.records.v1');
    expect(
      new Set(actions.flatMap(({ value }) => (value === null ? [] : [value['action']]))),
    ).toEqual(new Set(['added', 'updated', 'deleted', 'purged']));
  });

  it.each(publicTopics)('%s: headers as documented, and as the value says', (topic) => {
    const messages = all.filter((one) => one.topic === topic);
    for (const read of messages) {
      const { message, value } = read;
      const validate = ajv.compile(headersSchema(kindOf(read)));
      const where = `${message.key}: ${JSON.stringify(message.headers)}`;
      expect(validate(message.headers), `${where} ${JSON.stringify(validate.errors)}`).toBe(true);
      if (value === null) continue;
      expect(message.headers['ce_id']).toBe(value['event_id']);
      expect(message.headers['ce_type']).toBe(value['type']);
      expect(message.headers['ce_source']).toMatch(/^\/environments\//);
      if (value['run_id'] !== null && 'ce_correlationid' in message.headers) {
        expect(message.headers['ce_correlationid']).toBe(value['run_id']);
      }
      if ('svc-stream' in message.headers) {
        expect(message.headers['svc-stream']).toBe(ofStream(value));
        expect(message.headers['svc-seq']).toBe(String(value['stream_seq']));
      }
    }
    const ids = messages.flatMap(({ message }) => message.headers['ce_id'] ?? []);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(['action', 'sync'] as const)(
    'belong to the trace that the request for a %s named',
    (of) => {
      const found = all.filter(({ message }) => message.headers['traceparent'] === traces[of]);
      const said = found.map(({ topic, value }) => `${topic} ${String(value?.['action'])}`);
      const run = ['queued', 'started', 'succeeded'].map((action) => `svc.runs.v1 ${action}`);
      const webhook = ['created', 'attempt_succeeded'].map(
        (action) => `svc.webhooks-out.v1 ${action}`,
      );
      expect(said).toEqual(expect.arrayContaining(of === 'sync' ? [...run, ...webhook] : run));
      const ofOthers = new Set(found.map(({ value }) => value?.['run_id']));
      expect([...ofOthers].filter((id) => typeof id === 'string')).toHaveLength(1);
    },
  );

  it.each(publicTopics)('%s: fields, actions, key and partition of the contract', (topic) => {
    const { fields, actions, key, place } = promised[topic]!;
    const partitions = partitionsOf(topics[topic], 4);
    for (const { message, value, partition } of all.filter((one) => one.topic === topic)) {
      if (value === null) continue;
      expect(Object.keys(value)).toEqual(expect.arrayContaining([...common, ...fields]));
      if (actions !== undefined) expect(actions).toContain(value['action']);
      if (key !== undefined) expect(message.key).toBe(key(value));
      const by = place?.(value) ?? message.key;
      expect(partition).toBe(partitionOf(by, partitions));
    }
  });

  it('counts each stream from 1 without holes, whatever the partition', () => {
    const seqs = new Map<string, number[]>();
    for (const { topic, value } of all) {
      if (topic !== 'svc.records.v1' || value === null) continue;
      const stream = ofStream(value);
      seqs.set(stream, [...(seqs.get(stream) ?? []), value['stream_seq'] as number]);
    }
    expect(seqs.size).toBeGreaterThan(1);
    for (const counted of seqs.values()) expect(counted).toEqual(counted.map((_, n) => n + 1));
  });

  it('has a tombstone for each record, connection and key that is gone', () => {
    const last = new Map(
      all.map(({ topic, message, value }) => [`${topic} ${message.key}`, value]),
    );
    for (const { topic, message, value } of all) {
      const { key } = message;
      const isPurged = value?.['action'] === 'purged' && key.endsWith('/gone');
      const isErased = topic === 'svc.connections.v1' && value?.['action'] === 'deleted';
      if (isPurged || isErased) {
        expect(last.get(`${topic} ${key}`), key).toBeNull();
      }
    }
    const tombstones = all.filter(({ value }) => value === null).map(({ topic }) => topic);
    expect(new Set(tombstones)).toEqual(
      new Set(['svc.records.v1', 'svc.connections.v1', 'svc.syncs.v1']),
    );
  });

  it('shows no secret of the connections', () => {
    const bytes = all.map(({ message, value }) => [
      message.key,
      JSON.stringify(message.headers),
      Buffer.from(message.value ?? []).toString('latin1'),
      JSON.stringify(value),
    ]);
    expect(bytes.flat().filter((one) => one.includes(world.provider.apiKey))).toEqual([]);
  });
});
