import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AvroCodec, schemaText } from '#adapters/event-log/avro-codec.ts';
import {
  blankChange,
  type PayloadEncoding,
  type RecordAction,
  type RecordChange,
  recordsTopic,
} from '#modules/records/model/events.ts';
import { ChangeDecoder } from '#modules/records/projection/row-builder.ts';
import { seedOfRun } from '#test/support/judges/random.ts';

const seed = seedOfRun();
const codec = new AvroCodec<RecordChange>(schemaText(recordsTopic), 7, () =>
  schemaText(recordsTopic),
);

const aText = fc.oneof(fc.string({ maxLength: 80, unit: 'grapheme' }), fc.constant('the same'));
const orNull = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });
/** As large as the codec takes. */
const longMax = 2 ** 53 - 2;
const aLong = fc.oneof(fc.nat(), fc.integer({ min: -longMax, max: longMax }));
const anId = fc.stringMatching(/^[0-9a-f-]{0,36}$/);
const aChange: fc.Arbitrary<RecordChange> = fc.record({
  event_id: anId,
  type: aText,
  occurred_at: aLong,
  environment_id: aText,
  integration: orNull(aText),
  connection_id: orNull(aText),
  actor: aText,
  run_id: orNull(aText),
  connection_uid: aText,
  model: aText,
  variant: aText,
  record_id: aText,
  action: aText.map((text) => text as RecordAction),
  stream_seq: aLong,
  stream_generation: aText,
  owner_epoch: aLong,
  version: fc.nat(),
  position: aLong,
  previous_position: orNull(aLong),
  payload: orNull(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))),
  payload_encoding: aText.map((text) => text as PayloadEncoding),
  key_id: orNull(aText),
  payload_hash: anId,
  previous_hash: orNull(anId),
  changed_fields: orNull(fc.array(aText, { maxLength: 3 })),
  first_seen_at: aLong,
  last_modified_at: aLong,
  deleted_at: orNull(aLong),
  pruned_at: orNull(aLong),
  sync_name: orNull(aText),
  delete_pass_id: orNull(aText),
});

describe('the decoder of changes', () => {
  it('reads what the codec reads, one change after the other', () => {
    const decoder = new ChangeDecoder(codec);
    const holds = (changes: readonly RecordChange[]) => {
      for (const change of changes) {
        const value = codec.encode(change);
        expect(decoder.decode(value)).toEqual({ ...codec.decode(value) });
      }
    };
    fc.assert(fc.property(fc.array(aChange, { maxLength: 5 }), holds), { seed, numRuns: 200 });
  });

  it('leaves values of other versions of the schema to the codec', () => {
    const other = new AvroCodec<RecordChange>(schemaText(recordsTopic), 8, () => null);
    const value = other.encode({ ...blankChange, record_id: 'a' });
    expect({ ...new ChangeDecoder(codec).decode(value) }).toEqual({ ...codec.decode(value) });
  });

  it('refuses bytes that were cut off or do not fit', () => {
    const decoder = new ChangeDecoder(codec);
    const value = codec.encode({ ...blankChange, record_id: 'a', payload: Buffer.from('{}') });
    for (let length = 0; length < value.length; length++) {
      expect(() => decoder.decode(value.subarray(0, length))).toThrow();
    }
    expect(() => decoder.decode(Buffer.concat([value, Buffer.of(0)]))).toThrow();
    expect(() =>
      decoder.decode(Buffer.concat([value.subarray(0, 5), Buffer.alloc(80, 255)])),
    ).toThrow();
  });
});
