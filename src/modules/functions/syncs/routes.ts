import { z } from 'zod';
import type { CommandOf } from '#control-plane/entity.ts';
import { type AnyRoute, errorAt } from '#http/define-route.ts';
import { bodyRefused } from '#http/error-response.ts';
import { connectionId, functionName, integrationKey } from '#http/fields.ts';
import { json, succeeded } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { connectionPathOf } from '#modules/connections/connections/entity.ts';
import { mayListConnections } from '#modules/connections/connections/known-connections.ts';
import { requireConnection } from '#modules/connections/connections/queries.ts';
import { formatFrequency, parseFrequency } from '../functions/frequency.ts';
import { requireFunction } from '../functions/queries.ts';
import { defineRoute } from '../services.ts';
import { syncRef, type SyncEntity, syncEntity } from './entity.ts';
import { commandSyncs, startCommand } from './handlers.ts';
import { frequencyShape, statusesShape, variantShape } from './presenter.ts';
import { presentSyncs, requireSync, selectSyncs, type SyncName } from './queries.ts';
import { createInstance, removeInstance } from './reconcile.ts';
import { effectiveFrequencyMs } from './state.ts';

const params = z.object({
  name: functionName.describe('Name of the sync.'),
  variant: functionName.describe('Name of the variant; `base` is not allowed.'),
});
const body = z.strictObject({ provider_config_key: integrationKey, connection_id: connectionId });

const createVariant = defineRoute({
  method: 'POST',
  path: '/sync/{name}/variant/{variant}',
  credential: 'environment',
  scopes: ['environment:syncs:variant:create'],
  summary: 'Create a variant of a sync.',
  description:
    'For one connection, with records, schedule and checkpoint of its own; it runs at once.',
  params,
  body,
  answers: { 200: json('The variant.', variantShape) },
  errors: [
    'invalid_variant',
    errorAt(400, 'unknown_connection'),
    errorAt(400, 'unknown_provider_config'),
    'unknown_sync',
    'sync_variant_already_exists',
    'resource_capped',
  ],
  async handle({ params: { name, variant }, body: sent, caller, services: { control } }) {
    if (variant === 'base') throw new GatewayError('invalid_variant');
    const where = [control, caller.environmentUid, sent.provider_config_key] as const;
    const connection = await requireConnection(...where, sent.connection_id, { status: 400 });
    const fn = await requireFunction(...where, 'sync', name, 'unknown_sync');
    const path = connectionPathOf(connection);
    if (control.view.find(syncRef(path, name, variant)) !== null) {
      const message = `The sync "${name}" of this connection already has a variant "${variant}".`;
      throw new GatewayError('sync_variant_already_exists', { message });
    }
    const instances = control.view.list(syncEntity, path);
    const variants = instances.filter(({ state }) => state.variant !== 'base');
    if (variants.length >= limits.connectionVariantsMax) {
      const message = `The connection has ${variants.length} variants of its syncs, which is the limit.`;
      throw new GatewayError('resource_capped', { message });
    }
    const target = { connection, fn, variant, autoStart: true };
    const { id } = await createInstance(control, target, caller.actor);
    return { status: 200, body: { id, name, variant } };
  },
});

const deleteVariant = defineRoute({
  method: 'DELETE',
  path: '/sync/{name}/variant/{variant}',
  credential: 'environment',
  scopes: ['environment:syncs:variant:delete'],
  summary: 'Delete a variant of a sync.',
  description: 'Its records are deleted, too.',
  params,
  body,
  answers: succeeded,
  errors: [
    'invalid_variant',
    errorAt(400, 'unknown_connection'),
    errorAt(400, 'unknown_provider_config'),
    'not_found',
  ],
  async handle({ params: { name, variant }, body: sent, caller, services: { control, records } }) {
    if (variant === 'base') throw new GatewayError('invalid_variant');
    const where = [control, caller.environmentUid, sent.provider_config_key] as const;
    const connection = await requireConnection(...where, sent.connection_id, { status: 400 });
    const ref = syncRef(connectionPathOf(connection), name, variant);
    if (control.view.find(ref) === null) await control.view.caughtUp();
    const instance = control.view.find(ref);
    if (instance === null) {
      const message = `The connection "${sent.connection_id}" has no variant "${variant}" of a sync "${name}".`;
      throw new GatewayError('not_found', { message });
    }
    await removeInstance({ control, records: records.writer }, instance, caller.actor);
    return { status: 200, body: { success: true } };
  },
});

const variantRoutes: readonly AnyRoute[] = [createVariant, deleteVariant];

const refsMax = 256;

/** `"name"`, `"name::variant"` or `{name, variant}`. */
const syncName = z
  .union([
    z.string().transform((text, context): SyncName => {
      const [name = '', variant = 'base', ...rest] = text.split('::');
      const isValid = [name, variant].every((part) => functionName.safeParse(part).success);
      if (isValid && rest.length === 0) return { name, variant };
      context.addIssue({ code: 'custom', message: 'Send the name of a sync, or name::variant.' });
      return z.NEVER;
    }),
    z
      .strictObject({
        name: functionName.describe('Name of the sync.'),
        variant: functionName.optional(),
      })
      .meta({ id: 'SyncVariant' })
      .transform(({ name, variant = 'base' }): SyncName => ({ name, variant })),
  ])
  .meta({ id: 'SyncName' });
const syncNames = z
  .array(syncName)
  .max(refsMax)
  .meta({ examples: [['contacts']] });

const selectionErrors = [
  errorAt(400, 'unknown_provider_config'),
  'unknown_connection',
  'no_syncs_found',
] as const;

const options = z.strictObject({
  reset: z
    .boolean()
    .optional()
    .describe('True: cancel a running run, and clear checkpoint and last sync date.'),
  emptyCache: z
    .boolean()
    .optional()
    .describe('With `reset`: delete all records of the sync first.'),
});

const triggerSyncs = defineRoute({
  method: 'POST',
  path: '/sync/trigger',
  credential: 'environment',
  scopes: ['environment:syncs:execute'],
  summary: 'Trigger syncs once.',
  description:
    'A sync that is queued or running is not queued again, unless `opts.reset` cancels its run.',
  headers: z.object({
    'provider-config-key': integrationKey
      .optional()
      .describe('Unique key of the integration, in place of the field of the body.'),
    'connection-id': connectionId
      .optional()
      .describe('Id of the connection, in place of the field of the body.'),
  }),
  body: z.strictObject({
    syncs: syncNames,
    provider_config_key: integrationKey.optional(),
    connection_id: connectionId
      .optional()
      .describe('Id of the connection; absent: all connections of the integration.'),
    opts: options.optional().describe('Options of the run.'),
    sync_mode: z
      .enum(['incremental', 'full_refresh', 'full_refresh_and_clear_cache'])
      .optional()
      .describe('Deprecated: use `opts`.'),
    full_resync: z.boolean().optional().describe('Deprecated: use `opts`.'),
  }),
  answers: succeeded,
  errors: ['missing_provider_config_key', ...selectionErrors],
  async handle({ body, headers, caller, services, idempotency }) {
    const key = body.provider_config_key ?? headers['provider-config-key'];
    if (key === undefined) throw new GatewayError('missing_provider_config_key');
    const how = triggerOptions(body);
    const wanted = {
      environmentUid: caller.environmentUid,
      integrationKey: key,
      connectionId: body.connection_id ?? headers['connection-id'],
      syncs: body.syncs,
      actor: caller.actor,
    };
    await services.runs.triggerSyncs(wanted, how, idempotency);
    return { status: 200, body: { success: true } };
  },
});

interface TriggerBody {
  readonly opts?:
    | { readonly reset?: boolean | undefined; readonly emptyCache?: boolean | undefined }
    | undefined;
  readonly sync_mode?: string | undefined;
  readonly full_resync?: boolean | undefined;
}

/**
 * The deprecated fields as `opts`.
 * @throws GatewayError `invalid_body` when both are sent
 */
function triggerOptions({ opts, sync_mode, full_resync }: TriggerBody) {
  const isDeprecated = sync_mode !== undefined || full_resync !== undefined;
  if (opts !== undefined && isDeprecated) {
    throw bodyRefused(
      ['opts'],
      'Send opts, or the deprecated sync_mode and full_resync, not both.',
    );
  }
  if (!isDeprecated) return { reset: opts?.reset ?? false, emptyCache: opts?.emptyCache ?? false };
  const emptyCache = sync_mode === 'full_refresh_and_clear_cache';
  return { reset: emptyCache || sync_mode === 'full_refresh' || full_resync === true, emptyCache };
}

const scheduleBody = z.strictObject({
  syncs: syncNames,
  provider_config_key: integrationKey,
  connection_id: connectionId
    .optional()
    .describe('Id of the connection; absent: all connections of the integration.'),
});

function scheduleRoute(path: string, summary: string, command: () => CommandOf<SyncEntity>) {
  return defineRoute({
    method: 'POST',
    path,
    credential: 'environment',
    scopes: ['environment:syncs:execute'],
    summary,
    body: scheduleBody,
    answers: succeeded,
    errors: selectionErrors,
    async handle({ body, caller, services, idempotency }) {
      const wanted = {
        environmentUid: caller.environmentUid,
        integrationKey: body.provider_config_key,
        connectionId: body.connection_id,
        syncs: body.syncs,
        actor: caller.actor,
      };
      await commandSyncs(services.control, wanted, command, idempotency);
      return { status: 200, body: { success: true } };
    },
  });
}

const pauseSyncs = scheduleRoute('/sync/pause', 'Pause the schedules of syncs.', () => ({
  type: 'Pause',
}));
const startSyncs = scheduleRoute(
  '/sync/start',
  'Start the schedules of syncs, each with a run.',
  startCommand,
);

const syncStatus = defineRoute({
  method: 'GET',
  path: '/sync/status',
  credential: 'environment',
  scopes: ['environment:syncs:read'],
  summary: 'Get the status of syncs.',
  description: 'State, schedule, last run and number of records.',
  query: z.strictObject({
    syncs: z
      .string()
      .min(1)
      .max(10_000)
      .describe('Names of the syncs, separated by commas; `*`: all of them.'),
    provider_config_key: integrationKey,
    connection_id: connectionId
      .optional()
      .describe('Id of the connection; absent: all connections of the integration.'),
  }),
  answers: { 200: json('The syncs.', statusesShape) },
  errors: selectionErrors,
  async handle({ query, caller, services }) {
    const selected = await selectSyncs(services.control, {
      environmentUid: caller.environmentUid,
      integrationKey: query.provider_config_key,
      connectionId: query.connection_id,
      syncs: namesOf(query.syncs),
      actor: caller.actor,
    });
    // For a key that may not list connections, the id of a connection is a secret (docs/reference/http.md#scopes).
    const showsConnection = query.connection_id !== undefined || mayListConnections(caller);
    const rows = selected.flatMap(({ instances }) => instances);
    return { status: 200, body: { syncs: await presentSyncs(services, rows, showsConnection) } };
  },
});

/** @throws GatewayError `invalid_query_params` */
function namesOf(text: string): readonly SyncName[] {
  if (text === '*') return [];
  const parsed = syncNames.safeParse(text.split(',').map((part) => part.trim()));
  if (parsed.success) return parsed.data;
  const message = 'Send * or a comma-separated list of sync names.';
  throw new GatewayError('invalid_query_params', {
    errors: [{ code: 'custom', message, path: ['syncs'] }],
  });
}

const updateFrequency = defineRoute({
  method: 'PUT',
  path: '/sync/update-connection-frequency',
  credential: 'environment',
  scopes: ['environment:syncs:update'],
  summary: 'Set the frequency of a sync of a connection.',
  description: 'Null restores the frequency of the function.',
  body: z.strictObject({
    sync_name: functionName.describe('Name of the sync.'),
    sync_variant: functionName.optional().describe('Variant of the sync; `base` by default.'),
    provider_config_key: integrationKey,
    connection_id: connectionId,
    frequency: z
      .string()
      .max(100)
      .nullable()
      .describe('Frequency, such as `every 30m`; null: that of the function.'),
  }),
  answers: { 200: json('The new frequency.', frequencyShape) },
  errors: [
    errorAt(400, 'unknown_provider_config'),
    errorAt(400, 'unknown_connection'),
    'unknown_sync',
  ],
  async handle({ body, caller, services, idempotency }) {
    const frequencyMs = body.frequency === null ? null : readFrequency(body.frequency);
    const { connection, instance } = await requireSync(services.control, {
      environmentUid: caller.environmentUid,
      integrationKey: body.provider_config_key,
      connectionId: body.connection_id,
      sync: { name: body.sync_name, variant: body.sync_variant ?? 'base' },
      actor: caller.actor,
    });
    const ref = syncRef(connectionPathOf(connection), instance.syncName, instance.variant);
    const command: CommandOf<SyncEntity> = { type: 'SetFrequency', frequencyMs };
    const options = { actor: caller.actor, ...idempotency };
    const after = await services.control.execute(ref, command, options);
    if (after === null) throw new GatewayError('unknown_sync');
    return { status: 200, body: { frequency: formatFrequency(effectiveFrequencyMs(after)) } };
  },
});

function readFrequency(text: string): number {
  try {
    return parseFrequency(text);
  } catch (error) {
    if (error instanceof GatewayError) throw bodyRefused(['frequency'], error.message);
    throw error;
  }
}

export const syncRoutes: readonly AnyRoute[] = [
  triggerSyncs,
  pauseSyncs,
  startSyncs,
  syncStatus,
  updateFrequency,
  ...variantRoutes,
];
