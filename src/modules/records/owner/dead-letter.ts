import { encodePublic } from '#control-plane/public-message.ts';
import { GatewayError } from '#kernel/errors.ts';
import { splitKey } from '#kernel/ids.ts';
import type { Clock } from '#kernel/time.ts';
import type { Message, Position, ReadMessage } from '#ports/event-log.ts';
import { deadLetterHeader } from '#streams/dead-letters/events.ts';
import { deadLetterStepMessage, stepMessage } from '#streams/dead-letters/messages.ts';
import type { RecordCommandValue } from '../model/commands.ts';
import { recordOwnersGroup, type OwnerServices } from './deps.ts';

/** Message about a command that could not be decided. */
export function deadLetterMessage(
  { deadLetterCodec, clock }: OwnerServices,
  deadLetter: {
    readonly message: ReadMessage;
    readonly command: RecordCommandValue | null;
    readonly place: Position;
    readonly attempts: number;
    readonly failure: unknown;
  },
): Message {
  const { message, command, place, attempts, failure } = deadLetter;
  const about = aboutMessage(message, command);
  const failureFields = { ...errorOf(failure), attempts, headers: mapHeaders(message) };
  const bytes = {
    key: Buffer.from(message.key),
    value: message.value === null ? null : Buffer.from(message.value),
  };
  const set = deadLetterStepMessage(about, {
    consumer: recordOwnersGroup,
    ...place,
    ...failureFields,
    ...bytes,
  });
  return encodePublic(set, saidOf(clock, command), deadLetterCodec);
}

/** The dead letter that the message retries; null for a message that is not a retry. */
export const deadLetterOf = ({ headers }: ReadMessage): string | null =>
  headers[deadLetterHeader] ?? null;

/** Message about the outcome of a retry by an operator. */
export function retriedMessage(
  { deadLetterCodec, clock }: OwnerServices,
  letter: {
    readonly letter: string;
    readonly message: ReadMessage;
    readonly command: RecordCommandValue | null;
    readonly place: Position;
    /** Number of attempts. */
    readonly attempts: number;
  },
  outcome: { readonly refusal: GatewayError | null } | { readonly failure: unknown },
): Message {
  const { letter: id, message, command, place, attempts } = letter;
  const isDecided = 'refusal' in outcome;
  const refusal = isDecided ? outcome.refusal : null;
  const { error_code, error_message } = isDecided
    ? { error_code: refusal?.code ?? '', error_message: refusal?.message ?? '' }
    : errorOf(outcome.failure);
  const step = stepMessage(
    aboutMessage(message, command),
    { id, consumer: recordOwnersGroup, ...place },
    {
      type: isDecided ? 'svc.dead-letter.resolved' : 'svc.dead-letter.retry_failed',
      attempts,
      errorCode: error_code,
      errorMessage: error_message,
    },
  );
  return encodePublic(step, saidOf(clock, command), deadLetterCodec);
}

const errorOf = (failure: unknown) => ({
  error_code: failure instanceof GatewayError ? failure.code : 'server_error',
  // The name only: a message of a bug may quote values.
  error_message: failure instanceof Error ? failure.name : 'Error',
});

function aboutMessage({ key }: ReadMessage, command: RecordCommandValue | null) {
  const [environmentUid = ''] = environmentOf(key);
  return { key, environmentUid, ...(command === null ? {} : namesOf(command)) };
}

const saidOf = (clock: Clock, command: RecordCommandValue | null) => ({
  at: clock.nowMicros(),
  actor: command?.actor ?? 'system',
  causationId: command?.command_id ?? null,
});

function namesOf({ integration, connection_id: connectionId, run_id: runId }: RecordCommandValue) {
  return { integration, connectionId, ...(runId === null ? {} : { runId }) };
}

/** A key of unknown form stays unchanged. */
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
