import { encodePublic } from '#control-plane/public-message.ts';
import { GatewayError } from '#kernel/errors.ts';
import { splitKey } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { retrying } from '#kernel/retry.ts';
import type { Clock } from '#kernel/time.ts';
import type { ReadMessage, Message, Position } from '#ports/event-log.ts';
import { deadLetterHeader } from '#streams/dead-letters/events.ts';
import { deadLetterStepMessage, stepMessage } from '#streams/dead-letters/messages.ts';
import {
  recordCommandsTopic,
  retentionPreview,
  type RecordCommandValue,
  type RetentionPreviewArgs,
} from '../../model/commands.ts';
import { type OwnerServices, recordOwnersGroup } from '../deps.ts';
import { isKeyGone } from '../encryption.ts';
import { newRun, putRun, snapshot, type StreamState } from '../state/stream-state.ts';
import type { Streams } from '../state/streams.ts';
import {
  remove,
  save,
  update,
  revert,
  barrier,
  close,
  empty,
  lookup,
  prune,
  strategy,
} from './decide-records.ts';
import { decide, isKeyless, kindOf, refused, type Rules, type Handlers } from './decide.ts';
import { deletedKeys, passEnd, passStart } from './delete-tracking.ts';
import { preview } from './retention.ts';
import type { Answer } from './round.ts';

const firstMs = 10;

export interface DecisionContext {
  readonly services: OwnerServices;
  readonly partition: number;
  readonly rules: Rules;
  readonly streams: Streams;
}

/**
 * Decides the command, or a slice of it (`more`). A command that fails five times is parked, and the barrier of its run
 * fails.
 * @throws the error of the state store: the partition must be acquired again
 */
export async function decideCommand(
  context: DecisionContext,
  message: ReadMessage,
  decoded: DecodedCommand,
): Promise<'done' | 'more'> {
  let failure: unknown = decoded.failure;
  if (decoded.command !== null) {
    const { command } = decoded;
    const isRetryable = (error: unknown, attempts: number): boolean =>
      !isOfStore(error) && attempts < limits.deadLetterFailures;
    try {
      return await retrying(() => attemptOne(context, message, command), { isRetryable, firstMs });
    } catch (error) {
      if (isOfStore(error)) throw error;
      failure = error;
    }
  }
  setAside(context, message, decoded.command, failure);
  return 'done';
}

interface DecodedCommand {
  readonly command: RecordCommandValue | null;
  readonly failure?: unknown;
}

export function decode({ commandCodec }: OwnerServices, message: ReadMessage): DecodedCommand {
  try {
    if (message.value === null) throw new Error('The command is empty.');
    return { command: commandCodec.decode(message.value) };
  } catch (failure) {
    return { command: null, failure };
  }
}

async function attemptOne(
  context: DecisionContext,
  message: ReadMessage,
  command: RecordCommandValue,
): Promise<'done' | 'more'> {
  const { rules, services, streams } = context;
  if (command.kind === retentionPreview) {
    const args = JSON.parse(command.args ?? '{}') as RetentionPreviewArgs;
    const { store } = rules.changes;
    const body = await preview(services, { store, streams }, command.environment_id, args);
    reply(context, command, { outcome: 'done', body });
    return 'done';
  }
  const isRefused = await isGone(context, command);
  const deadLetter = deadLetterOf(message);
  return undoable(context, message.key, command, (stream) => {
    const answer = isRefused
      ? refused('stream_closed', 'The data key of the connection was destroyed.')
      : decide(handlers, rules, stream, command, {
          offset: message.offset,
          isRetry: deadLetter !== null,
        });
    if (answer === 'more') return 'more';
    reply(context, command, answer);
    if (deadLetter !== null) {
      const refusal = answer.outcome === 'refused' ? answer.error : null;
      reportRetried(context, { letter: deadLetter, message, command, attempts: 1 }, { refusal });
    }
    return 'done';
  });
}

/** When it throws, its effects on the state, the round and the stream are undone. */
function undoable<T>(
  { rules: { changes }, streams }: DecisionContext,
  key: string,
  command: RecordCommandValue,
  part: (stream: StreamState) => T,
): T {
  const { store, round } = changes;
  store.savepoint();
  streams.begin();
  const decided = round.changes.length;
  let before: { readonly stream: StreamState; readonly copy: StreamState } | null = null;
  try {
    const stream = streams.of(key, command);
    before = { stream, copy: snapshot(stream) };
    const result = part(stream);
    store.keep();
    round.touched.add(stream);
    return result;
  } catch (error) {
    round.changes.length = decided;
    if (before !== null) Object.assign(before.stream, before.copy);
    streams.undo();
    store.undo();
    throw error;
  }
}

/** A destroyed key is final: no further save for its connection. */
async function isGone(
  { services }: DecisionContext,
  command: RecordCommandValue,
): Promise<boolean> {
  const isDestroyed = await isKeyGone(services.vault, command.connection_uid);
  return isDestroyed && isKeyless[kindOf(handlers, command)] !== true;
}

function reply({ rules }: DecisionContext, command: RecordCommandValue, answer: Answer): void {
  const { reply_to: node, command_id: commandId } = command;
  if (node !== null) rules.changes.round.replies.push({ commandId, node, answer });
}

type RetriedMessageInput = Parameters<typeof retriedMessage>;

function reportRetried(
  { services, partition, rules }: DecisionContext,
  ref: Omit<RetriedMessageInput[1], 'place'>,
  outcome: RetriedMessageInput[2],
): void {
  const position = { topic: recordCommandsTopic, partition, offset: ref.message.offset };
  rules.changes.round.deadLetters.push(
    retriedMessage(services, { ...ref, place: position }, outcome),
  );
}

function setAside(
  context: DecisionContext,
  message: ReadMessage,
  command: RecordCommandValue | null,
  failure: unknown,
): void {
  const { services, partition, rules } = context;
  const position = { topic: recordCommandsTopic, partition, offset: message.offset };
  services.logger.error({ err: failure, ...position }, 'a command of records is set aside');
  const attempts = command === null ? 1 : limits.deadLetterFailures;
  const deadLetter = deadLetterOf(message);
  if (deadLetter !== null)
    reportRetried(context, { letter: deadLetter, message, command, attempts }, { failure });
  else {
    const parts = { message, command, place: position, attempts, failure };
    rules.changes.round.deadLetters.push(deadLetterMessage(services, parts));
  }
  if (command === null) return;
  undoable(context, message.key, command, (stream) => {
    stream.job = null;
    if (deadLetter === null) noteFailure(stream, command, rules.changes.now);
  });
  reply(context, command, refused('command_dead_lettered'));
}

function noteFailure(stream: StreamState, command: RecordCommandValue, at: number): void {
  const { run_id: runId, attempt, n } = command;
  if (runId === null) return;
  const run = stream.runs.get(runId) ?? newRun(runId, attempt);
  if (run.attempt > attempt) return;
  const failure = `A ${command.kind} of ${command.ids.length} records could not be processed and was set aside.`;
  const refusal = { refused: new GatewayError('command_dead_lettered').toJSON() };
  putRun(stream, {
    ...run,
    attempt,
    last_n: run.attempt === attempt ? Math.max(n, run.last_n) : n,
    answer: JSON.stringify(refusal),
    failures: [...run.failures, failure],
    last_at: at,
  });
}

/** Failures of SQLite itself (a full disk, a corrupt file) are not caused by the command. */
function isOfStore(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

const handlers: Handlers = {
  save,
  update,
  delete: remove,
  pass_start: passStart,
  pass_end: passEnd,
  deleted_keys: deletedKeys,
  lookup,
  strategy,
  prune,
  revert,
  empty,
  close,
  barrier,
};

/** Message about a command that could not be decided. */
function deadLetterMessage(
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
const deadLetterOf = ({ headers }: ReadMessage): string | null => headers[deadLetterHeader] ?? null;

/** Message about the outcome of a retry by an operator. */
function retriedMessage(
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
