import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Projection, ProjectionGeneration } from '#client/index.ts';
import { stopOnInterrupt, type Context } from '../context.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { progressLine } from './progress.ts';
import type { Verification } from './table.ts';

const askEveryMs = 500;
/** Interval of lines without a terminal. */
const lineEveryMs = 5_000;

interface WatchContext {
  readonly context: Context;
  readonly client: Client;
  readonly name: string;
}

/** @throws ApiError */
export async function projectionOf({
  client,
  name,
}: Pick<WatchContext, 'client' | 'name'>): Promise<Projection> {
  return (await client.request('GET /projections/{name}', { params: { name } })).data;
}

/** The generation besides the active one, if there is one. */
export const besideOf = (projection: Projection): ProjectionGeneration | undefined =>
  projection.generations.find(({ generation }) => generation !== projection.active_generation);

/**
 * Shows the progress of the build until it has caught up.
 * @throws CommandFailure when it failed, was dropped, or the user stopped waiting
 */
export async function followBuilding(following: WatchContext): Promise<ProjectionGeneration> {
  const { context, name } = following;
  const { output } = context;
  const started = performance.now();
  let saidAt = -lineEveryMs;
  return watched(following, (beside) => {
    if (beside === undefined) throw new CommandFailure(`${name} is not being rebuilt.`);
    const { state, failure, progress: share } = beside;
    if (state === 'failed') throw new CommandFailure(`The rebuild failed: ${failure ?? ''}.`);
    const now = performance.now();
    if (state !== 'building') {
      const seconds = (now - started) / 1000;
      output.note(
        `Generation ${beside.generation} has caught up; followed for ${seconds.toFixed(1)} s.`,
      );
      return beside;
    }
    const phase = beside.is_paused ? 'building, paused' : 'building';
    const { rate_per_s: perSecond, seconds_left: secondsLeft } = beside;
    const progress = { phase, share, perSecond, secondsLeft };
    if (output.isWatched) output.status(progressLine(progress, true));
    else if (now - saidAt >= lineEveryMs) {
      saidAt = now;
      output.note(progressLine(progress, false));
    }
    return null;
  });
}

/** Waits for the outcome of the running comparison. */
export async function followVerification(context: WatchContext): Promise<Verification> {
  const { output } = context.context;
  return watched(context, (beside) => {
    const verification = beside?.verification ?? null;
    if (verification === null) {
      throw new CommandFailure(`Nothing of ${context.name} is being compared.`);
    }
    if (verification.state !== 'running') return verification;
    output.status('comparing …');
    return null;
  });
}

/** Polls until there is a result; Ctrl-C ends the polling, not the operation. */
async function watched<T>(
  context: WatchContext,
  look: (beside: ProjectionGeneration | undefined) => T | null,
): Promise<T> {
  using stopping = stopOnInterrupt(context.context);
  for (;;) {
    const found = look(besideOf(await projectionOf(context)));
    if (found !== null) return found;
    await sleep(askEveryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (stopping.signal.aborted) throw leftAlone(context.name);
  }
}

const leftAlone = (name: string): CommandFailure =>
  new CommandFailure(
    `It continues in the background. To see its progress: svc projections follow ${name}\n` +
      `To stop it: svc projections pause ${name}`,
    { exitCode: exitCodes.interrupted },
  );
