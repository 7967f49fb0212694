/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access -- a test looks into any answer */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { takeUnread } from '#test/support/judges/answers.ts';
import { eventually, succeeded } from '#test/support/worlds/crm-world.ts';
import { enterKey, refreshed } from './console-world.ts';
import { beacon, failing, openFailuresWorld, type FailuresWorld } from './failures-world.ts';

/**
 * What a user reads of each failure: what is wrong, where, and what to do, in the console, the command line and the API.
 * Screenshots, outputs and bodies are left in `test-artefacts/failures`, to be looked at.
 */

let opened: FailuresWorld;
let page: Page;
beforeAll(async () => {
  opened = await openFailuresWorld();
  ({ page } = opened.console);
});
afterEach(() => void takeUnread());
afterAll(() => opened[Symbol.asyncDispose]());

const call = (...args: Parameters<FailuresWorld['world']['gateway']['call']>) =>
  opened.world.gateway.call(...args);
const open = (path: string) => page.goto(`${opened.world.gateway.url}/console/env/dev${path}`);
/** What the page shows, with its dialogs. */
const shownOn = (shown: Page): Promise<string> => shown.locator('body').innerText();

interface Failure {
  readonly name: string;
  readonly page?: Page;
  readonly args: readonly string[];
  /** The command that the output of the first one names. */
  readonly next?: (printed: string) => readonly string[];
  readonly key?: string;
  readonly api: unknown;
  /** What, where and what to do: each of console, command line and API says it. */
  readonly says: readonly string[];
  /** In words of the console alone. */
  readonly inConsole?: readonly string[];
  /** In words of command line and API. */
  readonly elsewhere?: readonly string[];
}

/** The console of a browser without a session, after the key was entered. */
async function signInWith(key: string): Promise<Page> {
  const shown = await opened.newPage();
  await shown.goto(`${opened.world.gateway.url}/console`);
  await enterKey(shown, key, 'Sign in');
  return shown;
}

/** Keeps what a user sees, and holds each side against what a user has to know. */
async function expectSaid(failure: Failure): Promise<void> {
  const { name, args, next, key, api, says, inConsole = [], elsewhere = [] } = failure;
  const shown = failure.page ?? page;
  const cli = [await opened.svc(args, key)];
  const print = () => cli.map(({ out, err }) => `${out}${err}`).join('\n');
  if (next !== undefined) cli.push(await opened.svc(next(print()), key));
  await opened.keep(name, shown, cli, api);
  const sides = [
    ['console', await shownOn(shown), [...says, ...inConsole]],
    ['command line', print(), [...says, ...elsewhere]],
    ['API', JSON.stringify(api).replaceAll(String.raw`\"`, '"'), [...says, ...elsewhere]],
  ] as const;
  for (const [side, text, parts] of sides) {
    for (const part of parts) expect(text, `${name}: ${side}`).toContain(part);
  }
}

const lineOf = (part: string): number => failing.slice(0, failing.indexOf(part)).split('\n').length;
const at = (part: string): string => `crm/actions/failing.ts:${lineOf(part)}:`;

describe('a run that fails', () => {
  it.each([
    ['throw', "Cannot read properties of undefined (reading 'trim')", 'crm/lib/initials.ts:8:'],
    ['rejected', 'The page 7 is out of range', at("how === 'rejected'")],
    ['order', 'status code 422', at("how === 'order'")],
    ['list', 'status code 503', at("how === 'list'")],
    ['unreachable', 'ECONNREFUSED', at("how === 'unreachable'")],
    ['internal', '169.254.169.254', at("how === 'internal'")],
    ['slow', 'exceeded its time limit', at('exec:')],
    ['endless', 'exceeded its time limit', at('exec:')],
    ['memory', 'ran out of memory', at('exec:')],
    ['output', 'done: ', at('output:')],
  ])('by %s', async (how, what, where) => {
    const refusals = {
      order: { status: 422, body: { error: 'amount is missing' } },
      list: { status: 503, body: { error: 'down for maintenance' } },
    } as const;
    const refusal = how === 'order' || how === 'list' ? refusals[how] : null;
    if (refusal !== null) opened.crm.account.plan('/orders', refusal);
    const { body } = await opened.crm.action('failing', { how });
    const { error } = body;
    await open(`/runs/${error.run_id as string}`);
    await page.locator('.notice.bad').first().waitFor();
    const args = ['runs', 'show', error.run_id as string];
    // The run is killed in a loop.
    const counts: Readonly<Record<string, string>> = {
      endless: '3 info lines were not kept',
      memory: '1 info line was not kept',
    };
    const dropped = counts[how];
    if (dropped !== undefined) {
      await page.getByText(dropped).first().waitFor();
      await eventually(
        () => opened.svc(args),
        ({ out }) => out.includes(dropped),
      );
    }
    await expectSaid({
      name: `run-${how}`,
      args,
      api: body,
      says: [what, where, error.fix as string, ...(refusal === null ? [] : [refusal.body.error])],
      inConsole: ['What to do:'],
    });
  });

  it('by an input that does not fit', async () => {
    const input = { how: 'input', contact: '7' };
    const { body } = await opened.crm.action('failing', input);
    await open(`/playground?integration=crm&connection=${opened.crm.id}&action=failing`);
    await page.getByLabel('how', { exact: true }).fill(input.how);
    await page.getByLabel('contact (optional)').fill(input.contact);
    await page.getByRole('button', { name: 'Run the action' }).click();
    await page.locator('.notice.bad').first().waitFor();
    await expectSaid({
      name: 'run-input',
      args: [
        ...['api', 'POST', '/action/trigger', '--header', 'provider-config-key: crm'],
        ...['--header', `connection-id: ${opened.crm.id}`],
        ...['--body', JSON.stringify({ action_name: 'failing', input })],
      ],
      api: body,
      says: ['contact: ', 'must match pattern', at('input:'), body.error.fix as string],
      inConsole: ['The run that failed'],
    });
  });
});

describe('a request that is refused', () => {
  it('for an unknown model', async () => {
    const path = '/records?model=Typo';
    const { body } = await call('GET', path, { headers: opened.crm.headers });
    await open(`/connections/crm/${opened.crm.id}/records?model=Typo`);
    await page.getByText('Typo').first().waitFor();
    await expectSaid({
      name: 'unknown-model',
      args: ['records', 'Typo', opened.crm.id, '-i', 'crm'],
      api: body,
      says: ['Typo', 'Contact'],
      inConsole: ['deploy a sync that saves the model'],
      elsewhere: [body.error.errors[0].message as string],
    });
  });

  it('for a connection that does not exist', async () => {
    const { body } = await call('GET', '/connections/nobody?provider_config_key=crm');
    await open('/connections/crm/nobody');
    await page.getByRole('alert').first().waitFor();
    await expectSaid({
      name: 'missing-connection',
      args: ['connections', 'nobody', '-i', 'crm'],
      api: body,
      says: [body.error.message as string, body.error.fix as string],
    });
  });

  it('for a wrong key', async () => {
    const key = `svc_env_${'x'.repeat(43)}`;
    const { body } = await call('GET', '/connections', { key });
    const shown = await signInWith(key);
    await shown.locator('.notice.bad').waitFor();
    await expectSaid({
      name: 'wrong-key',
      page: shown,
      args: ['connections'],
      key,
      api: body,
      says: [body.error.message as string, body.error.fix as string],
    });
    await shown.context().close();
  });

  it('for a key without the scope', async () => {
    const named = {
      environment_id: opened.world.environmentId,
      display_name: 'narrow',
      scopes: ['environment:integrations:list'],
    };
    const { accountKey } = opened.world.gateway;
    const made = await call('POST', '/environment/api-keys', { key: accountKey, body: named });
    const key = succeeded(made).data.secret as string;
    const { body } = await call('GET', '/connections', { key });
    const shown = await signInWith(key);
    await shown.getByRole('heading', { name: 'dev' }).waitFor();
    await shown.goto(`${opened.world.gateway.url}/console/env/dev/connections`);
    await shown.getByText('environment:connections:list').first().waitFor();
    await expectSaid({
      name: 'missing-scope',
      page: shown,
      args: ['connections'],
      key,
      api: body,
      says: [body.error.message as string, body.error.fix as string],
    });
    await shown.context().close();
  });

  it('for a deployment with a type error', async () => {
    const code = failing
      .replace("import { initialOf } from '../lib/initials.js';\n", '')
      .replace("how === 'throw') initialOf({})", 'how === 7) return { done: true }');
    const line = lineOf("if (how === 'throw')") - 1;
    const { status, body } = await call('POST', '/functions/compile', { body: { code } });
    expect(status).toBe(400);
    opened.project.write({ 'crm/actions/failing.ts': code });
    await open('/integrations/crm/functions');
    await page.getByText('failing').first().waitFor();
    await expectSaid({
      name: 'type-error',
      args: ['deploy', '--auto-confirm', '--no-dependency-update'],
      api: body,
      says: [],
      // What runs is what was deployed before.
      inConsole: ['failing', 'enabled'],
      elsewhere: [`:${line}:9`, "the types 'string' and 'number' have no overlap"],
    });
    opened.project.write({ 'crm/actions/failing.ts': failing });
  });
});

describe('a webhook to the application', () => {
  it.each([
    [
      'endpoint-down',
      'http://127.0.0.1:1/hooks',
      'ECONNREFUSED',
      ['Nothing listens at this address.', 'Start the application'],
    ],
    [
      'endpoint-address',
      'http://169.254.169.254/hooks',
      'url_not_allowed',
      ['The service may not call this address.', 'adds 169.254.169.254:80', 'SVC_EGRESS_ALLOW'],
    ],
  ])('%s', async (name, url, code, inConsole) => {
    const body = { url, display_name: name };
    const { data: endpoint } = succeeded(await call('POST', '/webhook-endpoints', { body }));
    await open('/webhooks-out/endpoints');
    await page.getByRole('button', { name: `Actions of ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Send a test webhook' }).click();
    await page.getByRole('dialog').locator('.notice.bad').waitFor();
    const link = page.getByRole('dialog').getByRole('link');
    const href = (await link.getAttribute('href')) ?? '';
    const id = new URL(href, page.url()).searchParams.get('id') ?? '';
    const message = await call('GET', `/webhook-messages/${id}`);
    const fix: unknown = message.body.data.deliveries[0].fix;
    expect(fix).toMatch(/^[A-Z].+\.$/);
    await expectSaid({
      name,
      args: ['webhooks', 'show', id],
      api: message.body,
      says: [],
      inConsole: [name, ...inConsole],
      elsewhere: [endpoint.id as string, code, fix as string],
    });
    await page.keyboard.press('Escape');
    succeeded(await call('DELETE', `/webhook-endpoints/${endpoint.id as string}`));
  });
});

describe('a provider that refuses', () => {
  const tried = async (): Promise<Page> => {
    await open(`/integrations/${refreshed}/test`);
    const opening = page.context().waitForEvent('page');
    await page.getByRole('button', { name: 'Connect a test account' }).click();
    const connectPage = await opening;
    await connectPage.setViewportSize({ width: 560, height: 860 });
    await connectPage.getByRole('button', { name: 'Connect', exact: true }).click();
    return connectPage;
  };
  const failedOperation = async () => {
    const body = { types: ['auth'], states: ['failed'], limit: 1 };
    const { data } = succeeded(await call('POST', '/logs/operations', { body }));
    return data[0]?.id as string | undefined;
  };

  it.each([
    [
      'wrong-secret',
      { error: 'invalid_client', error_description: 'The client secret has expired' },
      'Copy client id and secret of the app at Beacon',
    ],
    [
      'wrong-callback',
      { error: 'invalid_grant', error_description: 'The redirect_uri does not match' },
      '/oauth/callback as the redirect URI of the app at Beacon',
    ],
    ['scope-refused', 'invalid_scope', 'Allow the scopes of the integration for the app at Beacon'],
    ['unverified-app', 'consent_required', 'Add the account as a test user of the app at Beacon'],
    ['denied', 'access_denied', 'Start again, and grant access at Beacon.'],
  ])('%s', async (name, answer, fix) => {
    const before = await failedOperation();
    if (typeof answer === 'string') opened.played.refuses(answer);
    else opened.played.plan('token', { status: 401, body: answer });
    const connectPage = await tried();
    await page.getByText('The account was not connected.').waitFor();
    opened.played.refuses(null);
    const words = typeof answer === 'string' ? answer : answer.error_description;
    await connectPage.getByText(words).first().waitFor();
    const id = await eventually(failedOperation, (one) => one !== undefined && one !== before);
    const messages = () => call('POST', '/logs/messages', { body: { operationId: id, limit: 20 } });
    const log = await eventually(messages, ({ body }) => JSON.stringify(body).includes(fix));
    await expectSaid({ name, args: ['logs', id!], api: log.body, says: [words, fix] });
    await expectSaid({
      name: `${name}-connect-page`,
      page: connectPage,
      args: ['logs', id!],
      api: log.body,
      says: [words],
    });
    await connectPage.close();
  });

  it.each([
    [
      'expired-grant',
      400,
      { error: 'invalid_grant', error_description: 'Token has been revoked' },
      'Reauthorize the connection',
    ],
    [
      'refused-refresh',
      401,
      { error: 'invalid_client', error_description: 'Unknown client' },
      'Copy client id and secret of the app at Beacon into the integration once more',
    ],
  ])('%s', async (name, status, answer, fix) => {
    const expires_at = new Date(Date.now() - 60_000).toISOString();
    const credentials = { type: 'OAUTH2', access_token: 'a', refresh_token: 'r', expires_at };
    const connection = { provider_config_key: beacon, connection_id: name, credentials };
    succeeded(await call('POST', '/connections', { body: connection }));
    opened.played.plan('token', { status, body: answer });
    const path = `/connections/${name}?provider_config_key=${beacon}`;
    const { body } = await call('GET', path);
    await open(`/connections/${beacon}/${name}`);
    await page.getByText('This connection fails:').waitFor();
    await page.getByText(fix).first().waitFor();
    await expectSaid({
      name,
      args: ['connections', name, '-i', beacon],
      next: (printed) => ['logs', /svc logs (\S+)/.exec(printed)?.[1] ?? ''],
      api: body,
      says: [answer.error_description, fix],
    });
  });
});
