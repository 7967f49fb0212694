import { endsOf } from '#control-plane/consume.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { RecordReader } from './reader.ts';

const runsTopic = 'svc.runs.v1';
const recordsTopic = 'svc.records.v1';

/** Usually some hundred milliseconds. */
const readableWithinMs = 2_000;

interface LogPosition {
  readonly partition: number;
  readonly offset: number;
}

/**
 * The end of an ended run's changes on `svc.records.v1`: at each of the positions, or, where only the position of its
 * end on `svc.runs.v1` is known, before the end of the log at that time. Null: it ended without a report.
 */
export type ChangesEnd =
  | { readonly places: readonly LogPosition[] }
  | { readonly reportedAt: LogPosition }
  | null;

/** Whether all changes of ended runs are readable; null where their end is unknown. */
export interface ReadableRuns {
  /**
   * The current state, with at most one query.
   * @throws GatewayError `projection_unavailable`, `log_unavailable`
   */
  now(ends: readonly ChangesEnd[]): Promise<(boolean | null)[]>;
  /**
   * Waits until they are readable, for two seconds at most in total.
   * @throws as `now`
   */
  soon(ends: readonly ChangesEnd[]): Promise<(boolean | null)[]>;
}

/**
 * The end of the changes of a run with a report: a successful run has reported all, another may lack a model whose
 * owner did not reply.
 */
export function changesEnd({
  status,
  models,
  positions,
}: {
  readonly status: string;
  readonly models: readonly string[];
  readonly positions: readonly (LogPosition & { readonly model: string })[];
}): ChangesEnd {
  const isWhole = models.every((model) => positions.some((position) => position.model === model));
  return status === 'succeeded' || isWhole ? { places: positions } : null;
}

export function createReadableRuns(deps: {
  readonly log: Pick<EventLog, 'endOffsets'>;
  readonly reader: Pick<RecordReader, 'published' | 'reached'>;
}): ReadableRuns {
  const { log, reader } = deps;
  /**
   * Ends of both topics at one time: changes of a run that ended before these ends of runs are before those of records.
   */
  let seen: {
    readonly runs: readonly LogPosition[];
    readonly records: readonly LogPosition[];
  } | null = null;

  const placesOf = async (end: ChangesEnd): Promise<readonly LogPosition[] | null> => {
    if (end === null) return null;
    if ('places' in end) return end.places;
    const { partition, offset } = end.reportedAt;
    if (seen === null || offset >= (seen.runs[partition]?.offset ?? 0)) {
      // In this order.
      const runs = await endsOf(log, runsTopic);
      seen = { runs, records: await endsOf(log, recordsTopic) };
    }
    return seen.records;
  };
  const isReadableWithin = async (position: LogPosition, late: AbortSignal): Promise<boolean> => {
    try {
      await reader.published(position.partition, position.offset, late);
      return true;
    } catch (error) {
      if (late.aborted) return false;
      throw error;
    }
  };

  return {
    async now(ends) {
      // One after the other: the first read of the ends of the log serves all.
      const found: (readonly LogPosition[] | null)[] = [];
      for (const end of ends) found.push(await placesOf(end));
      const isAsked = found.some((places) => places !== null && places.length > 0);
      const reached = isAsked ? await reader.reached() : [];
      const isReadable = ({ partition, offset }: LogPosition): boolean =>
        (reached[partition] ?? 0) >= offset;
      return found.map((places) => places?.every(isReadable) ?? null);
    },
    async soon(ends) {
      const late = AbortSignal.timeout(readableWithinMs);
      const isReadable = (position: LogPosition): Promise<boolean> =>
        isReadableWithin(position, late);
      return Promise.all(
        ends.map(async (end) => {
          const places = await placesOf(end);
          return places === null
            ? null
            : (await Promise.all(places.map(isReadable))).every(Boolean);
        }),
      );
    },
  };
}
