import { z } from 'zod';
import { textAt } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { iso } from './expiry.ts';
import type { AuthModeRules, ModeContext, ObtainedCredentials } from './mode.ts';
import { answerWithout } from './provider-auth-error.ts';
import { strict } from './shapes.ts';
import { addressOf, requestToken, headersOf, tokenValues } from './token-request.ts';

/** A session expires after this time without use. */
const lifetimeMs = 35 * 60_000;
const field = z.string().min(1).max(1024);
const fields = { username: field, password: field, organization_id: field, dev_key: field };

/** A login whose session goes into the provider's own headers. */
export const bill: AuthModeRules = {
  mode: 'BILL',
  integration: null,
  importShape: () => strict({ type: z.literal('BILL'), ...fields }),
  import: (input, context) => loggedIn(input, context),
  form: { shape: () => strict(fields), submit: loggedIn },
  redirect: null,
  renewal: { isPossible: () => true, spendsToken: () => false, renew: loggedIn },
  isTested: false,
  authorization: () => null,
};

async function loggedIn(input: JsonObject, context: ModeContext): Promise<ObtainedCredentials> {
  const { provider, clock } = context;
  const values = tokenValues(context, input);
  const template = typeof provider.token_url === 'string' ? provider.token_url : undefined;
  const text = (name: string): string => textAt(input, name) ?? '';
  const { body } = await requestToken(context, {
    url: addressOf(provider, 'token_url', template, values),
    params: {
      username: text('username'),
      password: text('password'),
      organizationId: text('organization_id'),
      devKey: text('dev_key'),
    },
    format: 'json',
    headers: headersOf(provider.token_headers, values),
    failure: 'invalid_credentials',
  });
  const sessionId = textAt(body, 'sessionId');
  if (sessionId === null) throw answerWithout('session', provider, 'invalid_credentials');
  const expiresAt = clock.now() + lifetimeMs;
  return {
    credentials: {
      type: 'BILL',
      username: text('username'),
      password: text('password'),
      organization_id: textAt(body, 'organizationId') ?? text('organization_id'),
      dev_key: text('dev_key'),
      session_id: sessionId,
      user_id: textAt(body, 'userId') ?? '',
      expires_at: iso(expiresAt),
      raw: body,
    },
    expiresAt,
  };
}
