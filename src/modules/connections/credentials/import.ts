import type { z } from 'zod';
import { GatewayError, type Issue } from '#kernel/errors.ts';
import type { ModeContext, ObtainedCredentials } from './modes/mode.ts';
import { ProviderAuthError } from './modes/provider-auth-error.ts';
import { authModeRules } from './modes/registry.ts';

/**
 * Credentials of a `POST /connections` body: checked against the provider's mode. Where the imported values are used to
 * fetch a token, the provider is called for it (docs/reference/auth-modes.md#credentials).
 * @throws GatewayError `invalid_body` with issues under `credentials`, or why the provider issued no token
 */
export async function importCredentials(
  context: ModeContext,
  body: unknown,
): Promise<ObtainedCredentials> {
  const { provider } = context;
  const rules = authModeRules[provider.auth_mode];
  const sent = typeof body === 'object' && body !== null && 'type' in body ? body.type : undefined;
  if (sent !== provider.auth_mode) {
    const message = `The provider "${provider.name}" requires credentials of type ${provider.auth_mode}.`;
    throw invalid([{ code: 'invalid_value', message, path: ['credentials', 'type'] }]);
  }
  const parsed = rules.importShape(provider).safeParse(body);
  if (!parsed.success) throw invalid(parsed.error.issues.map(toIssue));
  return askedOf(() => rules.import(parsed.data, context));
}

/** The caller gets the provider's refusal. */
export async function askedOf<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    throw error instanceof ProviderAuthError ? error.toGatewayError() : error;
  }
}

function toIssue(issue: z.core.$ZodIssue): Issue {
  const path = ['credentials', ...issue.path.map(String)];
  return { code: issue.code, message: issue.message, path };
}

const invalid = (errors: readonly Issue[]): GatewayError =>
  new GatewayError('invalid_body', { errors });
