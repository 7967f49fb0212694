import { GatewayError } from '#kernel/errors.ts';
import { retrying } from '#kernel/retry.ts';
import type { ModelPosition, ModelResult } from '#modules/records/model/events.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import type { WriteOrigin } from '#modules/records/write/writer.ts';
import type { Attempt } from '../ledger/events.ts';
import { failedAttempt, type Ending, type AttemptResult, type RunDeps } from './attempt.ts';

/** The writes of an attempt. */
export const originOf = ({ runId, number, functionName, actor }: Attempt): WriteOrigin => ({
  runId,
  attempt: number,
  syncName: functionName,
  actor,
});

/** The outcome of an attempt, with its changes in the streams of its models. */
export interface FinishedRun {
  readonly ending: Ending;
  readonly counts: readonly ModelResult[];
  readonly positions: readonly ModelPosition[];
}

/**
 * Sends a barrier to the stream of every declared model, used or not: the outcome of a run contains the decisions of
 * the owners, and a refusal after its acknowledgment fails the run.
 */
export async function finishRun(
  deps: RunDeps,
  run: {
    readonly streams: readonly Stream[];
    readonly origin: WriteOrigin;
    readonly ending: Ending;
    /** Nobody resumes from where it was. */
    readonly hasSucceeded: boolean;
  },
  signal: AbortSignal,
): Promise<FinishedRun> {
  const { streams, origin, ending, hasSucceeded } = run;
  if (ending.kind === 'interrupted') return { ending, counts: [], positions: [] };
  const end = { hasSucceeded };
  const answers = await Promise.allSettled(
    streams.map((stream) => retrying(() => deps.records.barrier(stream, origin, end), { signal })),
  );
  const counts: ModelResult[] = [];
  const positions: ModelPosition[] = [];
  let after: AttemptResult = ending;
  for (const [index, answer] of answers.entries()) {
    const model = streams[index]?.model ?? '';
    if (answer.status === 'rejected') {
      if (after.kind === 'ok') after = failedAttempt(answer.reason, deps.logger);
      continue;
    }
    const { partition, offset, failures } = answer.value;
    counts.push({ model, ...answer.value.counts });
    positions.push({ model, partition, offset });
    if (failures.length > 0 && after.kind === 'ok') {
      const message = `${model}: ${failures.join('; ')}`;
      after = {
        kind: 'failed',
        status: 'failed',
        error: new GatewayError('invalid_sync_record', { message }),
      };
    }
  }
  return { ending: after, counts, positions };
}
