import { randomUUID } from 'node:crypto';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { uuidV5 } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis, type Clock } from '#kernel/time.ts';
import { environmentName } from '#modules/access/environments/queries.ts';
import type { EntityQueries, SharedValues } from '#modules/access/services.ts';
import { connectionEntity } from '#modules/connections/connections/entity.ts';
import type { DeadLetters } from '#modules/operations/dead-letters/view.ts';
import { projectionLags } from '#modules/operations/metrics/collect.ts';
import type { PartitionSettings } from '#modules/records/services.ts';
import { listEndpoints } from '#modules/webhooks/webhook-endpoints/queries.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { ProjectionTables } from '#streams/projector/define.ts';
import { alertKinds, type AlertKind } from '../alert-destinations/alert-destination.ts';
import { alertDestinationEntity } from '../alert-destinations/entity.ts';
import { listDestinations } from '../alert-destinations/handlers.ts';
import { alert, type Alert, type Notice } from './alert.ts';
import { alertRef, type AlertEntity } from './entity.ts';
import { sendNotice, type SendDeps } from './send.ts';

/** What an alert is about at one time. */
export interface Observation {
  readonly count: number;
  /** The names of the first ones. */
  readonly subjects: readonly string[];
  /** Why, by name, where it is known. */
  readonly reasons?: Readonly<Record<string, string>>;
}

interface ObserveDeps extends EntityQueries {
  readonly deadLetters: DeadLetters;
  readonly log: EventLog;
  readonly settings: PartitionSettings;
  readonly projections: readonly ProjectionTables[];
  readonly clock: Clock;
}

const subjectsMax = 10;
const deadLettersMax = 1_000;
/** Of messages that belong to no single environment, such as commands: every environment is notified. */
const ofAll: ReadonlySet<string> = new Set(['-', 'account']);

function observation(
  subjects: readonly string[],
  reasons: ReadonlyMap<string, string> = new Map(),
): Observation {
  const first = [...subjects].sort().slice(0, subjectsMax);
  const known = first.flatMap((name) => {
    const reason = reasons.get(name);
    return reason === undefined ? [] : [[name, reason] as const];
  });
  const some = { count: subjects.length, subjects: first };
  return known.length === 0 ? some : { ...some, reasons: Object.fromEntries(known) };
}

/** What the kinds of alerts of an environment are about now. */
function observeEnvironment(
  {
    control,
    deadLetters,
    clock,
  }: { readonly control: ControlPlane; readonly deadLetters: DeadLetters; readonly clock: Clock },
  environmentUid: string,
): Readonly<Record<Exclude<AlertKind, 'projections_stuck'>, Observation>> {
  const failing = control.view
    .listBy(connectionEntity, 'failing', environmentUid)
    .map(({ state }) => state);
  const nameOf = ({ integrationKey, connectionId }: (typeof failing)[number]): string =>
    `${integrationKey}/${connectionId}`;
  const namesOf = (type: 'auth' | 'sync'): string[] =>
    failing.filter(({ errors }) => errors.some((error) => error.type === type)).map(nameOf);
  const reasons = failing.flatMap((connection) => {
    const message = connection.errors.find(({ type }) => type === 'sync')?.message;
    return message === undefined ? [] : [[nameOf(connection), message] as const];
  });
  const parked = deadLetters.tables
    .list({ state: 'parked', limit: deadLettersMax })
    .filter(({ environmentUid: uid }) => uid === environmentUid || ofAll.has(uid));
  return {
    connections_failing: observation(namesOf('sync'), new Map(reasons)),
    refreshes_failing: observation([...namesOf('auth'), ...awayOf(control, environmentUid, clock)]),
    dead_letters: observation(parked.map(({ consumer, id }) => `${consumer}/${id}`)),
    webhook_endpoints_disabled: disabledEndpoints(control, environmentUid),
  };
}

/** Those that failures disabled, not those that a person did. */
function disabledEndpoints(control: ControlPlane, environmentUid: string): Observation {
  const reasons = listEndpoints(control, environmentUid).flatMap((endpoint) => {
    const { id, displayName, disabledAt, failing } = endpoint;
    if (disabledAt == null) return [];
    const name = displayName === '' ? id : `${displayName} (${id})`;
    const since = failing == null ? '' : ` since ${isoMillis(failing.since)}`;
    return [[name, `All webhooks to it failed${since}; enable it again when it works.`] as const];
  });
  return observation(
    reasons.map(([name]) => name),
    new Map(reasons),
  );
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
function createProjectionObserver(deps: ObserveDeps): () => Promise<Observation> {
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

const everyMs = 30_000;
/** A crashed holder blocks others this long. */
const leaseMs = 90_000;
const leaseName = 'alerts';
const actor = 'system';

export type AlertDeps = ObserveDeps & SendDeps & SharedValues;

export interface AlertMonitor extends AsyncDisposable {
  /** Observes and notifies once, unless another process does. Never rejects. */
  look(): Promise<void>;
}

/**
 * Observes the environments that have alert destinations, and sends notices, in one process at a time. What is due is
 * decided by the owner of the environment: two processes without coordination may send a notice twice, and none is lost
 * by a crash.
 */
export function startAlertMonitor(
  deps: AlertDeps,
  observeProjections = createProjectionObserver(deps),
): AlertMonitor {
  const { coordination, logger } = deps;
  const token = randomUUID();
  let running: Promise<void> | null = null;
  const lookOnce = async (): Promise<void> => {
    const lease = await coordination.acquire(leaseName, { ttlMs: leaseMs, token });
    if (lease !== null) await notifyAll(deps, observeProjections);
  };
  const look = (): Promise<void> =>
    (running ??= lookOnce()
      .catch((err: unknown) => logger.warn({ err }, 'alerts are evaluated later'))
      .finally(() => (running = null)));
  const timer = setInterval(() => void look(), everyMs).unref();
  return {
    look,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
      await coordination.release({ name: leaseName, token });
    },
  };
}

async function notifyAll(
  deps: AlertDeps,
  observeProjections: () => Promise<Observation>,
): Promise<void> {
  const { control } = deps;
  await control.view.caughtUp();
  const all = control.view.list(alertDestinationEntity, []);
  const enabled = all.filter(({ state }) => state.isEnabled);
  const environments = new Set(enabled.map(({ state }) => state.environmentUid));
  if (environments.size === 0) return;
  const projections = await observeProjections();
  for (const environmentUid of environments) {
    const observed = {
      ...observeEnvironment(deps, environmentUid),
      projections_stuck: projections,
    };
    for (const kind of alertKinds) {
      const state = await observe(deps, environmentUid, kind, observed[kind]);
      if (state?.notice != null) await send(deps, state, state.notice);
    }
  }
}

/** The alert after the observation. A command is sent only if it would change something. */
async function observe(
  { control, clock }: AlertDeps,
  environmentUid: string,
  kind: AlertKind,
  observation: Observation,
): Promise<Alert | null> {
  const ref = alertRef(environmentUid, kind);
  const state = control.view.find(ref);
  const command: CommandOf<AlertEntity> = {
    type: 'Observe',
    environmentUid,
    kind,
    ...observation,
  } as const;
  if (alert.decide({ ...command, at: clock.now() }, state).length === 0) return state;
  return control.execute(ref, command, { actor });
}

async function send(
  deps: AlertDeps,
  { environmentUid, kind }: Alert,
  { state, count, subjects, reasons = {}, at, pending }: Notice,
): Promise<void> {
  const { control, logger } = deps;
  const content = {
    id: uuidV5(environmentUid, `alert/${kind}/${at}`),
    environment: environmentName(control, environmentUid),
    ...{ kind, state, count, subjects, reasons, at: isoMillis(at) },
  };
  const wanting = listDestinations(control, environmentUid).filter(
    ({ id, isEnabled, kinds }) =>
      isEnabled && (kinds?.includes(kind) ?? true) && (pending?.includes(id) ?? true),
  );
  const results = await Promise.all(
    wanting.map(async ({ id, ...fields }) => {
      const result = await sendNotice(deps, { id, ...fields }, content);
      if (result.isDelivered) return [];
      const { status, errorCode } = result;
      logger.warn({ destination: id, status, errorCode }, 'an alert was not delivered');
      return [id];
    }),
  );
  const body: CommandOf<AlertEntity> = { type: 'NoteTry', of: at, pending: results.flat() };
  await control.execute(alertRef(environmentUid, kind), body, { actor });
}
