import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../../src/kernel/errors.ts';
import { splitKey } from '../../../src/kernel/ids.ts';
import type { RecordCommandValue } from '../../../src/modules/records/commands.ts';
import type { Message, Position, ReadMessage } from '../../../src/ports/event-log.ts';
import { recordOwnersGroup, type Shared } from './deps.ts';

const type = 'svc.dead-letter.created';

/** What operators are told of a command that could not be decided. */
export function deadLetterMessage(
  { deadLetterCodec, clock }: Shared,
  letter: {
    readonly message: ReadMessage;
    readonly command: RecordCommandValue | null;
    readonly place: Position;
    readonly attempts: number;
    readonly failure: unknown;
  },
): Message {
  const { message, command, place, attempts, failure } = letter;
  const id = randomUUID();
  const [environmentUid = ''] = environmentOf(message.key);
  const value = deadLetterCodec.encode({
    event_id: id,
    type,
    occurred_at: clock.nowMicros(),
    environment_id: environmentUid,
    integration: command?.integration ?? null,
    connection_id: command?.connection_id ?? null,
    actor: command?.actor ?? 'system',
    run_id: command?.run_id ?? null,
    consumer: recordOwnersGroup,
    ...place,
    attempts,
    error_code: failure instanceof GatewayError ? failure.code : 'server_error',
    error_message: failure instanceof Error ? failure.name : 'Error',
    key: Buffer.from(message.key),
    value: message.value === null ? null : Buffer.from(message.value),
    headers: mapHeaders(message),
  });
  const headers = {
    ce_specversion: '1.0',
    ce_id: id,
    ce_type: type,
    ce_source: '/owners/records',
    'content-type': 'application/avro',
  };
  return { key: message.key, value, headers };
}

/** A key that is none of ours is kept as it is. */
function environmentOf(key: string): string[] {
  try {
    return splitKey(key);
  } catch {
    return [key];
  }
}

function mapHeaders({ headers }: ReadMessage): Record<string, Buffer> {
  const entries = Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]);
  return Object.fromEntries(entries) as Record<string, Buffer>;
}
