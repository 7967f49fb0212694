import type { z } from 'zod';
import { GatewayError, type Issue } from '../../../kernel/errors.ts';
import type { ModeContext, Obtained } from './modes/mode.ts';
import { ProviderAuthError } from './modes/provider-auth-error.ts';
import { authModeRules } from './modes/registry.ts';

/**
 * Credentials of a `POST /connections` body: checked against the provider's mode, and completed by the
 * provider where the mode imports something that a token is fetched with (docs/reference/auth-modes.md#credentials).
 * @throws GatewayError `invalid_body` with issues under `credentials`, or why the provider gave no token
 */
export async function importCredentials(context: ModeContext, body: unknown): Promise<Obtained> {
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

/** What a provider refuses is the caller's to know. */
export async function askedOf<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
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
