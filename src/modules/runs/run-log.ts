import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { PublicMessage } from '../../control-plane/entity.ts';
import { currentTrace } from '../../control-plane/trace.ts';
import { joinKey } from '../../kernel/ids.ts';
import { scrub } from './events.ts';
import type { Publisher } from './publisher.ts';

export const logLevels = ['debug', 'info', 'warn', 'error', 'off'] as const;
/** Entries below it are dropped; `off` drops all. */
export type LoggerLevel = (typeof logLevels)[number];
type EntryLevel = Exclude<LoggerLevel, 'off'>;
export type OperationState = 'running' | 'success' | 'failed' | 'cancelled' | 'timeout';

/** What a log operation is about. */
interface OperationOf {
  /** Of a run it is the run's id. */
  readonly operationId: string;
  /** For example `sync:run`. */
  readonly operationType: string;
  readonly environmentUid: string;
  readonly integration: string;
  readonly connectionId: string;
  readonly runId?: string;
}

/** One operation of the log that users read. Nothing here waits or fails: logging never fails a run. */
export interface Operation {
  /** Kept whatever its level: the caller has filtered what user code wrote. */
  write(level: EntryLevel, message: string, contextJson?: string | null): void;
  end(state: OperationState, message: string): void;
}

export interface RunLogs extends AsyncDisposable {
  begin(of: OperationOf, message: string): Operation;
  /** An operation that has ended already, as one entry. `contextJson` may hold no secret. */
  note(of: OperationOf, state: OperationState, message: string, contextJson: string): void;
  /** Resolves when everything written so far is in the log, or was given up. */
  flush(): Promise<void>;
}

/** Entries waiting for the event log; beyond it new ones are dropped and the drop is logged. */
const waitingMax = 10_000;
/** Entries of so long travel together: a run must not pay for its log. */
const collectMs = 100;
const contextBytesMax = 16 * 1024;
const messageCharsMax = 99_000;

/** Appends operations and their messages to `svc.logs.v1`, in batches and in the background. */
export function createRunLogs(publisher: Publisher, logger: Logger): RunLogs {
  let waiting: PublicMessage[] = [];
  let dropped = 0;
  let sending: Promise<void> | null = null;

  const send = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await publisher.publish(batch, 'system').catch((error: unknown) => {
        logger.warn({ err: error, entries: batch.length }, 'log entries were lost');
      });
    }
    sending = null;
  };
  const add = (message: PublicMessage): void => {
    if (waiting.length >= waitingMax) {
      if (dropped++ === 0) logger.warn('log entries are dropped: the event log is behind');
      return;
    }
    dropped = 0;
    waiting.push(message);
    sending ??= wait(collectMs).then(send);
  };
  const flush = async (): Promise<void> => {
    while (sending !== null) await sending;
  };

  return {
    begin(of, message) {
      const trace = currentTrace();
      const say = (...said: Parameters<typeof entry>): void => add({ ...entry(...said), trace });
      say(of, 'info', message, { operation_type: of.operationType, state: 'running' });
      return {
        write: (level, text, context) => say(of, level, text, { context: cut(context) }),
        end(state, text) {
          const level = state === 'success' ? 'info' : 'error';
          say(of, level, text, { operation_type: of.operationType, state });
        },
      };
    },
    note(of, state, message, contextJson) {
      const level = state === 'success' ? 'info' : 'error';
      const more = { operation_type: of.operationType, state, context: cut(contextJson) };
      add({ ...entry(of, level, message, more), trace: currentTrace() });
    },
    flush,
    [Symbol.asyncDispose]: flush,
  };
}

function entry(
  of: OperationOf,
  level: EntryLevel,
  message: string,
  more: Readonly<Record<string, string | null>>,
): PublicMessage {
  const { environmentUid, integration, connectionId, runId, operationId } = of;
  const value = {
    operation_id: operationId,
    level,
    message: message.slice(0, messageCharsMax),
    operation_type: null,
    state: null,
    context: null,
    ...more,
  };
  return {
    topic: 'svc.logs.v1',
    key: joinKey(environmentUid, operationId),
    type: 'svc.log.entry',
    environmentUid,
    integration,
    connectionId,
    ...(runId === undefined ? {} : { runId }),
    value,
  };
}

/** JSON beyond the limit is kept as its beginning: a JSON string, so that the field stays JSON. */
function cut(context: string | null | undefined): string | null {
  if (context == null || Buffer.byteLength(context) <= contextBytesMax) return context ?? null;
  return JSON.stringify({ cut: scrub(context) });
}
