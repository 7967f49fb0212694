import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { functionName, integrationKey } from '#http/fields.ts';
import { askOptions } from '#http/options.ts';
import { json } from '#http/responses.ts';
import { limits } from '#kernel/limits.ts';
import { functionRef } from '../functions/entity.ts';
import { debounceFields, oneFunctionShape, presentFunction } from '../functions/presenter.ts';
import { requireFunction } from '../functions/queries.ts';
import { defineRoute } from '../services.ts';

const seconds = z
  .number()
  .min(0.1)
  .max(limits.debounceMaxMs / 1000);

const debounceRoute = defineRoute({
  method: 'PUT',
  path: '/integrations/{uniqueKey}/functions/{name}/debounce',
  credential: 'environment',
  scopes: ['environment:deploy'],
  summary: 'Join the webhooks that start runs of a sync.',
  description:
    'A burst of webhooks of one connection then starts few runs of `onWebhook`. It applies to webhooks from now on, and stays over deployments.',
  params: z.strictObject({
    uniqueKey: integrationKey,
    name: functionName.describe('Name of the sync.'),
  }),
  body: z.strictObject({
    debounce: z
      .strictObject({
        ...debounceFields,
        seconds: seconds.describe(debounceFields.seconds.description ?? ''),
        max_wait_seconds: seconds.describe(debounceFields.max_wait_seconds.description ?? ''),
      })
      .nullable()
      .describe('How webhooks are joined; null: each has a run of its own.'),
  }),
  answers: { 200: json('The function.', oneFunctionShape) },
  errors: ['not_found'],
  async handle(input) {
    const { params, body, caller, services } = input;
    const where = [caller.environmentUid, params.uniqueKey, 'sync', params.name] as const;
    const found = await requireFunction(services.control, ...where);
    const wanted = body.debounce;
    const debounce = wanted && {
      waitMs: wanted.seconds * 1000,
      maxWaitMs: Math.max(wanted.seconds, wanted.max_wait_seconds) * 1000,
      payload: wanted.payload,
    };
    const command = { type: 'SetDebounce', debounce } as const;
    const options = askOptions(input);
    const changed = await services.control.execute(functionRef(...where), command, options);
    return { status: 200, body: { data: presentFunction(changed ?? found) } };
  },
});

export const webhookBatchRoutes: readonly AnyRoute[] = [debounceRoute];
