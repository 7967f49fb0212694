import { z } from 'zod';
import { findCaughtUp } from '#control-plane/control-plane.ts';
import type { AnyRoute } from '#http/define-route.ts';
import { displayName, wholeNumber } from '#http/fields.ts';
import { askOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { json, succeeded, data, timestamp } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis, isoMillisOrNull, secondMs } from '#kernel/time.ts';
import { requireEnvironmentById } from '../environments/queries.ts';
import { defineRoute, type AccessServices } from '../services.ts';
import { previousSecret, type ApiKey, type PreviousSecret } from './api-key.ts';
import { apiKeyEntity } from './entity.ts';
import {
  createKey,
  createUseNoter,
  deleteKey,
  endPreviousSecret,
  type LastUse,
  revealKey,
  rotateKey,
} from './handlers.ts';
import { findKey, listKeys } from './queries.ts';
import { profileNames, profiles, type Profile, environmentScope } from './scopes.ts';

const scope = z.string().meta({ examples: ['environment:records:read'] });
const keyFields = {
  id: z.uuid().describe('Id of the key.'),
  display_name: z.string().meta({ examples: ['Backend'] }),
  scopes: z.array(scope),
} as const;
const created_at = [timestamp, ({ createdAt }: ApiKey) => isoMillis(createdAt)] as const;
const expires_at = [
  timestamp.nullable().describe('From when on the key is refused; null: never.'),
  ({ expiresAt }: ApiKey) => isoMillisOrNull(expiresAt ?? null),
] as const;

const maskedSecret = z.string().meta({ examples: ['****a1B2'] });
const useFields = {
  last_used_at: [
    timestamp.nullable().describe('Last use of this secret; null: never.'),
    ({ lastUse }: { readonly lastUse: LastUse }) => isoMillisOrNull(lastUse.at),
  ],
  last_used_from: [
    z
      .string()
      .nullable()
      .meta({ description: 'Network of the client of that use.', examples: ['192.0.2.0/24'] }),
    ({ lastUse }: { readonly lastUse: LastUse }) => lastUse.from,
  ],
} as const;

const replaced = representation<PreviousSecret & { readonly lastUse: LastUse }>()({
  secret: [maskedSecret, ({ lastFour }) => `****${lastFour}`],
  valid_until: [
    timestamp.describe('From when on the secret is refused.'),
    ({ validUntil }) => isoMillis(validUntil),
  ],
  ...useFields,
});

interface ListedKey extends ApiKey {
  readonly lastUse: LastUse;
  readonly replaced: (PreviousSecret & { readonly lastUse: LastUse }) | null;
}

const masked = representation<ListedKey>()({
  ...keyFields,
  secret: [maskedSecret, ({ lastFour }) => `****${lastFour}`],
  ...useFields,
  expires_at,
  previous_secret: [
    replaced.schema
      .meta({ id: 'PreviousSecret' })
      .nullable()
      .describe('The secret that a rotation replaced, while it is valid; else null.'),
    (key) => key.replaced && replaced.of(key.replaced),
  ],
  created_at,
});

const inClear = representation<ApiKey & { readonly opened: string }>()({
  ...keyFields,
  secret: [z.string().meta({ examples: ['svc_env_…'] }), ({ opened }) => opened],
  expires_at,
  created_at,
});

const keysShape = data(z.array(masked.schema.meta({ id: 'ApiKey' })));

/** With its secret in clear. */
const secretKeyShape = data(inClear.schema.meta({ id: 'ApiKeyWithSecret' }));

/** A key with its secret in clear: on creation and when it is revealed. */
const presentSecretKey = (key: ApiKey, opened: string) => inClear.of({ ...key, opened });

const noStore = { 'cache-control': 'no-store' };
const environmentId = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const keyId = z.uuid();
const keyParams = z.strictObject({ id: keyId.describe('Id of the key.') });
const expiresAt = z.iso
  .datetime({ offset: true })
  .transform((value) => Date.parse(value))
  .nullable()
  .optional()
  .meta({ examples: ['2027-02-01T08:00:00.000Z'] });
const newExpiry = expiresAt.describe('From when on the key is refused; null or absent: never.');
const rotation = z.strictObject({
  overlap_seconds: z
    .int()
    .min(0)
    .max(limits.keyOverlapMaxMs / secondMs)
    .default(limits.keyOverlapMs / secondMs)
    .describe('How long the secret before stays valid; 0: it is refused at once.'),
  expires_at: expiresAt.describe(
    'From when on the key is refused; null: never; absent: as before.',
  ),
});

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
      expires_at: newExpiry,
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
      expiresAt: body.expires_at,
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
  params: keyParams,
  answers: { 200: json('The key with its secret.', secretKeyShape) },
  errors: ['not_found'],
  async handle({ params, services }) {
    const key = await requireById(services, params.id);
    const secret = await revealKey(services, key);
    return { status: 200, body: { data: presentSecretKey(key, secret) }, headers: noStore };
  },
});

const rotationText =
  'The key keeps its id, name and scopes. The response holds the new secret; the one before stays valid for `overlap_seconds`.';
/** The routes of a rotation, of the keys of environments and of those of the account. */
const rotationRoutes = ({
  root,
  scope,
  texts,
  require,
}: {
  readonly root: '/environment/api-keys' | '/account/api-keys';
  readonly scope: string;
  readonly texts: {
    readonly rotate: string;
    readonly rotateMore: string;
    readonly end: string;
  };
  readonly require: (services: AccessServices, id: string) => Promise<ApiKey>;
}) => ({
  rotate: defineRoute({
    method: 'POST',
    path: `${root}/{id}/rotate`,
    credential: 'account',
    scopes: [scope],
    summary: texts.rotate,
    description: texts.rotateMore,
    params: keyParams,
    body: rotation,
    answers: { 200: json('The key with its new secret.', secretKeyShape) },
    errors: ['not_found', 'conflict'],
    handle: async (input) => rotated(await require(input.services, input.params.id), input),
  }),
  endPrevious: defineRoute({
    method: 'DELETE',
    path: `${root}/{id}/previous-secret`,
    credential: 'account',
    scopes: [scope],
    summary: texts.end,
    description: 'It stops working at once, on every node.',
    params: keyParams,
    answers: succeeded,
    errors: ['not_found'],
    async handle(input) {
      const { params, services } = input;
      await endPreviousSecret(services, await require(services, params.id), askOptions(input));
      return { status: 200, body: { success: true } };
    },
  }),
});

const ofEnvironment = rotationRoutes({
  root: '/environment/api-keys',
  scope: 'account:environments:api_keys:rotate',
  texts: {
    rotate: 'Give an API key of an environment a new secret.',
    rotateMore: rotationText,
    end: 'End the secret that a rotation replaced, before its time.',
  },
  require: requireById,
});

const ofAccount = rotationRoutes({
  root: '/account/api-keys',
  scope: 'account:api_keys:rotate',
  texts: {
    rotate: 'Give an API key of the account a new secret.',
    rotateMore: `${rotationText} A key can rotate itself.`,
    end: 'End the secret that a rotation of an account key replaced, before its time.',
  },
  require: requireOfAccount,
});

async function rotated(
  key: ApiKey,
  input: Parameters<typeof askOptions>[0] & {
    readonly body: z.output<typeof rotation>;
    readonly services: AccessServices;
  },
) {
  const { body, services } = input;
  const wanted = { overlapMs: body.overlap_seconds * secondMs, expiresAt: body.expires_at };
  const { key: after, secret } = await rotateKey(services, key, wanted, askOptions(input));
  return { status: 200, body: { data: presentSecretKey(after, secret) }, headers: noStore };
}

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
  body: z.strictObject({ display_name: displayName, expires_at: newExpiry }),
  answers: { 200: json('The key with its secret.', secretKeyShape) },
  errors: ['conflict', 'resource_capped'],
  async handle(input) {
    const { display_name: name, expires_at: expiresAt } = input.body;
    const wanted = { environmentUid: null, displayName: name, expiresAt };
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

/** The keys with their secrets masked except for the last four characters. */
async function presentAll(services: AccessServices, environmentUid: string | null) {
  const uses = createUseNoter(services);
  const now = services.clock.now();
  return Promise.all(
    listKeys(services.control, environmentUid).map(async (key) => {
      const previous = previousSecret(key, now);
      const lastUseOf = (hash: string) => uses.lastUse({ key, hash });
      return masked.of({
        ...key,
        lastUse: await lastUseOf(key.hash),
        replaced: previous && { ...previous, lastUse: await lastUseOf(previous.hash) },
      });
    }),
  );
}

/** @throws GatewayError `not_found` */
async function requireById({ control }: AccessServices, id: string): Promise<ApiKey> {
  const find = () => {
    const found = control.view.list(apiKeyEntity, []).find(({ state }) => state.id === id);
    return found ? findKey(control, found.state.environmentUid, id) : null;
  };
  return (await findCaughtUp(control.view, find)) ?? refuseUnknown(id);
}

/** @throws GatewayError `not_found` */
async function requireOfAccount({ control }: AccessServices, id: string): Promise<ApiKey> {
  const find = () => findKey(control, null, id);
  return (await findCaughtUp(control.view, find)) ?? refuseUnknown(id);
}

function refuseUnknown(id: string): never {
  throw new GatewayError('not_found', { message: `The API key with the id ${id} does not exist.` });
}

export const apiKeyRoutes: readonly AnyRoute[] = [
  list,
  create,
  reveal,
  ofEnvironment.rotate,
  ofEnvironment.endPrevious,
  remove,
  listAccount,
  createAccount,
  ofAccount.rotate,
  ofAccount.endPrevious,
  removeAccount,
];
