import { z } from 'zod';
import type { Mask } from '#kernel/mask.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { isoMillisOrNull, type Clock, type Instant } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import type { AddressSettings, SealedEntities } from '#modules/access/services.ts';
import { writeMetadata } from '#modules/connections/connections/handlers.ts';
import type { OpenedConnections } from '#modules/connections/connections/opened-connections.ts';
import { presentConnection } from '#modules/connections/connections/presenter.ts';
import { requireConnection } from '#modules/connections/connections/queries.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { openIntegrationCredentials } from '#modules/connections/credentials/sealing.ts';
import { presentIntegrationCredentials } from '#modules/connections/integrations/credentials.ts';
import { requireIntegration } from '#modules/connections/integrations/queries.ts';
import { presentIntegration, webhookUrlOf } from '#modules/connections/integrations/routes.ts';
import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import type { RecordAccess } from '#modules/records/services.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { Metrics } from '#ports/metrics.ts';
import { logLevels, type LoggerLevel, type Operation } from '#ports/operation-log.ts';
import type { HostCalls, RunContext, ValidationMode } from '#ports/sandbox.ts';
import { functionTypeOf, type DeployedFunction } from '../../functions/function.ts';
import { functionLogKey } from '../../functions/queries.ts';
import type { RunCalls } from '../../services.ts';
import { commandSyncs, startCommand } from '../../syncs/handlers.ts';
import type { SyncInstance } from '../../syncs/state.ts';
import { readVariables } from '../../variables/handlers.ts';
import type { Attempt } from '../ledger/events.ts';
import type { Timeline } from '../ledger/timeline.ts';
import type { RunCheckpoint, RunLog, RuntimeDeps, SyncCalls, RunConnections } from './deps.ts';
import { createRuntimeHost } from './host.ts';
import { createCalledCheckpoint, createSyncCheckpoint } from './run-checkpoint.ts';
import type { RunTimeBudget } from './run-time-budget.ts';

/** The input of the runtime for an attempt. */
export interface HostRun {
  readonly attempt: Attempt;
  readonly connection: Connection;
  readonly fn: DeployedFunction;
  /** Of a sync, and of its webhooks; null for other kinds. */
  readonly instance: SyncInstance | null;
  /** Call depth of actions. */
  readonly depth: number;
  readonly operation: Operation;
  readonly timeline: Timeline;
  /** Of a sync. */
  readonly budget?: RunTimeBudget;
  readonly usedModels?: Set<string>;
  readonly signal: AbortSignal;
}

/** The calls and data of a run's code. */
export interface OpenedHost extends AsyncDisposable {
  readonly calls: HostCalls;
  readonly context: RunContext;
  /** Masks secrets in its error. */
  readonly mask: Mask;
}

export interface HostDeps extends SealedEntities, RunCalls {
  readonly providers: ProviderCatalogue;
  readonly records: RecordAccess;
  readonly coordination: Coordination;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly settings: AddressSettings;
  readonly openedConnections: OpenedConnections;
  readonly metrics: Metrics;
}

/**
 * Opens the host side of one attempt. Disposing it releases the resources of the run.
 * @throws GatewayError `not_found` when the key of the environment was destroyed
 */
export async function openHost(deps: HostDeps, run: HostRun): Promise<OpenedHost> {
  const { control, vault } = deps;
  const { environmentUid } = run.connection;
  const variables = await readVariables(control, vault, environmentUid);
  const host = createRuntimeHost(runtimeDeps(deps, run, variables));
  return {
    calls: host.calls,
    mask: host.mask,
    context: contextOf(deps, run, loggerLevel(variables)),
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

type Variables = readonly { readonly name: string; readonly value: string }[];

function runtimeDeps(deps: HostDeps, run: HostRun, variables: Variables): RuntimeDeps {
  const { attempt, connection, fn, instance, signal, depth } = run;
  const { runId, actor } = attempt;
  const { control, records, runs, http, coordination, clock } = deps;
  const { environmentUid, integrationKey, connectionId, uid } = connection;
  const variant = instance?.variant ?? 'base';
  const models = instance?.models ?? [];
  const where = { environmentUid, integrationKey, connectionId, connectionUid: uid };
  return {
    run: {
      runId,
      attempt: attempt.number,
      actor,
      type: functionTypeOf(run.fn.kind),
      functionName: fn.name,
      variant,
      models,
      depth,
      ...where,
    },
    connections: createRunConnections(deps, { environmentUid, connection, actor }),
    checkpoint: checkpointOf(control, run),
    records,
    triggerAction: (call, ended) => runs.triggerAction({ ...call, environmentUid, actor }, ended),
    syncs: syncCalls(deps, environmentUid, actor),
    variables: async () => (variables.length === 0 ? null : variables),
    http,
    coordination,
    log: runLog(run, deps.metrics),
    timeline: run.timeline,
    ...(run.budget === undefined ? {} : { budget: run.budget }),
    ...(run.usedModels === undefined ? {} : { usedModels: run.usedModels }),
    clock,
    signal,
  };
}

/** Lines go to the log that users read, and shortened to the timeline of the run. */
const runLog = (
  { operation, timeline, connection }: HostRun,
  metrics: Pick<HostDeps['metrics'], 'count'>,
): RunLog => ({
  lines: (lines) => {
    for (const { level, message, payload } of lines) {
      operation.write(level, message, payload, 'user');
      timeline({ what: 'log', level, message });
    }
  },
  waits: ({ limit: { requests, seconds, per } }, ms) => {
    metrics.count('svc_provider_limit_delays_total', [connection.integrationKey, 'waited']);
    const message = `The request waits ${Math.ceil(ms / 1000)} s for the limit of the provider: ${requests} requests in ${seconds} s for the ${per}.`;
    operation.write('info', message, null);
    timeline({ what: 'log', level: 'info', message });
  },
  http: (line) => {
    metrics.count('svc_provider_requests_total', [connection.integrationKey, line.status ?? 0]);
    const { method, url, status, durationMs: duration_ms } = line;
    const isOk = status !== null && status < 400;
    operation.write(isOk ? 'info' : 'warn', `${method} ${url}`, JSON.stringify(line));
    // With a masked secret it may no longer be a URL.
    const path = url.replace(/^[a-z]+:\/\/[^/]*/, '');
    timeline({ what: 'request', method, path, status, duration_ms });
  },
});

/** A sync has its own; other runs have one per kind and function. */
function checkpointOf(control: HostDeps['control'], run: HostRun): RunCheckpoint {
  const { attempt, connection, fn, instance } = run;
  const { kind, actor } = attempt;
  if (kind === 'sync' && instance !== null) {
    return createSyncCheckpoint(control, instance, attempt);
  }
  const called = kind === 'sync' ? 'action' : kind;
  return createCalledCheckpoint(control, {
    connection,
    kind: called,
    functionName: fn.name,
    actor,
  });
}

const triggerOptions = z.looseObject({
  reset: z.boolean().optional(),
  emptyCache: z.boolean().optional(),
});

/** Other syncs of the environment, for functions that start them. */
function syncCalls(
  { control, runs }: Pick<HostDeps, 'control' | 'runs'>,
  environmentUid: string,
  actor: string,
): SyncCalls {
  return {
    trigger: async ({ integrationKey, connectionId, name, variant }, options: JsonObject) => {
      const { reset = false, emptyCache = false } = triggerOptions.safeParse(options).data ?? {};
      const syncs = [{ name, variant: variant ?? 'base' }];
      const wanted = { environmentUid, integrationKey, connectionId, syncs, actor };
      await runs.triggerSyncs(wanted, { reset, emptyCache });
    },
    start: async ({ integrationKey, connectionId }, names) => {
      const syncs = names.map((name) => ({ name, variant: 'base' }));
      const ref = { environmentUid, integrationKey, connectionId: connectionId ?? undefined };
      await commandSyncs(control, { ...ref, syncs, actor }, startCommand);
    },
  };
}

function contextOf(
  { control, providers, clock }: HostDeps,
  run: HostRun,
  level: LoggerLevel,
): RunContext {
  const { connection, instance } = run;
  const environment = control.view.find(environmentRef(connection.environmentUid));
  const provider = providers.find(connection.provider);
  const lastSync = instance?.lastSyncDate ?? null;
  return {
    connectionId: connection.connectionId,
    providerConfigKey: connection.integrationKey,
    provider: connection.provider,
    environmentName: environment?.name ?? '',
    environmentId: environment?.id ?? 0,
    variant: instance?.variant ?? 'base',
    lastSyncDate: isoMillisOrNull(lastSync),
    models: instance?.models ?? [],
    loggerLevel: keepsAllLogs(environment, run.fn, clock.now()) ? 'debug' : level,
    paginate: provider?.proxy?.paginate ?? null,
    validation: environment?.validation ?? 'warn',
    inputValidation: inputValidationOf(environment, run.fn),
  };
}

function keepsAllLogs(
  environment: Pick<Environment, 'allLogsUntil' | 'functionLogsUntil'> | null,
  fn: DeployedFunction,
  now: Instant,
): boolean {
  const { allLogsUntil = 0, functionLogsUntil = {} } = environment ?? {};
  return Math.max(allLogsUntil, functionLogsUntil[functionLogKey(fn)] ?? 0) > now;
}

/** `off` and `error` apply to all values; where values are only logged, inputs have a setting of their own. */
export function inputValidationOf(
  environment: Pick<Environment, 'validation' | 'inputValidation'> | null,
  fn: Pick<DeployedFunction, 'isInputValidated'>,
): ValidationMode {
  const { validation = 'warn', inputValidation } = environment ?? {};
  if (validation !== 'warn') return validation;
  return inputValidation ?? (fn.isInputValidated === true ? 'error' : 'warn');
}

/** The environment's variable SVC_LOGGER_LEVEL, otherwise `warn`. An invalid value counts as absent. */
function loggerLevel(variables: Variables): LoggerLevel {
  const word = variables
    .find(({ name }) => name === 'SVC_LOGGER_LEVEL')
    ?.value.trim()
    .toLowerCase();
  return logLevels.find((level) => level === word) ?? 'warn';
}

interface RunConnectionsDeps extends SealedEntities {
  readonly providers: ProviderCatalogue;
  readonly settings: AddressSettings;
  readonly openedConnections: OpenedConnections;
}

/** The connections that a run may use: its own, and others of its environment. */
function createRunConnections(
  deps: RunConnectionsDeps,
  scope: {
    readonly environmentUid: string;
    readonly connection: Connection;
    readonly actor: string;
  },
): RunConnections {
  const { control, vault, providers, settings, openedConnections } = deps;
  const { environmentUid, connection: own, actor } = scope;

  const write = (how: 'replace' | 'merge') => (metadata: JsonObject) => {
    const { integrationKey, connectionId } = own;
    const wanted = { environmentUid, integrationKey, connectionIds: [connectionId], metadata, how };
    return writeMetadata({ control, vault }, wanted, { actor });
  };

  return {
    async open({ integrationKey, connectionId }, { forceRefresh, refreshToken, rejectedVersion }) {
      const name = { environmentUid, integrationKey, connectionId };
      await requireConnection(control, environmentUid, integrationKey, connectionId);
      const isRefreshed = forceRefresh || rejectedVersion !== undefined;
      const { stored, ...opened } = isRefreshed
        ? await openedConnections.open(name, {
            isForced: forceRefresh,
            ...(rejectedVersion === undefined ? {} : { rejectedVersion }),
          })
        : await openedConnections.open(name);
      const view = { withCredentials: true, withRefreshToken: refreshToken };
      return {
        ...opened,
        version: stored.credentialsVersion,
        // For the compiler a field that may be absent is no JSON.
        view: async () => (await presentConnection(vault, stored, view)) as unknown as JsonObject,
      };
    },

    async integration(include) {
      const { integrationKey } = own;
      const { publicUrl } = settings;
      const integration = await requireIntegration(control, environmentUid, integrationKey);
      const provider = providers.find(integration.provider);
      const webhook = { webhook_url: webhookUrlOf(integration, provider, publicUrl) };
      const client = await openIntegrationCredentials(vault, integration);
      const credentials = { credentials: presentIntegrationCredentials(client) };
      return {
        ...presentIntegration(integration, publicUrl),
        ...(include.includes('webhook') ? webhook : {}),
        ...(include.includes('credentials') ? credentials : {}),
      };
    },

    setMetadata: write('replace'),
    updateMetadata: write('merge'),
  };
}
