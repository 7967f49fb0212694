import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ApiError, Client, Input, Provider } from '#client/index.ts';
import { columns } from './columns.ts';
import type { Context } from './context.ts';
import { CommandFailure } from './exit.ts';

export type NewIntegration = Input<'POST /integrations'>['body'];
type DialogContext = Pick<Context, 'output' | 'prompt' | 'promptSecret' | 'root'>;

interface Problem {
  readonly path: readonly string[];
  readonly message: string;
}

/** What the service refuses of a body, by field. */
export function problemsOf({ body }: ApiError): readonly Problem[] {
  const { error } = body as { readonly error: { readonly errors?: readonly Problem[] } };
  return error.errors ?? [];
}

/** Matches of a search that are shown; more are a reason to search once more. */
const shownMax = 15;

/** The provider that the user searches and chooses. */
export async function chooseProvider(context: DialogContext, client: Client): Promise<Provider> {
  const { output } = context;
  const { data: providers } = await client.request('GET /providers');
  for (;;) {
    const search = await answerTo(context, 'Provider (a part of its name): ');
    const found = matchesOf(providers, search);
    const exact = found.find(({ name }) => name === search.toLowerCase());
    const [first] = found;
    if (exact !== undefined && found.length === 1) return exact;
    if (first === undefined) {
      output.note(`No provider matches "${search}".`);
      continue;
    }
    for (const line of await columns(
      ['', 'name', 'provider', 'signs in by'],
      found
        .slice(0, shownMax)
        .map(({ name, display_name: title, auth_mode }, at) => [at + 1, title, name, auth_mode]),
      4,
    ))
      output.note(line);
    if (found.length > shownMax) output.note(`… and ${found.length - shownMax} more`);
    const answer = await context.prompt('Number (Enter: search once more): ');
    const chosen = /^\d+$/.test(answer) ? found[Number(answer) - 1] : undefined;
    if (chosen !== undefined) return chosen;
  }
}

/** Those whose name begins with the search come first. */
function matchesOf(providers: readonly Provider[], search: string): Provider[] {
  const words = search.toLowerCase().split(/\s+/);
  const begins = ({ display_name: title, name }: Provider): number =>
    Number([title, name].some((text) => text.toLowerCase().startsWith(words[0] ?? '')));
  return providers
    .filter(({ name, display_name: title }) =>
      words.every((word) => `${name} ${title}`.toLowerCase().includes(word)),
    )
    .sort((one, other) => begins(other) - begins(one));
}

type AppField = 'client_id' | 'client_secret' | 'scopes' | 'app_id' | 'app_link' | 'private_key';

/** The fields of the provider's app (docs/reference/auth-modes.md#overview). */
const fieldsOfModes: Readonly<Record<Provider['auth_mode'], readonly AppField[]>> = {
  OAUTH1: ['client_id', 'client_secret'],
  OAUTH2: ['client_id', 'client_secret', 'scopes'],
  TBA: ['client_id', 'client_secret'],
  APP: ['app_id', 'app_link', 'private_key'],
  CUSTOM: ['client_id', 'client_secret', 'app_id', 'app_link', 'private_key'],
  MCP_OAUTH2: [],
  AWS_SIGV4: [],
  OAUTH2_CC: [],
  BASIC: [],
  API_KEY: [],
  APP_STORE: [],
  NONE: [],
  JWT: [],
  BILL: [],
  TWO_STEP: [],
  SIGNATURE: [],
};

export const needsApp = ({ auth_mode: mode }: Provider): boolean => fieldsOfModes[mode].length > 0;

/** What to register at the provider, and where. */
export function showRegistration({ output }: Pick<Context, 'output'>, provider: Provider): void {
  const { display_name: title, callback_url: callback, app_setup_url: setup } = provider;
  if (!needsApp(provider)) {
    output.note(`Nothing is registered at ${title}: each user enters their own credentials.`);
    return;
  }
  const { setup_guide_url: page, docs } = provider;
  output.note(`Register an app at ${title}:  ${page ?? docs}`);
  if (callback !== null) output.note(`  Callback URL (redirect URI):  ${callback}`);
  if (setup !== null) output.note(`  Setup URL:  ${setup}`);
}

/** Asks for what the provider shows of the app, and for the fields that its definition declares. */
export async function askSetup(
  context: DialogContext,
  provider: Provider,
): Promise<Pick<NewIntegration, 'credentials' | 'integration_config'>> {
  const { auth_mode: mode, integration_config: fields } = provider;
  const credentials: Record<string, string> = {};
  for (const field of fieldsOfModes[mode]) {
    const value = await ask[field](context, provider);
    if (value !== null) credentials[field] = value;
  }
  const config: Record<string, string> = {};
  for (const [name, { title, description, secret, optional }] of Object.entries(fields ?? {})) {
    context.output.note(description);
    const question = `${title}${optional === true ? ' (Enter: none)' : ''}: `;
    const value = await answerTo(context, question, {
      isSecret: secret === true,
      isOptional: optional === true,
    });
    if (value !== '') config[name] = value;
  }
  return {
    ...(needsApp(provider) ? { credentials: { type: mode, ...credentials } } : {}),
    ...(fields === undefined ? {} : { integration_config: config }),
  };
}

const ask: Readonly<
  Record<AppField, (context: DialogContext, provider: Provider) => Promise<string | null>>
> = {
  client_id: (context) => answerTo(context, 'Client id: '),
  client_secret: (context) => answerTo(context, 'Client secret (not shown): ', { isSecret: true }),
  scopes: askScopes,
  app_id: (context) => answerTo(context, 'App id: '),
  app_link: (context) => answerTo(context, 'Address of the public page of the app: '),
  private_key: askKey,
};

/** Null: those of the provider. */
async function askScopes(context: DialogContext, provider: Provider): Promise<string | null> {
  const { default_scopes: defaults = [], available_scopes: further = [] } = provider;
  const { scope_descriptions: meanings = {} } = provider;
  const known = [...new Set([...defaults, ...further, ...Object.keys(meanings)])];
  if (known.length > 0) {
    context.output.note('Scopes:');
    for (const scope of known)
      context.output.note(`  ${scope}  ${meanings[scope] ?? ''}`.trimEnd());
  }
  const none = defaults.length === 0 ? 'none' : defaults.join(',');
  const answer = await context.prompt(`Scopes, with commas between them (Enter: ${none}): `);
  return answer === '' ? null : answer.split(/[\s,]+/).join(',');
}

/** A terminal takes no text of several lines: the key comes from a file. */
async function askKey(context: DialogContext): Promise<string> {
  for (;;) {
    const path = await answerTo(context, 'File of the private key (PEM): ');
    try {
      return readFileSync(resolve(context.root, path), 'utf8').trim();
    } catch {
      context.output.note(`Could not read ${path}.`);
    }
  }
}

/** The answer to a question that needs one: an empty one is asked for again. */
export async function answerTo(
  { prompt, promptSecret }: Pick<Context, 'prompt' | 'promptSecret'>,
  question: string,
  { isSecret = false, isOptional = false } = {},
): Promise<string> {
  // A terminal that was closed answers with nothing for ever.
  for (let tries = 0; tries < triesMax; tries += 1) {
    const answer = await (isSecret ? promptSecret(question) : prompt(question));
    if (answer !== '' || isOptional) return answer;
  }
  throw new CommandFailure(`Missing: ${question.replace(/[:\s]+$/, '')}`);
}

const triesMax = 3;
