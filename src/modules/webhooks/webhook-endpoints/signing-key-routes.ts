import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { askOptions } from '#http/options.ts';
import { data, json } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis, secondMs } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import { presentSigningKey } from '#modules/access/environments/queries.ts';
import { defineRoute, type WebhooksServices } from '../services.ts';
import { requireEndpoint } from './queries.ts';
import { openEndpointKeys, rotateEndpointKey } from './signing-keys.ts';
import { previousSigningKey, type WebhookEndpoint } from './webhook-endpoint.ts';

const path = z.strictObject({ id: z.uuid().describe('Id of the endpoint.') });
const keyText = z
  .string()
  .meta({ examples: ['whsec_NmYxYzBjNmUtNWQwYi00ZDBlLTlkNTctMGE0YjNkOGMxZjEx'] });

const keysShape = data(
  z
    .strictObject({
      webhook_signing_key: keyText,
      previous_webhook_signing_key: keyText.nullable(),
      previous_valid_until: z
        .string()
        .nullable()
        .describe('Until when the key before it signs too (RFC 3339); null: no longer.'),
      managed_by: z
        .enum(['environment', 'endpoint'])
        .describe('Whether it is the key of the environment or of this endpoint alone.'),
    })
    .meta({ id: 'WebhookEndpointSigningKeys' }),
);

/** Keys are shown to callers with the scope of the signing key of the environment only. */
async function shownKeys(services: WebhooksServices, endpoint: WebhookEndpoint) {
  const { control, vault, clock } = services;
  const environment = control.view.find(environmentRef(endpoint.environmentUid));
  if (environment === null) throw new GatewayError('unknown_environment');
  const now = clock.now();
  const { current, previous } = await openEndpointKeys(vault, { environment, endpoint }, now);
  const isOwn = endpoint.signingKey !== undefined;
  const until = isOwn
    ? previousSigningKey(endpoint, now)?.until
    : previous === null
      ? undefined
      : environment.previousSigningKey?.until;
  return {
    status: 200 as const,
    body: {
      data: {
        webhook_signing_key: presentSigningKey(current),
        previous_webhook_signing_key: previous === null ? null : presentSigningKey(previous),
        previous_valid_until: until === undefined ? null : isoMillis(until),
        managed_by: isOwn ? ('endpoint' as const) : ('environment' as const),
      },
    },
    headers: { 'cache-control': 'no-store' },
  };
}

const read = defineRoute({
  method: 'GET',
  path: '/webhook-endpoints/{id}/signing-key',
  credential: 'environment',
  scopes: ['environment:webhook_signing_key:read'],
  summary: 'Get the key that signs webhooks to an endpoint.',
  description: 'That of the environment, unless the endpoint has its own. The read is audited.',
  params: path,
  answers: { 200: json('The key, and the one before while it signs too.', keysShape) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    const { control } = services;
    return shownKeys(services, await requireEndpoint(control, caller.environmentUid, params.id));
  },
});

const rotate = defineRoute({
  method: 'POST',
  path: '/webhook-endpoints/{id}/signing-key/rotate',
  credential: 'environment',
  scopes: ['environment:webhook_signing_key:rotate'],
  summary: 'Give an endpoint a signing key of its own, or another one.',
  description:
    'The key before, at first that of the environment, signs beside it for `overlap_seconds`.',
  params: path,
  body: z.strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(limits.signingKeyOverlapMaxMs / secondMs)
      .default(limits.signingKeyOverlapMs / secondMs)
      .describe('How long the key before signs too; 0: every earlier key ends at once.'),
  }),
  answers: { 200: json('The new key, and the one before while it signs too.', keysShape) },
  errors: ['not_found', 'multiple_webhook_signing_keys'],
  async handle(input) {
    const { params, body, caller, services } = input;
    const found = await requireEndpoint(services.control, caller.environmentUid, params.id);
    const overlapMs = body.overlap_seconds * secondMs;
    return shownKeys(
      services,
      await rotateEndpointKey(services, found, overlapMs, askOptions(input)),
    );
  },
});

export const endpointKeyRoutes: readonly AnyRoute[] = [read, rotate];
