import { modeContext } from '../credentials/mode-context.ts';
import { authModeRules } from '../credentials/modes/registry.ts';
import { textIn, type Language, type TextIn } from '../providers/routes.ts';
import type { ConnectionsServices } from '../services.ts';
import type { AuthorizationTarget } from './attempt.ts';
import { paramsOf, redirectScopes } from './start-redirect.ts';

/** A scope that a consent asks for. */
export interface RequestedScope {
  /** What is not known before the input of the person is `…`. */
  readonly name: string;
  /** What it allows; null: the definition does not say it. */
  readonly meaning: TextIn | null;
}

/** The scopes that a redirect will ask for, in its order. */
export async function requestedScopes(
  services: ConnectionsServices,
  { integration, provider, defaults, stored, fixed }: AuthorizationTarget,
  language: Language,
): Promise<readonly RequestedScope[]> {
  const { redirect } = authModeRules[provider.auth_mode];
  if (redirect?.scopes === undefined) return [];
  const context = await modeContext(services, integration, provider, { ...stored, ...fixed });
  const { client, connectionConfig: config } = context;
  const scopes = redirect.scopes({
    provider,
    scopes: redirectScopes(config, client?.scopes),
    authorizationParams: paramsOf({ defaults }),
  });
  const { scope_descriptions: meanings = {} } = provider;
  return [...new Set(scopes)].map((scope) => {
    const meaning = Object.hasOwn(meanings, scope) ? meanings[scope] : undefined;
    return {
      name: scope.replaceAll(/\$\{connectionConfig\.(\w+)\}/g, (_, name: string) =>
        plain(config[name]),
      ),
      meaning: meaning === undefined ? null : textIn(meaning, language),
    };
  });
}

const plain = (value: unknown): string => (typeof value === 'string' && value !== '' ? value : '…');
