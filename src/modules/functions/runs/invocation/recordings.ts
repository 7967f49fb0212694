import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { readRecording, type MissingCalls, type Recording } from '../runtime/recording.ts';
import type { PayloadStore, SoughtCalls } from './payload-store.ts';

/** The recorded attempt of a run that replays run on. */
export interface RecordedAttempt {
  readonly attempt: number;
  /** That are kept of it. */
  readonly bytes: number;
  readonly recording: Recording;
}

/**
 * The newest attempt of a run whose recording is whole. One that was killed has none; its successor continues.
 * @throws GatewayError `not_found`: nothing was recorded, or it is gone; `conflict`: the recording is incomplete;
 *   `log_unavailable`
 */
export async function requireRecording(
  payloads: Pick<PayloadStore, 'findCalls'>,
  sought: SoughtCalls,
): Promise<RecordedAttempt> {
  const { runId } = sought;
  const pieces = await payloads.findCalls(sought);
  if (pieces === null) {
    const message = `The recording of the run "${runId}" can no longer be opened: its connection was deleted.`;
    throw new GatewayError('not_found', { message });
  }
  const attempts = [...Map.groupBy(pieces, ({ attempt }) => attempt)].toSorted(
    ([one], [other]) => other - one,
  );
  const [newest] = attempts;
  if (newest === undefined) {
    const message = `The calls of the run "${runId}" were not recorded, or are older than ${limits.runBodiesKeptDays} days.`;
    const fix = 'Record the calls of the function (svc runs record), and replay a later run.';
    throw new GatewayError('not_found', { message, fix });
  }
  for (const [attempt, ofAttempt] of attempts) {
    const recording = readRecording(ofAttempt);
    if (recording === null) continue;
    if (recording.missing !== null) throw incomplete(runId, missingText[recording.missing]);
    const bytes = ofAttempt.reduce((sum, piece) => sum + piece.bytes.length, 0);
    return { attempt, bytes, recording };
  }
  throw incomplete(runId, 'its process ended before it');
}

const incomplete = (runId: string, why: string): GatewayError =>
  new GatewayError('conflict', {
    message: `The recording of the run "${runId}" is incomplete: ${why}.`,
    fix: 'Replay another run.',
  });

export const missingText: Readonly<Record<MissingCalls, string>> = {
  size: `its calls have more than ${limits.recordedRunBytesMax / 1024 ** 2} MiB`,
  calls: `it has more than ${limits.recordedRunCallsMax} calls`,
  lost: 'the log did not take a part',
};
