import { encodePublic } from '../../../src/control-plane/public-message.ts';
import { deadLettersTopic } from '../../../src/control-plane/wire.ts';
import { GatewayError } from '../../../src/kernel/errors.ts';
import { splitKey } from '../../../src/kernel/ids.ts';
import type { RecordCommandValue } from '../../../src/modules/records/commands.ts';
import type { Message, Position, ReadMessage } from '../../../src/ports/event-log.ts';
import { recordOwnersGroup, type Shared } from './deps.ts';

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
  const [environmentUid = ''] = environmentOf(message.key);
  const value = {
    consumer: recordOwnersGroup,
    ...place,
    attempts,
    error_code: failure instanceof GatewayError ? failure.code : 'server_error',
    error_message: failure instanceof Error ? failure.name : 'Error',
    key: Buffer.from(message.key),
    value: message.value === null ? null : Buffer.from(message.value),
    headers: mapHeaders(message),
  };
  const about = {
    topic: deadLettersTopic,
    key: message.key,
    type: 'svc.dead-letter.added',
    environmentUid,
    ...(command === null ? {} : namesOf(command)),
    value,
  };
  const said = {
    at: clock.nowMicros(),
    actor: command?.actor ?? 'system',
    causationId: command?.command_id ?? null,
  };
  return encodePublic(about, said, deadLetterCodec);
}

function namesOf({ integration, connection_id: connectionId, run_id: runId }: RecordCommandValue) {
  return { integration, connectionId, ...(runId === null ? {} : { runId }) };
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
