import { z } from 'zod';
import { timestamp } from '#http/responses.ts';
import { isoMicros, isoMicrosOrNull } from '#kernel/time.ts';
import type { RecordChange } from '#modules/records/model/events.ts';
import type { partsOfKey } from '#modules/records/projection/batch.ts';
import type { MessagePlace } from './fields.ts';
import { placeText } from './position.ts';

/** ISO 8601 with microseconds and offset. */
const micros = timestamp.meta({ examples: ['2026-02-01T08:00:00.000000+00:00'] });

/** A change of a record as the feed shows it. */
export const changeShape = z
  .strictObject({
    id: z
      .string()
      .nullable()
      .describe('The same wherever the change comes again: take each once. Null: see `action`.'),
    place: z
      .string()
      .meta({ examples: ['3-1042'] })
      .describe('Where the log has it; a subscription parks it by this.'),
    action: z
      .enum(['added', 'updated', 'deleted', 'pruned', 'restored', 'purged'])
      .describe(
        'What the change did. `purged` removes the record and its history; where the log has only the mark of it left, all but `connection_uid`, `model`, `variant` and `record_id` may be null.',
      ),
    at: micros.nullable().describe('When it was decided.'),
    provider_config_key: z.string().nullable(),
    connection_id: z.string().nullable(),
    connection_uid: z
      .string()
      .describe(
        'Uid of the connection, never used again. With `model`, `variant` and `record_id` it is the key of a row.',
      ),
    model: z.string(),
    variant: z.string(),
    record_id: z.string().meta({ description: 'Id of the record.', examples: ['c-1'] }),
    seq: z
      .int()
      .nullable()
      .describe(
        'Number of the change among those of its connection, model and variant, from 1 on without holes.',
      ),
    version: z.int().nullable().describe('Number of the change in the life of the record.'),
    actor: z
      .string()
      .nullable()
      .meta({ examples: ['run:0192f0c1-7a3b-7c4d-8e5f-001122334455'] })
      .describe('Who caused it.'),
    run_id: z.string().nullable(),
    sync: z.string().nullable().describe('The sync whose run caused it; null without one.'),
    first_seen_at: micros.nullable(),
    last_modified_at: micros.nullable(),
    deleted_at: micros.nullable(),
    pruned_at: micros.nullable(),
    record: z
      .looseObject({ id: z.string().describe('Id of the record, which the function saved.') })
      .nullable()
      .describe(
        'The whole record after the change; null when it was pruned or purged, or its connection is deleted.',
      ),
  })
  .meta({ id: 'Change' });

type ShownChange = z.output<typeof changeShape>;

/** As JSON: the record is passed on as it was saved, with every digit of its numbers. */
export function changeText(
  change: RecordChange,
  place: MessagePlace,
  payload: Buffer | null,
): string {
  const shown: Omit<ShownChange, 'record'> = {
    id: change.event_id,
    place: placeText(place),
    action: change.action,
    at: isoMicros(change.occurred_at),
    provider_config_key: change.integration,
    connection_id: change.connection_id,
    connection_uid: change.connection_uid,
    model: change.model,
    variant: change.variant,
    record_id: change.record_id,
    seq: change.stream_seq,
    version: change.version,
    actor: change.actor,
    run_id: change.run_id,
    sync: change.sync_name,
    first_seen_at: isoMicros(change.first_seen_at),
    last_modified_at: isoMicros(change.last_modified_at),
    deleted_at: isoMicrosOrNull(change.deleted_at),
    pruned_at: isoMicrosOrNull(change.pruned_at),
  };
  return withRecord(shown, payload === null ? 'null' : payload.toString());
}

/** What the key of a tombstone says. */
export type KeyParts = NonNullable<ReturnType<typeof partsOfKey>>;

/** The connection of a tombstone; null: it is deleted. */
export interface ConnectionNames {
  readonly integrationKey: string;
  readonly connectionId: string;
}

/** Of a record of which the log has only the tombstone. */
export function purgedText(
  { connectionUid, model, variant, recordId }: KeyParts,
  place: MessagePlace,
  connection: ConnectionNames | null,
): string {
  const shown: Omit<ShownChange, 'record'> = {
    id: null,
    place: placeText(place),
    action: 'purged',
    at: null,
    provider_config_key: connection?.integrationKey ?? null,
    connection_id: connection?.connectionId ?? null,
    connection_uid: connectionUid,
    model,
    variant,
    record_id: recordId,
    seq: null,
    version: null,
    actor: null,
    run_id: null,
    sync: null,
    first_seen_at: null,
    last_modified_at: null,
    deleted_at: null,
    pruned_at: null,
  };
  return withRecord(shown, 'null');
}

const withRecord = (shown: Omit<ShownChange, 'record'>, record: string): string =>
  `${JSON.stringify(shown).slice(0, -1)},"record":${record}}`;
