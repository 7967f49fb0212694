import { z } from 'zod';
import { type AnyRoute, errorAt } from '#http/define-route.ts';
import { connectionId, functionName, integrationKey } from '#http/fields.ts';
import { json, succeeded } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { requireConnection } from '#modules/connections/connections/queries.ts';
import { requireFunction } from '../functions/queries.ts';
import { defineRoute } from '../services.ts';
import { connectionPathOf, syncEntity, syncRef } from './entity.ts';
import { variantShape } from './presenter.ts';
import { createInstance, removeInstance } from './reconcile.ts';

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

export const variantRoutes: readonly AnyRoute[] = [createVariant, deleteVariant];
