import { describe, expect, it } from 'vitest';
import { AvroCodec } from '#adapters/event-log/avro-codec.ts';
import { incompatibilities } from '#adapters/event-log/schema-compatibility.ts';
import { timesOf, typedSchema, type Envelope } from '#modules/extensions/typed-topics/envelope.ts';

const address = 'svc.cdc.dev.crm.contact';
const { definition, row } = typedSchema(address, 'Contact', null);
const newer = JSON.stringify(definition);

/** The schema of releases whose messages have no `ts_ns`, and no `ts_us` of the source. */
const older = JSON.stringify(definition, (_, value: unknown) => {
  if (!Array.isArray(value)) return value;
  const fields = value as { name?: string; doc?: string }[];
  return fields.filter(
    ({ name, doc }) => name !== 'ts_ns' && doc !== 'When the record changed, in microseconds.',
  );
});

const at = 1_767_225_600_123_456;
const event: Envelope = {
  before: null,
  after: row({ recordId: 'c-1', connectionId: 'ada', variant: 'base' }, false, { id: 'c-1' }),
  source: {
    version: '1.0.0',
    connector: 'svc',
    name: address,
    ...timesOf(at, true),
    snapshot: 'false',
    connection_id: 'ada',
    sync: null,
    variant: 'base',
    seq: 1,
  },
  op: 'c',
  ...timesOf(at, true),
  transaction: null,
};

const codecOf = (schema: string, id: number) =>
  new AvroCodec<Envelope>(schema, id, (other) => (other === 1 ? older : newer));

describe('the times of an envelope', () => {
  it('are exact to the nanosecond, through the codec too', () => {
    const codec = codecOf(newer, 2);
    const read = codec.decode(codec.encode(event));
    expect(read.ts_ns).toBe('1767225600123456000');
    expect(read.source).toMatchObject(timesOf(at, true));
  });

  it('are read by earlier readers, and messages of earlier writers have none in nanoseconds', () => {
    expect(older).not.toContain('ts_ns');
    expect(incompatibilities(newer, older)).toEqual([]);
    expect(incompatibilities(older, newer)).toEqual([]);
    const [early, late] = [codecOf(older, 1), codecOf(newer, 2)];
    expect(early.decode(late.encode(event))).toMatchObject({ ts_us: at, op: 'c' });
    const { ts_ns: nanos, source } = late.decode(early.encode(event));
    expect([nanos, source.ts_ns, source.ts_us]).toEqual([null, null, null]);
  });
});
