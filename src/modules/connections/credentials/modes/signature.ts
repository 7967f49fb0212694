import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { textAt } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { iso } from './expiry.ts';
import { bearer, type AuthModeRules, type ModeContext, type ObtainedCredentials } from './mode.ts';
import { strict } from './shapes.ts';

const lifetimeMsDefault = 300_000;
const field = z.string().min(1).max(1024);
const fields = { type: z.literal('SIGNATURE'), username: field, password: field };

/** WSSE UsernameToken (docs/reference/auth-modes.md#signature). */
export const signature: AuthModeRules = {
  mode: 'SIGNATURE',
  integration: null,
  importShape: () => strict(fields),
  import: async (input, context) => signed(input, context),
  form: {
    shape: () => strict(fields),
    submit: async (credentials, context) => signed(credentials, context),
  },
  redirect: null,
  renewal: {
    isPossible: () => true,
    spendsToken: () => false,
    renew: async (held, context) => signed(held, context),
  },
  isTested: true,
  authorization: ({ credentials }) => bearer(credentials['token']),
};

function signed(input: JsonObject, { provider, clock }: ModeContext): ObtainedCredentials {
  const now = clock.now();
  const username = textAt(input, 'username') ?? '';
  const password = textAt(input, 'password') ?? '';
  const expiresAt = now + (provider.token?.expires_in_ms ?? lifetimeMsDefault);
  const token = usernameToken({ username, password, now, nonce: randomBytes(16).toString('hex') });
  return {
    credentials: { type: 'SIGNATURE', username, password, token, expires_at: iso(expiresAt) },
    expiresAt,
  };
}

/** The digest is base64 of the hexadecimal text of SHA-1, as the providers of this mode expect it. */
export function usernameToken(parts: {
  readonly username: string;
  readonly password: string;
  readonly now: number;
  readonly nonce: string;
}): string {
  const created = iso(parts.now);
  const digest = createHash('sha1')
    .update(`${parts.nonce}${created}${parts.password}`)
    .digest('hex');
  const encoded = Buffer.from(digest).toString('base64');
  return `UsernameToken Username="${parts.username}", PasswordDigest="${encoded}", Nonce="${parts.nonce}", Created="${created}"`;
}
