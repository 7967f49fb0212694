import { randomUUID } from 'node:crypto';
import type { CommandOf } from '#control-plane/entity.ts';
import { uuidV5 } from '#kernel/ids.ts';
import { isoMillis } from '#kernel/time.ts';
import { environmentName } from '#modules/access/environments/names.ts';
import { alertKinds, type AlertKind } from '../alert-destinations/alert-destination.ts';
import { alertDestinationEntity } from '../alert-destinations/entity.ts';
import { listDestinations } from '../alert-destinations/handlers.ts';
import type { OperationsServices } from '../services.ts';
import { alert, type Alert, type Notice } from './alert.ts';
import { alertRef, type AlertEntity } from './entity.ts';
import {
  createProjectionObserver,
  observeEnvironment,
  type ObserveDeps,
  type Observation,
} from './observe.ts';
import { sendNotice, type SendDeps } from './send.ts';

const everyMs = 30_000;
/** A crashed holder blocks others this long. */
const leaseMs = 90_000;
const leaseName = 'alerts';
const actor = 'system';

export type AlertDeps = ObserveDeps &
  SendDeps &
  Pick<OperationsServices, 'coordination' | 'logger'>;

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
  { state, count, subjects, at, pending }: Notice,
): Promise<void> {
  const { control, logger } = deps;
  const content = {
    id: uuidV5(environmentUid, `alert/${kind}/${at}`),
    environment: environmentName(control, environmentUid),
    ...{ kind, state, count, subjects, at: isoMillis(at) },
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
