import { z } from 'zod';
import { GatewayError, type Issue } from '../../kernel/errors.ts';
import type { AuthMode, Provider } from '../providers/definition.ts';
import type { IntegrationCredentials } from './state.ts';

const scopes = z
  .string()
  .regex(/^(?:[0-9a-zA-Z:/_.*-]+(?:,[0-9a-zA-Z:/_.*-]+)*)?$/)
  .optional();
const privateKey = z
  .string()
  .trim()
  .regex(/^-----BEGIN RSA PRIVATE KEY----[^]*-----END RSA PRIVATE KEY-----$/);
const id = z.string().min(1).max(255);
const secret = z.string().min(1);

const oauth = <Mode extends 'OAUTH1' | 'OAUTH2' | 'TBA'>(mode: Mode) =>
  z.strictObject({
    type: z.literal(mode),
    client_id: id,
    client_secret: secret,
    scopes,
    webhook_secret: z.string().max(255).optional(),
  });

/** What an integration holds by mode (contract/http.md section 2, "Credentials in"). */
const shapes = {
  OAUTH1: oauth('OAUTH1'),
  OAUTH2: oauth('OAUTH2'),
  TBA: oauth('TBA'),
  APP: z.strictObject({
    type: z.literal('APP'),
    app_id: id,
    app_link: z.string().min(1),
    private_key: privateKey,
  }),
  CUSTOM: z.strictObject({
    type: z.literal('CUSTOM'),
    client_id: id,
    client_secret: secret,
    app_id: id,
    app_link: z.string().min(1),
    private_key: privateKey,
  }),
} as const satisfies Partial<Record<AuthMode, z.ZodType>>;

type SecretMode = keyof typeof shapes;

const required: ReadonlySet<AuthMode> = new Set<AuthMode>(['OAUTH1', 'OAUTH2', 'APP', 'CUSTOM']);

const isSecretMode = (mode: AuthMode): mode is SecretMode => Object.hasOwn(shapes, mode);

/**
 * Credentials of a body, checked against the provider's mode; null when none are sent and none are needed.
 * What a patch leaves out stays as `known` has it; an empty `webhook_secret` removes it.
 * @throws GatewayError `invalid_body` with issues under `credentials`
 */
export function parseIntegrationCredentials(
  provider: Provider,
  body: unknown,
  known: IntegrationCredentials | null = null,
): IntegrationCredentials | null {
  const mode = provider.auth_mode;
  if (body === undefined || body === null) {
    if (!required.has(mode)) return null;
    throw refused('invalid_type', `Integrations of ${mode} need credentials.`, []);
  }
  const sent = typeof body === 'object' && 'type' in body ? body.type : undefined;
  if (sent !== mode || !isSecretMode(mode)) {
    const takes = isSecretMode(mode) ? `takes credentials of type ${mode}` : 'takes no credentials';
    throw refused('invalid_value', `The provider "${provider.name}" ${takes}.`, ['type']);
  }
  const parsed = shapes[mode].safeParse(body);
  if (!parsed.success) throw new GatewayError('invalid_body', { errors: issuesOf(parsed.error) });
  return toStored(parsed.data, provider, known);
}

function toStored(
  data: z.output<(typeof shapes)[SecretMode]>,
  provider: Provider,
  known: IntegrationCredentials | null,
): IntegrationCredentials {
  const { type } = data;
  const client =
    'client_id' in data ? { clientId: data.client_id, clientSecret: data.client_secret } : {};
  const app =
    'app_id' in data
      ? { appId: data.app_id, appLink: data.app_link, privateKey: data.private_key }
      : {};
  if (data.type === 'APP' || data.type === 'CUSTOM') return { type, ...client, ...app };
  const defaultScopes = known?.scopes ?? provider.default_scopes?.join(',') ?? '';
  const webhookSecret = data.webhook_secret ?? known?.webhookSecret ?? null;
  return {
    type,
    ...client,
    scopes: data.scopes ?? defaultScopes,
    webhookSecret: webhookSecret === '' ? null : webhookSecret,
  };
}

/** Credentials as the API returns them. */
export function presentIntegrationCredentials(
  credentials: IntegrationCredentials | null,
): Readonly<Record<string, string | null>> | null {
  if (credentials === null) return null;
  const { type, clientId, clientSecret, appId, appLink, privateKey: key } = credentials;
  const client =
    clientId === undefined ? {} : { client_id: clientId, client_secret: clientSecret ?? '' };
  if (appId !== undefined) {
    return { type, ...client, app_id: appId, app_link: appLink ?? '', private_key: key ?? '' };
  }
  const { scopes: granted = '', webhookSecret = null } = credentials;
  return { type, ...client, scopes: granted, webhook_secret: webhookSecret };
}

const issuesOf = (error: z.ZodError): Issue[] =>
  error.issues.map(({ code, message, path }) => {
    return { code, message, path: ['credentials', ...path.map(String)] };
  });

const refused = (code: string, message: string, path: readonly string[]): GatewayError =>
  new GatewayError('invalid_body', {
    errors: [{ code, message, path: ['credentials', ...path] }],
  });
