import { encodePart, uuidV7, joinKey } from '#kernel/ids.ts';
import type { PublicFields } from '#kernel/public-fields.ts';
import { isoMicros, type Micros } from '#kernel/time.ts';
import type { Message } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import type { DecisionMeta, PublicMessage } from './entity.ts';
import { currentTrace, traceHeader } from './trace.ts';

/** The values of any public topic. */
export type PublicCodec = Codec<Readonly<Record<string, unknown>>>;

/** The message with the headers and fields common to all public messages (docs/reference/topics.md#messages). */
export function encodePublic(
  message: PublicMessage,
  fields: {
    readonly at: Micros;
    readonly actor: string;
    /** The command that it follows from; null = none. */
    readonly causationId: string | null;
  },
  codec: PublicCodec,
): Message {
  const { key, type, environmentUid, integration, connectionId, runId, value } = message;
  const { at, actor, causationId } = fields;
  const id = uuidV7(Math.floor(at / 1000));
  const headers: Record<string, string> = {
    ce_specversion: '1.0',
    ce_id: id,
    ce_type: type,
    ce_source: sourceOf(message),
    ce_subject: key,
    ce_time: isoMicros(at),
    ce_correlationid: runId ?? causationId ?? id,
  };
  if (causationId !== null) headers['ce_causationid'] = causationId;
  headers[traceHeader] = message.trace ?? currentTrace();
  if (value === null) return { key, value: null, headers };
  const common: PublicFields = {
    event_id: id,
    type,
    occurred_at: at,
    environment_id: environmentUid,
    integration: integration ?? null,
    connection_id: connectionId ?? null,
    actor,
    run_id: runId ?? null,
  };
  headers['ce_dataschema'] = `urn:svc:schema:${message.topic}-value`;
  headers['content-type'] = 'application/avro';
  return { key, value: codec.encode({ ...common, ...value }), headers };
}

let last = { environmentUid: '', integration: '', connectionId: '', source: '' };

/** Cached for the last connection: messages of one connection come in long runs. */
function sourceOf(message: PublicMessage): string {
  const { environmentUid, integration = '', connectionId = '' } = message;
  const isSame =
    last.environmentUid === environmentUid &&
    last.integration === integration &&
    last.connectionId === connectionId;
  if (!isSame) {
    last = { environmentUid, integration, connectionId, source: writeSource(message) };
  }
  return last.source;
}

function writeSource({ environmentUid, integration, connectionId }: PublicMessage): string {
  let source = `/environments/${encodePart(environmentUid)}`;
  if (integration !== undefined) source += `/integrations/${encodePart(integration)}`;
  if (connectionId !== undefined) source += `/connections/${encodePart(connectionId)}`;
  return source;
}

/** What `svc.config.v1` shows of an entity. */
interface ConfigEntry {
  /** Unique among the entities of its kind. */
  readonly id: readonly string[];
  readonly environmentUid: string;
  readonly integration?: string;
  /** Without secrets. */
  readonly document: Readonly<Record<string, unknown>>;
}

/**
 * Publishes an entity on `svc.config.v1` after each event, and a tombstone after its deletion
 * (docs/reference/topics.md#svcconfigv1). `revision` is the time of the decision, which grows with each decision on an
 * entity.
 * @param actions by type of the event
 */
export const publishConfig =
  <S extends object, E extends { type: string }>(
    kind: string,
    actions: Readonly<Record<E['type'], string>>,
    entryOf: (subject: S) => ConfigEntry,
  ) =>
  (
    event: E,
    before: S | null,
    after: S | null,
    meta: DecisionMeta,
  ): PublicMessage<'svc.config.v1'>[] => {
    const subject = after ?? before;
    if (subject === null) return [];
    const { id, environmentUid, integration, document } = entryOf(subject);
    const action = actions[event.type as E['type']];
    const base = {
      topic: 'svc.config.v1' as const,
      key: joinKey(kind, ...id),
      type: `svc.${kind}.${action}`,
      environmentUid,
      ...(integration === undefined ? {} : { integration }),
    };
    const value = { kind, action, document: JSON.stringify(document), revision: meta.at };
    const message = { ...base, value };
    return after === null ? [message, { ...base, value: null }] : [message];
  };
