import { setTimeout as wait } from 'node:timers/promises';
import type { PublicMessage } from '#control-plane/entity.ts';
import type { ProcessPorts } from '#control-plane/ports.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import { currentTrace } from '#control-plane/trace.ts';
import { joinKey } from '#kernel/ids.ts';
import { scrub } from '#kernel/scrub.ts';
import { quietEntry, quietStep, type RunKind, type RunStep, type TimelineEntry } from './events.ts';

/** What one attempt of a run does, for its history; the time is added. Nothing here waits or fails. */
export type Note = Partial<Omit<TimelineEntry, 'at'>> & Pick<TimelineEntry, 'what'>;
export type Timeline = (note: Note) => void;

/** The attempt that a timeline is of. */
export interface TimelineOf {
  readonly kind: RunKind;
  readonly runId: string;
  readonly attempt: number;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly variant: string;
  readonly models: readonly string[];
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly connectionUid: string;
}

export interface Timelines extends AsyncDisposable {
  of(attempt: TimelineOf): Timeline;
}

/** Entries that one attempt may leave: a sync of a day must not fill the ledger. What comes after is counted. */
const entriesMax = 1000;
/** Entries of this time are sent together. */
const collectMs = 250;
/** Entries in one message. */
const entriesPerMessage = 100;

/** Appends what runs do to `svc.runs.v1` as steps `progress`, in batches and in the background. */
export function createTimelines(
  deps: ProcessPorts & {
    readonly publisher: Publisher;
  },
): Timelines {
  const { publisher, clock, logger } = deps;
  let waiting: { readonly of: TimelineOf; readonly trace: string; entries: TimelineEntry[] }[] = [];
  let sending: Promise<void> | null = null;

  const send = async (): Promise<void> => {
    while (waiting.length > 0) {
      const messages = waiting.flatMap(({ of: timelineOf, trace, entries }) =>
        messagesOf(timelineOf, trace, entries),
      );
      waiting = [];
      await publisher.publish(messages, 'system').catch((error: unknown) => {
        logger.warn({ err: error, messages: messages.length }, 'parts of timelines were lost');
      });
    }
    sending = null;
  };

  return {
    of(attempt) {
      let left = entriesMax;
      let slot: { entries: TimelineEntry[] } | null = null;
      return (note) => {
        if (left-- <= 0) return;
        const isLast = left === 0;
        const shownNote = isLast ? { what: 'truncated' } : note;
        const message = shownNote.message == null ? null : scrub(shownNote.message);
        const entry = { ...quietEntry, ...shownNote, message, at: clock.nowMicros() };
        if (slot === null || !waiting.some((one) => one === slot)) {
          const opened = { of: attempt, trace: currentTrace(), entries: [] };
          slot = opened;
          waiting.push(opened);
        }
        slot.entries.push(entry);
        sending ??= wait(collectMs).then(send);
      };
    },
    async [Symbol.asyncDispose]() {
      while (sending !== null) await sending;
    },
  };
}

function messagesOf(
  timelineOf: TimelineOf,
  trace: string,
  entries: readonly TimelineEntry[],
): PublicMessage[] {
  const { environmentUid, integrationKey: integration, connectionId, runId } = timelineOf;
  const step: RunStep = {
    ...quietStep,
    kind: timelineOf.kind,
    function: timelineOf.functionName,
    function_version: timelineOf.functionVersion,
    action: 'progress',
    attempt: timelineOf.attempt,
    connection_uid: timelineOf.connectionUid,
    variant: timelineOf.variant,
    models: timelineOf.models,
    log_id: runId,
  };
  const count = Math.ceil(entries.length / entriesPerMessage);
  return Array.from({ length: count }, (_, n) => {
    const timeline = entries.slice(n * entriesPerMessage, (n + 1) * entriesPerMessage);
    return {
      topic: 'svc.runs.v1',
      key: joinKey(environmentUid, integration, connectionId, runId),
      partitionBy: joinKey(environmentUid, integration, connectionId),
      type: 'svc.run.progress',
      environmentUid,
      integration,
      connectionId,
      runId,
      trace,
      value: { ...step, timeline },
    };
  });
}
