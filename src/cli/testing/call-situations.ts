import { ApiError } from '#client/index.ts';
import { reportedLimit } from '#fake-providers/limited.ts';
import type { CallCase, CallFixture } from '#fake-providers/objects/fixture.ts';
import { isLike } from '#fake-providers/objects/likeness.ts';
import { isJsonObject, objectOf, type JsonObject } from '#kernel/stable-json.ts';
import { expectEqual, expectTrue } from './expectations.ts';
import { TemplateAccount, tokenEnded } from './template-account.ts';
import type { DeployedTemplate } from './template-world.ts';

const limitSeconds = 1;

export type CallPlay = (template: DeployedTemplate, account: TemplateAccount) => Promise<void>;

/** The situations of an action or on-event function: its cases, and for an action a limit and an expired token. */
export function callSituations(
  { cases }: CallFixture,
  kind: 'action' | 'on-event',
): ReadonlyMap<string, CallPlay> {
  const play = kind === 'action' ? playAction : playOnEvent;
  const own = cases.map((one): [string, CallPlay] => [
    one.name,
    (template, account) => play(template, account, one),
  ]);
  const first = cases.find(({ error }) => error === undefined);
  if (kind === 'on-event' || first === undefined) return new Map(own);
  return new Map([
    ...own,
    ['rate limit', (template, account) => limitAction(template, account, first)],
    ['expired token', (template, account) => expireAction(template, account, first)],
  ]);
}

async function playAction(
  template: DeployedTemplate,
  account: TemplateAccount,
  { input, output, error, exchanges, metadata, metadata_after: after }: CallCase,
): Promise<void> {
  const { api, played } = template.fake;
  api.exchanges = exchanges;
  await account.connect(metadata);
  const begun = played.asked.length;
  const { status, body } = await account.act(input);
  const refused = played.asked.slice(begun).filter(({ outcome }) => outcome !== 'granted');
  const requests = refused.map((one) => `${one.method} ${one.path}: ${one.outcome}`).join('\n');
  expectEqual(requests, '', 'requests that the fake refused');
  if (error === undefined) {
    expectEqual({ status, body }, { status: 200, body: output ?? null }, 'the output');
  } else {
    expectTrue(status === 424, `the action ended with ${status}: ${JSON.stringify(body)}`);
    expectFields(objectOf(body['payload'] ?? objectOf(body['error'])['payload']), error);
  }
  expectEqual(
    api.exchanged.map(({ method, endpoint }) => `${method} ${endpoint}`),
    exchanges.map(({ method, endpoint }) => `${method} ${endpoint}`),
    'the requests',
  );
  if (after !== undefined) expectEqual(await account.metadata(), after, 'the metadata');
}

function expectFields(actual: JsonObject, expected: JsonObject): void {
  const found = Object.fromEntries(Object.keys(expected).map((name) => [name, actual[name]]));
  expectEqual(found, { ...expected }, 'the payload of the ActionError');
}

/** A validate-connection function refuses the connection, a pre-connection-deletion function its end; others run once it is made. */
async function playOnEvent(
  { fake: { api } }: DeployedTemplate,
  account: TemplateAccount,
  { error, exchanges, metadata, metadata_after: after, is_deleted: isDeleted }: CallCase,
): Promise<void> {
  api.exchanges = exchanges;
  const change = async (): Promise<void> => {
    await account.connect(metadata);
    if (isDeleted) await account.disconnect();
  };
  const refusal = await change().then(
    () => null,
    (reason: unknown) => reason as Error,
  );
  if (error === undefined) {
    if (refusal !== null) throw refusal;
  } else {
    expectTrue(refusal instanceof ApiError, 'the connection was made, or deleted');
    const { error: body } = refusal.body as { readonly error?: unknown };
    expectFields(isJsonObject(body) ? body : {}, error);
  }
  const wanted = exchanges.map(({ method, endpoint }) => `${method} ${endpoint}`);
  await account.until(() => api.exchanged.length >= wanted.length, 'the requests were not made');
  const made = api.exchanged.map(({ method, endpoint }) => `${method} ${endpoint}`);
  expectEqual(made, wanted, 'the requests');
  if (after === undefined) return;
  const isSame = async (): Promise<boolean> => {
    const found = await account.metadata();
    return Object.entries(after).every(([name, value]) => isLike(value, found[name] ?? null));
  };
  await account.until(isSame, `the metadata is not ${JSON.stringify(after)}`);
}

async function limitAction(
  template: DeployedTemplate,
  account: TemplateAccount,
  { input, output, exchanges, metadata }: CallCase,
): Promise<void> {
  const { api, played, provider } = template.fake;
  api.exchanges = exchanges;
  await account.connect(metadata);
  const begun = played.asked.length;
  const { answer, endsAt } = reportedLimit(provider, limitSeconds);
  played.limitUntil(endsAt, answer);
  const { status, body } = await account.act(input);
  expectEqual({ status, body }, { status: 200, body: output ?? null }, 'the output');
  const limited = played.asked.slice(begun).filter(({ outcome }) => outcome === 'limited');
  expectEqual(limited.length, 1, 'requests within the limit (a request must wait for its end)');
}

/** A token is refreshed; other credentials end the action with the 401 of the provider. */
async function expireAction(
  template: DeployedTemplate,
  account: TemplateAccount,
  { input, output, exchanges, metadata }: CallCase,
): Promise<void> {
  const { api, played } = template.fake;
  api.exchanges = exchanges;
  await account.connect(metadata);
  played.endTokens();
  played.plan('api', tokenEnded);
  const first = await account.act(input);
  const isExpected = first.status === 200 || !account.isRefreshed;
  expectTrue(isExpected, `the token can be refreshed: ${JSON.stringify(first)}`);
  if (first.status !== 200) await account.connect(metadata);
  const { status, body } = first.status === 200 ? first : await account.act(input);
  expectEqual({ status, body }, { status: 200, body: output ?? null }, 'the output');
}
