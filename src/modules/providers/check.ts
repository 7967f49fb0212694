import type { Definition } from './schema.ts';
import { isKnownToken, tokensOf } from './interpolate.ts';
import { isPostConnectionScript } from './post-connection.ts';

/**
 * What the shape alone does not say of a definition (contract/providers-format.md section 5): every
 * template can be filled, and the mode has what it needs.
 * @returns `field: problem` of each mistake
 */
export function definitionProblems(definition: Definition): string[] {
  const { proxy } = definition;
  const problems = templatesOf(definition).flatMap(([field, template]) => {
    const tokens = tokensOf(template);
    const unset = tokens.filter((token) => !isSupplied(token, definition));
    const unknown = field.startsWith('proxy.')
      ? tokens.filter((token) => !isKnownToken(token))
      : [];
    return [
      ...unset.map((token) => `${field}: \${${token}} is not in connection_config`),
      ...unknown.map((token) => `${field}: \${${token}} is not a token this service can fill`),
    ];
  });
  if (definition.auth_mode === 'API_KEY' && !definition.credentials?.['apiKey']) {
    problems.push('credentials.apiKey: needed by the mode API_KEY');
  }
  if (proxy?.verification && definition.credentials_verification_script) {
    problems.push('proxy.verification: excludes credentials_verification_script');
  }
  for (const field of scriptFields) {
    const name = definition[field];
    const isKnown = field === 'post_connection_script' && isPostConnectionScript(name ?? '');
    if (name !== undefined && !isKnown) problems.push(`${field}: no script "${name}" here`);
  }
  for (const group of ['connection_config', 'credentials', 'integration_config'] as const) {
    for (const [name, { pattern }] of Object.entries(definition[group] ?? {})) {
      if (pattern !== undefined && !isPattern(pattern)) {
        problems.push(`${group}.${name}.pattern: not a regular expression`);
      }
    }
  }
  return problems;
}

const scriptFields = [
  'post_connection_script',
  'credentials_verification_script',
  'pre_connection_creation_script',
  'pre_connection_deletion_script',
] as const;

function isSupplied(token: string, definition: Definition): boolean {
  if (!token.startsWith('connectionConfig.')) return true;
  const name = token.slice('connectionConfig.'.length);
  const supplied = [
    ...Object.keys(definition.connection_config ?? {}),
    ...Object.keys(definition.proxy?.connection_config ?? {}),
    ...(definition.connection_configuration ?? []),
    ...(definition.token_response_metadata ?? []),
    ...(definition.redirect_uri_metadata ?? []),
  ];
  return supplied.includes(name);
}

/** Templates with the field each stands in. */
function templatesOf(definition: Definition): [string, string][] {
  const { proxy = {}, authorization_url, token_url, refresh_url } = definition;
  const single = {
    authorization_url,
    refresh_url,
    token_url: typeof token_url === 'string' ? token_url : undefined,
    'proxy.base_url': proxy.base_url,
    'proxy.verification.base_url_override': proxy.verification?.base_url_override,
  };
  const maps = {
    'proxy.headers': proxy.headers,
    'proxy.query': proxy.query,
    'proxy.verification.headers': proxy.verification?.headers,
  };
  const endpoints = proxy.verification?.endpoints ?? [];
  return [
    ...Object.entries(single).flatMap(([field, template]): [string, string][] =>
      template === undefined ? [] : [[field, template]],
    ),
    ...Object.entries(maps).flatMap(([field, map]) =>
      Object.entries(map ?? {}).map(([name, template]): [string, string] => {
        return [`${field}.${name}`, template];
      }),
    ),
    ...endpoints.map((endpoint): [string, string] => ['proxy.verification.endpoints', endpoint]),
  ];
}

function isPattern(source: string): boolean {
  try {
    new RegExp(source);
    return true;
  } catch {
    return false;
  }
}
