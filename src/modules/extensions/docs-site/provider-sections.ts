import { escapedMarkup } from '#kernel/markup.ts';
import type { RateLimit } from '#modules/connections/integrations/integration.ts';
import { callbackUrlsOf } from '#modules/connections/providers/callback-url.ts';
import type { FieldSchema, Provider } from '#modules/connections/providers/definition.ts';
import { examplesOf } from './provider-examples.ts';
import {
  code,
  codes,
  list,
  outsideLink,
  table,
  textIn,
  type PageSection,
} from './provider-html.ts';
import { templatesSection } from './template-page.ts';

/** What the page of a provider says, all of it from its definition and its templates. */
export const sectionsOf = (provider: Provider, publicUrl: string): readonly PageSection[] =>
  [
    registrationOf(provider, publicUrl),
    templatesSection(provider),
    { anchor: 'scopes', title: 'Scopes', html: scopesOf(provider) },
    { anchor: 'fields', title: 'Fields', html: fieldsOf(provider) },
    { anchor: 'calls', title: 'Calls', html: callsOf(provider) },
    { anchor: 'limits', title: 'Limits', html: limitsOf(provider) },
    { anchor: 'pagination', title: 'Pagination', html: paginationOf(provider) },
    { anchor: 'webhooks', title: 'Webhooks', html: webhooksOf(provider, publicUrl) },
    { anchor: 'peculiarities', title: 'Peculiarities', html: peculiaritiesOf(provider) },
    { anchor: 'examples', title: 'Examples', html: examplesOf(provider, publicUrl) },
  ].filter(({ html }) => html !== '');

function registrationOf(provider: Provider, publicUrl: string): PageSection {
  const { callbackUrl, appSetupUrl } = callbackUrlsOf(provider, publicUrl);
  const { auth_mode: mode, setup_guide_url: guide, docs_connect: help } = provider;
  const hasApp = callbackUrl !== null || appSetupUrl !== null;
  const html = list([
    guide === undefined ? null : outsideLink(guide, 'Where apps are registered at the provider'),
    callbackUrl === null ? null : `Redirect URL of this gateway: ${code(callbackUrl)}`,
    appSetupUrl === null ? null : `Setup URL of this gateway: ${code(appSetupUrl)}`,
    mode === 'MCP_OAUTH2'
      ? 'Without an app of yours, the gateway registers itself where the provider allows it.'
      : null,
    hasApp ? null : 'No app is needed: each user enters credentials of their own.',
    help === undefined ? null : outsideLink(help, 'Help for users who connect an account'),
    '<a href="../../integrations/">How to add the integration</a>',
  ]);
  return { anchor: 'app', title: hasApp ? 'Register the app' : 'Set up', html };
}

function scopesOf(provider: Provider): string {
  const { default_scopes: defaults = [], available_scopes: available = [] } = provider;
  const { scope_descriptions: descriptions = {} } = provider;
  const scopes = new Set([...defaults, ...available, ...Object.keys(descriptions)]);
  const hasDefaults = defaults.length > 0;
  const rows = [...scopes].map((scope) => [
    code(scope),
    textIn(descriptions[scope]),
    ...(hasDefaults ? [defaults.includes(scope) ? 'yes' : ''] : []),
  ]);
  return table(['Scope', 'Allows', ...(hasDefaults ? ['By default'] : [])], rows);
}

type Fields = Readonly<Record<string, FieldSchema>>;

function fieldsOf(provider: Provider): string {
  const groups: readonly (readonly [string, Fields | undefined])[] = [
    ['The user, as a credential', provider.credentials],
    ['The user, or your application', provider.connection_config],
    ['The user, while connecting', provider.assertion_option],
    ['You, with the integration', provider.integration_config],
  ];
  const rows = groups.flatMap(([source, fields = {}]) =>
    Object.entries(fields)
      .filter(([, { hidden }]) => hidden !== true)
      .map(([name, field]) => [
        code(name),
        meaningOf(field),
        field.automated === true
          ? 'The gateway'
          : source + (field.optional === true ? '; optional' : ''),
      ]),
  );
  return table(['Field', 'Meaning', 'Filled by'], rows);
}

function meaningOf(field: FieldSchema): string {
  const { title, description, enum: choices, enum_titles: titles = {}, example } = field;
  const values = choices?.map((value) =>
    titles[value] === undefined ? code(value) : `${code(value)} (${textIn(titles[value])})`,
  );
  return [
    `<b>${textIn(title)}</b> ${textIn(description)}`,
    values === undefined ? null : `One of ${values.join(', ')}.`,
    example === undefined ? null : `Example: ${code(example)}.`,
    field.default_value === undefined ? null : `Default: ${code(field.default_value)}.`,
    ...[field.prefix, field.suffix].map((text, at) =>
      text === undefined
        ? null
        : `The gateway adds ${code(text)} ${at === 0 ? 'before' : 'after'} it.`,
    ),
  ]
    .filter((part) => part !== null)
    .join('<br>');
}

function callsOf({ proxy = {} }: Provider): string {
  const { base_url: base, headers = {}, query = {}, verification: call } = proxy;
  const added = [...Object.keys(headers), ...Object.keys(query)];
  return list([
    base === undefined ? null : `Base URL: ${code(base)}`,
    added.length === 0 ? null : `Added to each call: ${codes(added)}`,
    call === undefined
      ? 'Credentials are not tested when they are entered: the catalog knows no call for it.'
      : `Credentials are tested with ${code(`${call.method ?? 'GET'} ${call.endpoints[0]}`)}.`,
  ]);
}

function limitsOf({ proxy }: Provider): string {
  const { retry = {}, rate_limit: limit } = proxy ?? {};
  const { error_code: statuses, in_body: inBody, limited = [] } = retry;
  const after = new Set([...(retry.after ?? []).map((name) => name.toLowerCase()), 'retry-after']);
  return list([
    limit === undefined ? null : rateLimitText(limit),
    statuses === undefined
      ? `Statuses ${codes(['401', '429', '5xx'])} are retried.`
      : `Retried statuses: ${codes(statuses)}.`,
    `Seconds to wait are read from ${codes([...after])}.`,
    retry.at === undefined ? null : `The time of the next call is read from ${codes(retry.at)}.`,
    retry.remaining === undefined ? null : `Calls that are left: ${code(retry.remaining)}.`,
    inBody === undefined
      ? null
      : `The body has the ${inBody.strategy === 'at' ? 'time of the next call' : 'seconds to wait'} at ${code(inBody.path)}.`,
    ...limited.map((rule) => {
      const sign =
        rule.header === undefined
          ? `${code(rule.body ?? '')} in the body`
          : `header ${code(rule.header)}`;
      const values = rule.values ?? (rule.contains === undefined ? [] : [rule.contains]);
      return `Also a limit: status ${codes(rule.statuses)} with ${sign}${values.length === 0 ? '' : ` of ${codes(values)}`}.`;
    }),
  ]);
}

function rateLimitText({ requests, seconds, per }: RateLimit): string {
  const span = seconds === 1 ? 'a second' : `${seconds} seconds`;
  const whose = per === 'connection' ? 'each connection' : 'all connections together';
  const more = '<a href="../../integrations/#the-limit-of-the-provider">Change or end it</a>';
  return `At most ${requests} requests in ${span} are sent for ${whose}: functions wait, callers of the proxy get 429 with ${code('Retry-After')}. ${more}.`;
}

function paginationOf({ proxy }: Provider): string {
  const rows = Object.entries(proxy?.paginate ?? {}).map(([name, value]) => [
    code(name),
    code(String(value)),
  ]);
  if (rows.length === 0) return '';
  const use =
    '<p>Defaults of <a href="../../functions/#paginate"><code>svc.paginate</code></a>:</p>';
  return use + table(['Setting', 'Value'], rows);
}

function webhooksOf({ webhook_routing: rules, name }: Provider, publicUrl: string): string {
  if (rules === undefined) return '';
  const { signatures, connection, is_for_all: isForAll } = rules;
  const schemes = [...new Set(signatures.map(({ scheme }) => scheme))];
  return list([
    `Address: ${code(`${publicUrl}/webhook/<environment>/${name}`)}; the integration shows it whole.`,
    schemes.length === 0
      ? 'They are not signed.'
      : `Verified by ${signatures
          .map(
            ({ scheme, header }) =>
              code(scheme) + (header === undefined ? '' : ` in ${code(header)}`),
          )
          .join(', or ')}.`,
    connection === undefined
      ? isForAll
        ? 'Each is for every connection of the integration.'
        : null
      : 'The connection is found by what the webhook says of the account.',
    '<a href="../../reference/webhooks-in/">How webhooks of providers are received</a>',
  ]);
}

function peculiaritiesOf(provider: Provider): string {
  const { token_request_auth_method: proof, token_expiration_buffer: buffer } = provider;
  const { scope_separator: separator, connection_lookup: lookup } = provider;
  const looked = (lookup ?? []).flatMap((step) => Object.keys(step.connection_config));
  return list([
    separator === undefined ? null : `Scopes are separated by ${code(separator)}.`,
    provider.disable_pkce === true ? 'The authorization has no code challenge (PKCE).' : null,
    proof === 'basic' || provider.authorization_method === 'header'
      ? 'The client proves itself in a Basic header.'
      : null,
    proof === 'private_key_jwt' ? 'The client proves itself with a signed token.' : null,
    provider.require_client_certificate === true ? 'Token calls use mutual TLS.' : null,
    provider.token_response_metadata === undefined
      ? null
      : `The token response fills ${codes(provider.token_response_metadata)}.`,
    looked.length === 0
      ? null
      : `After connecting the gateway looks up ${codes([...new Set(looked)])}.`,
    provider.token_exchange === undefined
      ? null
      : 'The token of the sign-in is exchanged for one that lives longer.',
    provider.access_token_refresh === undefined
      ? null
      : 'There is no refresh token: the access token itself is renewed while it is valid.',
    buffer === undefined ? null : `Tokens are renewed ${buffer} seconds before they end.`,
    provider.installation === 'outbound'
      ? 'The user installs the app at the provider; the connection waits for its webhook.'
      : null,
    ...warningsOf(provider),
  ]);
}

const warningsOf = (provider: Provider): readonly string[] =>
  [provider.credentials, provider.connection_config, provider.integration_config]
    .flatMap((fields = {}) => Object.entries(fields))
    .flatMap(([name, { warnings = [] }]) =>
      warnings.map((warning) => `${code(name)}: ${textIn(warning)}`),
    );

/** The line below the title. */
export function introductionOf({
  name,
  auth_mode: mode,
  docs,
  categories,
  aliases = [],
}: Provider): string {
  const anchor = mode === 'BASIC' || mode === 'API_KEY' ? 'basic-and-api_key' : mode.toLowerCase();
  const shown = categories.filter((category) => category !== 'popular');
  return list([
    `Name in the catalog: ${code(name)}${aliases.length === 0 ? '' : `, in imports also ${codes(aliases)}`}`,
    `Authentication mode: <a href="../../reference/auth-modes/#${anchor}">${code(mode)}</a>`,
    shown.length === 0 ? null : `Categories: ${escapedMarkup(shown.join(', '))}`,
    outsideLink(docs, 'Documentation of the provider'),
  ]);
}
