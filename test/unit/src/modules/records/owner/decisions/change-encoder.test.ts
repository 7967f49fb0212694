import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blankChange, type RecordChange } from '#modules/records/model/events.ts';
import { isSealed } from '#modules/records/model/sealed-payload.ts';
import {
  ChangeEncoder,
  ChangeIds,
  changeTypes,
  encodeContext,
} from '#modules/records/owner/decisions/change-encoder.ts';
import { seedOfRun } from '#test/support/judges/random.ts';
import { localSchemas } from '#test/support/worlds/records.ts';

const seed = seedOfRun();
const codec = await localSchemas().codec<RecordChange>('svc.records.v1');
const words = fc.string({ unit: 'grapheme', maxLength: 300 });
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });
const number = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 51 }));

const aChange = fc.record({
  context: fc.record({
    environmentUid: words,
    integration: words,
    connectionId: words,
    connectionUid: words,
    model: words,
    variant: words,
    actor: words,
    runId: maybe(words),
    syncName: maybe(words),
    generation: words,
    epoch: number,
    passId: maybe(words),
  }),
  fields: fc.record({
    eventId: fc.uuid(),
    occurredAt: number,
    recordId: words,
    action: fc.constantFrom('added', 'updated', 'deleted', 'pruned', 'purged', 'restored'),
    seq: number,
    version: fc.nat(),
    position: number,
    previousPosition: maybe(number),
    payload: maybe(
      fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.constant(Buffer.alloc(1_500_000, 7))),
    ),
    encoding: fc.constantFrom('json', 'json+aes256gcm', 'json+deflate+aes256gcm'),
    hash: fc.constant('0123456789abcdef0123456789abcdef'),
    previousHash: maybe(fc.constant('fedcba9876543210fedcba9876543210')),
    firstSeenAt: number,
    modifiedAt: number,
    deletedAt: maybe(number),
    prunedAt: maybe(number),
  }),
});

describe(`a change encoded by hand (seed ${seed})`, () => {
  it('has the bytes that the schema gives it', () => {
    const encoder = new ChangeEncoder(codec.encode(blankChange));
    const holds = ({
      context,
      fields,
    }: typeof aChange extends fc.Arbitrary<infer C> ? C : never): void => {
      const encoding = fields.payload === null ? 'none' : fields.encoding;
      const change: RecordChange = {
        event_id: fields.eventId,
        type: changeTypes[fields.action],
        occurred_at: fields.occurredAt,
        environment_id: context.environmentUid,
        integration: context.integration,
        connection_id: context.connectionId,
        actor: context.actor,
        run_id: context.runId,
        connection_uid: context.connectionUid,
        model: context.model,
        variant: context.variant,
        record_id: fields.recordId,
        action: fields.action,
        stream_seq: fields.seq,
        stream_generation: context.generation,
        owner_epoch: context.epoch,
        version: fields.version,
        position: fields.position,
        previous_position: fields.previousPosition,
        payload: fields.payload === null ? null : Buffer.from(fields.payload),
        payload_encoding: encoding,
        key_id: isSealed(encoding) ? context.connectionUid : null,
        payload_hash: fields.hash,
        previous_hash: fields.previousHash,
        changed_fields: null,
        first_seen_at: fields.firstSeenAt,
        last_modified_at: fields.modifiedAt,
        deleted_at: fields.deletedAt,
        pruned_at: fields.prunedAt,
        sync_name: context.syncName,
        delete_pass_id: context.passId,
      };
      const payload = { bytes: fields.payload, encoding } as const;
      const encoded = encoder.encode(encodeContext(context), fields, payload);
      expect(encoded.equals(codec.encode(change))).toBe(true);
    };
    fc.assert(fc.property(aChange, holds), { seed, numRuns: 200 });
  });

  it('has an id that is a uuid of stream, generation and seq', () => {
    const ids = new ChangeIds('stream', 'generation');
    const known = [1, 2, 10, 123_456_789, 2 ** 48 - 1].map((seq) => ids.of(seq));
    for (const id of known) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    const others = [new ChangeIds('stream', 'other'), new ChangeIds('other', 'generation')];
    expect(new Set([...known, ...others.map((other) => other.of(1))]).size).toBe(7);
    expect(new ChangeIds('stream', 'generation').of(10)).toBe(ids.of(10));
  });
});
