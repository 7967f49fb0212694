import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { displayName, wholeNumber } from '#http/fields.ts';
import { askOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { json, succeeded, data, timestamp } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isoMillis, isoMillisOrNull, type Instant } from '#kernel/time.ts';
import { requireEnvironmentById } from '../environments/queries.ts';
import { defineRoute, type AccessServices } from '../services.ts';
import type { ApiKey } from './api-key.ts';
import { apiKeyEntity } from './entity.ts';
import { createKey, createUseNoter, deleteKey, revealKey } from './handlers.ts';
import { findKey, listKeys } from './queries.ts';
import { profileNames, profiles, type Profile, environmentScope } from './scopes.ts';

const scope = z.string().meta({ examples: ['environment:records:read'] });
const keyFields = {
  id: z.uuid().describe('Id of the key.'),
  display_name: z.string().meta({ examples: ['Backend'] }),
  scopes: z.array(scope),
} as const;
const created_at = [timestamp, ({ createdAt }: ApiKey) => isoMillis(createdAt)] as const;

const masked = representation<ApiKey & { readonly lastUsedAt: Instant | null }>()({
  ...keyFields,
  secret: [z.string().meta({ examples: ['****a1B2'] }), ({ lastFour }) => `****${lastFour}`],
  last_used_at: [timestamp.nullable(), ({ lastUsedAt }) => isoMillisOrNull(lastUsedAt)],
  created_at,
});

const inClear = representation<ApiKey & { readonly opened: string }>()({
  ...keyFields,
  secret: [z.string().meta({ examples: ['svc_env_…'] }), ({ opened }) => opened],
  created_at,
});

const keysShape = data(z.array(masked.schema.meta({ id: 'ApiKey' })));

/** With its secret in clear. */
const secretKeyShape = data(inClear.schema.meta({ id: 'ApiKeyWithSecret' }));

/** A key in a list, with its secret masked except for the last four characters. */
const presentKey = (key: ApiKey, lastUsedAt: Instant | null) => masked.of({ ...key, lastUsedAt });

/** A key with its secret in clear: on creation and when it is revealed. */
const presentSecretKey = (key: ApiKey, opened: string) => inClear.of({ ...key, opened });

const noStore = { 'cache-control': 'no-store' };
const environmentId = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const keyId = z.uuid();

const list = defineRoute({
  method: 'GET',
  path: '/environment/api-keys',
  credential: 'account',
  scopes: ['account:environments:api_keys:list'],
  summary: 'List the API keys of an environment, oldest first.',
  description: 'Secrets are masked.',
  query: z.strictObject({ environment_id: wholeNumber(0, Number.MAX_SAFE_INTEGER) }),
  answers: { 200: json('The keys.', keysShape) },
  errors: ['not_found'],
  async handle({ query, services }) {
    const environment = await requireEnvironmentById(services.control, query.environment_id);
    return { status: 200, body: { data: await presentAll(services, environment.uid) } };
  },
});

const create = defineRoute({
  method: 'POST',
  path: '/environment/api-keys',
  credential: 'account',
  scopes: ['account:environments:api_keys:create'],
  summary: 'Create an API key of an environment.',
  description:
    'With `scopes`, with those of a `profile`, or else with full access. It works at once on every node.',
  body: z
    .strictObject({
      environment_id: environmentId,
      display_name: displayName,
      scopes: z
        .array(environmentScope)
        .min(1)
        .max(100)
        .optional()
        .describe('Scopes of the key; without them and `profile` it has full access.'),
      profile: z
        .enum(profileNames)
        .optional()
        .describe('Set of scopes in place of `scopes`: `auth`, `deploy` or `backend`.'),
    })
    .superRefine(({ scopes, profile }, context) => {
      if (scopes === undefined || profile === undefined) return;
      const message = 'Send scopes or a profile, not both.';
      context.addIssue({ code: 'custom', message, path: ['profile'] });
    }),
  answers: { 200: json('The key with its secret.', secretKeyShape) },
  errors: ['not_found', 'conflict', 'resource_capped'],
  async handle(input) {
    const { body, services } = input;
    const environment = await requireEnvironmentById(services.control, body.environment_id);
    const wanted = {
      environmentUid: environment.uid,
      displayName: body.display_name,
      scopes: scopesOf(body),
    };
    const { key, secret } = await createKey(services, wanted, askOptions(input));
    return { status: 200, body: { data: presentSecretKey(key, secret) }, headers: noStore };
  },
});

function scopesOf(sent: {
  readonly scopes?: readonly string[] | undefined;
  readonly profile?: Profile | undefined;
}): readonly string[] | undefined {
  if (sent.profile !== undefined) return profiles[sent.profile];
  return sent.scopes && [...new Set(sent.scopes)];
}

const reveal = defineRoute({
  method: 'POST',
  path: '/environment/api-keys/{id}/reveal',
  credential: 'account',
  scopes: ['account:environments:api_keys:reveal'],
  summary: 'Reveal the secret of an API key.',
  description: 'The read is audited.',
  params: z.strictObject({ id: keyId.describe('Id of the key.') }),
  answers: { 200: json('The key with its secret.', secretKeyShape) },
  errors: ['not_found'],
  async handle({ params, services }) {
    const key = await requireById(services, params.id);
    const secret = await revealKey(services, key);
    return { status: 200, body: { data: presentSecretKey(key, secret) }, headers: noStore };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/environment/api-keys',
  credential: 'account',
  scopes: ['account:environments:api_keys:delete'],
  summary: 'Delete an API key of an environment.',
  description: 'It stops working at once, on every node.',
  body: z.strictObject({ environment_id: environmentId, key_id: keyId }),
  answers: succeeded,
  errors: ['not_found'],
  async handle(input) {
    const { body, services } = input;
    const environment = await requireEnvironmentById(services.control, body.environment_id);
    await deleteKey(services, environment.uid, body.key_id, askOptions(input));
    return { status: 200, body: { success: true } };
  },
});

const listAccount = defineRoute({
  method: 'GET',
  path: '/account/api-keys',
  credential: 'account',
  scopes: ['account:api_keys:list'],
  summary: 'List the API keys of the account, oldest first.',
  description: 'Secrets are masked.',
  answers: { 200: json('The keys.', keysShape) },
  errors: [],
  async handle({ services }) {
    return { status: 200, body: { data: await presentAll(services, null) } };
  },
});

const createAccount = defineRoute({
  method: 'POST',
  path: '/account/api-keys',
  credential: 'account',
  scopes: ['account:api_keys:create'],
  summary: 'Create an API key of the account.',
  description: 'The response holds its secret, which cannot be read again.',
  body: z.strictObject({ display_name: displayName }),
  answers: { 200: json('The key with its secret.', secretKeyShape) },
  errors: ['conflict', 'resource_capped'],
  async handle(input) {
    const wanted = { environmentUid: null, displayName: input.body.display_name };
    const { key, secret } = await createKey(input.services, wanted, askOptions(input));
    return { status: 200, body: { data: presentSecretKey(key, secret) }, headers: noStore };
  },
});

const removeAccount = defineRoute({
  method: 'DELETE',
  path: '/account/api-keys',
  credential: 'account',
  scopes: ['account:api_keys:delete'],
  summary: 'Delete an API key of the account.',
  description: 'A key cannot delete itself.',
  body: z.strictObject({ key_id: keyId }),
  answers: succeeded,
  errors: ['not_found', 'conflict'],
  async handle(input) {
    const { body, caller, services } = input;
    // Otherwise the last key could be deleted, and with it the only way to create another.
    if (body.key_id === caller.keyId) {
      throw new GatewayError('conflict', { message: 'A key cannot delete itself.' });
    }
    await deleteKey(services, null, body.key_id, askOptions(input));
    return { status: 200, body: { success: true } };
  },
});

async function presentAll(services: AccessServices, environmentUid: string | null) {
  const uses = createUseNoter(services);
  return Promise.all(
    listKeys(services.control, environmentUid).map(async (key) => {
      return presentKey(key, await uses.lastUsedAt(key));
    }),
  );
}

/** @throws GatewayError `not_found` */
async function requireById({ control }: AccessServices, id: string): Promise<ApiKey> {
  const find = () => {
    const found = control.view.list(apiKeyEntity, []).find(({ state }) => state.id === id);
    return found ? findKey(control, found.state.environmentUid, id) : null;
  };
  const existing = find();
  if (existing) return existing;
  await control.view.caughtUp();
  const found = find();
  if (found) return found;
  throw new GatewayError('not_found', { message: `The API key with the id ${id} does not exist.` });
}

export const apiKeyRoutes: readonly AnyRoute[] = [
  list,
  create,
  reveal,
  remove,
  listAccount,
  createAccount,
  removeAccount,
];
