import { z } from 'zod';
import { GatewayError, type Issue } from '../../kernel/errors.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Credentials } from '../connections/state.ts';
import type { AuthMode, Provider } from '../providers/definition.ts';

/** ISO text, epoch milliseconds when that gives a year after 1971, else epoch seconds. */
const date = z.union([z.string().min(1), z.number()]).transform((value, context): Instant => {
  const at = typeof value === 'number' ? epoch(value) : Date.parse(value);
  if (Number.isFinite(at)) return at;
  context.issues.push({ code: 'custom', message: 'Not a date.', input: value });
  return z.NEVER;
});

const epoch = (value: number): Instant =>
  new Date(value).getUTCFullYear() > 1971 ? value : value * 1000;

/** Import shapes by mode with their limits (contract/auth-modes.md section 2). */
const shapes = {
  NONE: z.strictObject({ type: z.literal('NONE') }),
  API_KEY: z.strictObject({
    type: z.literal('API_KEY'),
    apiKey: z.string().min(1).max(1024),
  }),
  BASIC: z.strictObject({
    type: z.literal('BASIC'),
    username: z.string().max(1024),
    password: z.string().max(1024),
  }),
  OAUTH2: z.strictObject({
    type: z.literal('OAUTH2'),
    access_token: z.string().min(1).max(16_384),
    refresh_token: z.string().min(1).max(16_384).optional(),
    expires_at: date.optional(),
    config_override: z
      .strictObject({
        client_id: z.string().max(255).optional(),
        client_secret: z.string().max(2048).optional(),
      })
      .optional(),
  }),
} as const satisfies Partial<Record<AuthMode, z.ZodType>>;

type ImportMode = keyof typeof shapes;

export interface ImportedCredentials {
  /** As they are stored; null for the mode NONE, which has none. */
  readonly credentials: Credentials | null;
  readonly expiresAt: Instant | null;
}

/**
 * Credentials of a `POST /connections` body, checked against the provider's mode.
 * @throws GatewayError `invalid_body` with issues under `credentials`; `unsupported_auth` naming the mode
 */
export function parseImport(provider: Provider, body: unknown): ImportedCredentials {
  const mode = provider.auth_mode;
  const sent = typeof body === 'object' && body !== null && 'type' in body ? body.type : undefined;
  if (sent !== mode) {
    const message = `The provider "${provider.name}" takes credentials of type ${mode}.`;
    throw invalid([{ code: 'invalid_value', message, path: ['credentials', 'type'] }]);
  }
  if (!isImportMode(mode)) {
    const message = `Connections of the authentication mode ${mode} are not supported yet.`;
    throw new GatewayError('unsupported_auth', { message });
  }
  const parsed = shapes[mode].safeParse(body);
  if (!parsed.success) throw invalid(parsed.error.issues.map(toIssue));
  return toImported(parsed.data);
}

function toImported(data: z.output<(typeof shapes)[ImportMode]>): ImportedCredentials {
  switch (data.type) {
    case 'NONE':
      return { credentials: null, expiresAt: null };
    case 'API_KEY':
    case 'BASIC':
      return { credentials: data, expiresAt: null };
    case 'OAUTH2': {
      const { expires_at: expiresAt, ...tokens } = data;
      const expiry =
        expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() };
      const given = Object.entries({ ...tokens, ...expiry, raw: {} });
      const credentials = Object.fromEntries(given.filter(([, value]) => value !== undefined));
      return { credentials: credentials as Credentials, expiresAt: expiresAt ?? null };
    }
  }
}

const isImportMode = (mode: AuthMode): mode is ImportMode => Object.hasOwn(shapes, mode);

function toIssue(issue: z.core.$ZodIssue): Issue {
  const path = ['credentials', ...issue.path.map(String)];
  return { code: issue.code, message: issue.message, path };
}

const invalid = (errors: readonly Issue[]): GatewayError =>
  new GatewayError('invalid_body', { errors });
