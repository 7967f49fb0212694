import type { Logger } from 'pino';
import type { PublicMessage } from '#control-plane/entity.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import { currentTrace } from '#control-plane/trace.ts';
import { joinKey } from '#kernel/ids.ts';
import { redactJson, redactText } from '#kernel/redact.ts';
import { scrub } from '#kernel/scrub.ts';
import type { Clock, Micros } from '#kernel/time.ts';
import type {
  EntryLevel,
  NotedOperation,
  Operation,
  OperationLogs,
  OperationOf,
  OperationOutcome,
  OperationState,
} from '#ports/operation-log.ts';
import type { PublishedValues } from '#streams/values.ts';

/** Limit of entries that wait for the event log; further entries are dropped, which is logged. */
const waitingMax = 10_000;
/** Entries are batched by this time or number, so that neither runs nor proxied calls wait for their log. */
const collectMs = 250;
const collectMax = 1_000;
const contextBytesMax = 16 * 1024;
const messageCharsMax = 99_000;

/** Appends operations and their messages to `svc.logs.v1`, in batches and in the background. */
export function createOperationLogs({
  publisher,
  logger,
  clock,
  ended = () => undefined,
}: {
  readonly publisher: Publisher;
  readonly logger: Pick<Logger, 'warn'>;
  readonly clock: Pick<Clock, 'nowMicros'>;
  /** Called at the end of each operation and of each logged attempt. */
  readonly ended?: (outcome: OperationOutcome) => void;
}): OperationLogs {
  const batches = inBatches(publisher, logger);
  const add = (message: PublicMessage): void => batches.add(() => message);
  const flush = (): Promise<void> => batches.flush();
  return {
    begin: (operationOf, message) => begun(operationOf, message, { add, clock, ended }),
    note(operation, noted) {
      const { state, tookMs, providerStatus = null } = noted;
      ended(outcomeOf(operation, { state, tookMs, providerStatus }));
      const at = clock.nowMicros();
      const trace = currentTrace();
      batches.add(() => notedEntry(operation, noted, at, trace));
    },
    flush,
    [Symbol.asyncDispose]: flush,
  };
}

function notedEntry(
  operationOf: OperationOf,
  { state, text, contextJson, tookMs }: NotedOperation,
  at: Micros,
  trace: string,
): PublicMessage {
  const logEntry = { at, level: state === 'running' ? 'warn' : levelOf(state), text } as const;
  const more = {
    operation_type: operationOf.operationType,
    started_at: at - Math.round(tookMs * 1000),
    state,
    context: cut(contextJson),
  };
  return entry(operationOf, logEntry, more, trace);
}

function outcomeOf(
  { operationType, runId, integration }: OperationOf,
  ref: Pick<OperationOutcome, 'state' | 'tookMs' | 'providerStatus'> & {
    readonly isInterrupted?: boolean;
  },
): OperationOutcome {
  const { state, tookMs, providerStatus, isInterrupted = false } = ref;
  const outcome = { operationType, integration, state, tookMs, isInterrupted, providerStatus };
  return runId === undefined ? outcome : { ...outcome, runId };
}

/** Publishes entries in the background; entries that arrive during the append of a batch form the next batch. */
function inBatches(publisher: Publisher, logger: Pick<Logger, 'warn'>) {
  let waiting: (() => PublicMessage)[] = [];
  let dropped = 0;
  let sending: Promise<void> | null = null;
  let isHurried = false;
  let sendNow = (): void => undefined;

  const collected = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, collectMs);
      sendNow = () => {
        clearTimeout(timer);
        resolve();
      };
      if (isHurried || waiting.length >= collectMax) sendNow();
    });
  const send = async (): Promise<void> => {
    while (waiting.length > 0) {
      await collected();
      const batch = waiting;
      waiting = [];
      const messages = batch.map((made) => made());
      await publisher.publish(messages, 'system').catch((error: unknown) => {
        logger.warn({ err: error, entries: batch.length }, 'log entries were lost');
      });
    }
    sending = null;
  };
  return {
    /** @param made creates the entry when the batch is written */
    add(made: () => PublicMessage): void {
      if (waiting.length >= waitingMax) {
        if (dropped++ === 0) logger.warn('log entries are dropped: the event log is behind');
        return;
      }
      dropped = 0;
      waiting.push(made);
      sending ??= send();
      if (waiting.length >= collectMax) sendNow();
    },
    async flush(): Promise<void> {
      isHurried = true;
      sendNow();
      while (sending !== null) await sending;
      isHurried = false;
    },
  };
}

interface LogEntry {
  readonly add: (message: PublicMessage) => void;
  readonly clock: Pick<Clock, 'nowMicros'>;
  readonly ended: (outcome: OperationOutcome) => void;
}

function begun(
  operationOf: OperationOf,
  message: string,
  { add, clock, ended }: LogEntry,
): Operation {
  const trace = currentTrace();
  const ends = { operation_type: operationOf.operationType, started_at: clock.nowMicros() };
  const say = (level: EntryLevel, text: string, more: EntryFields): void =>
    add(entry(operationOf, { at: clock.nowMicros(), level, text }, more, trace));
  say('info', message, { ...ends, state: 'running' });
  return {
    write(level, text, context, source = 'internal') {
      const kept = context == null ? null : cut(redactJson(context));
      say(level, redactText(text), { context: kept, source });
    },
    end(state, text, { isInterrupted } = { isInterrupted: false }) {
      const tookMs = (clock.nowMicros() - ends.started_at) / 1000;
      ended(outcomeOf(operationOf, { state, tookMs, isInterrupted, providerStatus: null }));
      say(levelOf(state), text, { ...ends, state });
    },
  };
}

const levelOf = (state: OperationState): EntryLevel =>
  state === 'success' || state === 'running' ? 'info' : 'error';

type EntryFields = Partial<PublishedValues['svc.logs.v1']>;

function entry(
  operationOf: OperationOf,
  { at, level, text }: { readonly at: Micros; readonly level: EntryLevel; readonly text: string },
  more: EntryFields,
  trace: string,
): PublicMessage {
  const { environmentUid, integration, connectionId, runId, operationId, functionName } =
    operationOf;
  const value = {
    operation_id: operationId,
    level,
    message: text.slice(0, messageCharsMax),
    operation_type: null,
    state: null,
    context: null,
    started_at: null,
    function: functionName ?? null,
    source: 'internal',
    ...more,
  };
  return {
    topic: 'svc.logs.v1',
    key: joinKey(environmentUid, operationId),
    type: 'svc.log.entry',
    environmentUid,
    integration,
    connectionId,
    at,
    trace,
    value,
    ...(runId === undefined ? {} : { runId }),
  };
}

/** JSON beyond the limit is truncated and stored as a JSON string, so that the field is valid JSON. */
function cut(context: string): string {
  const bytesMax = 3 * context.length;
  if (bytesMax <= contextBytesMax || Buffer.byteLength(context) <= contextBytesMax) return context;
  return JSON.stringify({ cut: scrub(context) });
}
