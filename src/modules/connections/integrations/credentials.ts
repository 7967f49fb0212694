import type { z } from 'zod';
import { GatewayError, type Issue } from '#kernel/errors.ts';
import type { IntegrationFields } from '../credentials/modes/mode.ts';
import { authModeRules } from '../credentials/modes/registry.ts';
import type { Provider } from '../providers/definition.ts';
import type { IntegrationCredentials } from './integration.ts';

/**
 * Credentials of a body, checked against the provider's mode; null when none are sent and none are needed.
 * What a patch leaves out stays as `known` has it; an empty `webhook_secret` removes it.
 * @throws GatewayError `invalid_body` with issues under `credentials`
 */
export function parseIntegrationCredentials(
  provider: Provider,
  body: unknown,
  existing: IntegrationCredentials | null = null,
): IntegrationCredentials | null {
  const mode = provider.auth_mode;
  const needs = authModeRules[mode].integration;
  if (body === undefined || body === null) {
    if (needs?.isRequired !== true) return null;
    throw refused('invalid_type', `Integrations of ${mode} need credentials.`, []);
  }
  const sent = typeof body === 'object' && 'type' in body ? body.type : undefined;
  if (sent !== mode || needs === null) {
    const takes = needs !== null ? `takes credentials of type ${mode}` : 'takes no credentials';
    throw refused('invalid_value', `The provider "${provider.name}" ${takes}.`, ['type']);
  }
  const parsed = needs.shape.safeParse(body);
  if (!parsed.success) throw new GatewayError('invalid_body', { errors: issuesOf(parsed.error) });
  return toStored(parsed.data, provider, existing);
}

function toStored(
  data: IntegrationFields,
  provider: Provider,
  existing: IntegrationCredentials | null,
): IntegrationCredentials {
  const { type, client_id: clientId, client_secret: clientSecret = '' } = data;
  const { app_id: appId, app_link: appLink = '', private_key: privateKey = '' } = data;
  const client = clientId === undefined ? {} : { clientId, clientSecret };
  if (appId !== undefined) return { type, ...client, appId, appLink, privateKey };
  const defaultScopes = existing?.scopes ?? provider.default_scopes?.join(',') ?? '';
  const webhookSecret = data.webhook_secret ?? existing?.webhookSecret ?? null;
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
