import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { connectionEntity } from '#modules/connections/connections/entity.ts';
import type { AlertKind } from '../alert-destinations/alert-destination.ts';
import { projectionLags } from '../metrics/collect.ts';
import type { OperationsServices } from '../services.ts';

/** What an alert is about at one time. */
export interface Observation {
  readonly count: number;
  /** The names of the first ones. */
  readonly subjects: readonly string[];
}

export type ObserveDeps = Pick<
  OperationsServices,
  'control' | 'deadLetters' | 'log' | 'tables' | 'settings' | 'projections' | 'clock'
>;

const subjectsMax = 10;
const deadLettersMax = 1_000;
/** Of messages that belong to no single environment, such as commands: every environment is notified. */
const ofAll: ReadonlySet<string> = new Set(['-', 'account']);

const observation = (subjects: readonly string[]): Observation => ({
  count: subjects.length,
  subjects: [...subjects].sort().slice(0, subjectsMax),
});

/** What the kinds of alerts of an environment are about now. */
export function observeEnvironment(
  { control, deadLetters, clock }: Pick<ObserveDeps, 'control' | 'deadLetters' | 'clock'>,
  environmentUid: string,
): Readonly<Record<Exclude<AlertKind, 'projections_stuck'>, Observation>> {
  const failing = control.view
    .listBy(connectionEntity, 'failing', environmentUid)
    .map(({ state }) => state);
  const namesOf = (type: 'auth' | 'sync'): string[] =>
    failing
      .filter(({ errors }) => errors.some((error) => error.type === type))
      .map(({ integrationKey, connectionId }) => `${integrationKey}/${connectionId}`);
  const parked = deadLetters.tables
    .list({ state: 'parked', limit: deadLettersMax })
    .filter(({ environmentUid: uid }) => uid === environmentUid || ofAll.has(uid));
  return {
    connections_failing: observation(namesOf('sync')),
    refreshes_failing: observation([...namesOf('auth'), ...awayOf(control, environmentUid, clock)]),
    dead_letters: observation(parked.map(({ consumer, id }) => `${consumer}/${id}`)),
  };
}

/**
 * Integrations whose provider is away: passing failures of connections without valid credentials. One subject for each,
 * however many connections it has.
 */
function awayOf(
  { view }: ObserveDeps['control'],
  environmentUid: string,
  clock: ObserveDeps['clock'],
): string[] {
  const now = clock.now();
  const away = view
    .listBy(connectionEntity, 'postponed', environmentUid)
    .filter(({ state: { expiresAt } }) => expiresAt !== null && expiresAt <= now);
  return [...new Set(away.map(({ state }) => state.integrationKey))];
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof GatewayError &&
  (error.code === 'projection_unavailable' || error.code === 'projection_damaged');

/** Projections that are further behind than a few minutes, the same for every environment. */
export function createProjectionObserver(deps: ObserveDeps): () => Promise<Observation> {
  /** Since when the tables did not answer, ms. */
  let awaySince: number | null = null;
  return async () => {
    try {
      const lags = await projectionLags(deps);
      awaySince = null;
      const stuck = lags.filter(({ seconds }) => seconds * 1000 > limits.alertProjectionLagMs);
      return observation([...new Set(stuck.map(({ projection }) => projection))]);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      awaySince ??= deps.clock.now();
      const isLong = deps.clock.now() - awaySince > limits.alertProjectionLagMs;
      return observation(isLong ? deps.projections.map(({ name }) => name) : []);
    }
  };
}
