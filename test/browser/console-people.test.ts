/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-assignment,
   typescript/no-unsafe-call -- a test looks into any answer */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startIdentityProvider,
  type FakeIdentityProvider,
} from '#test/support/fakes/identity-provider.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';
import { eventually, succeeded } from '#test/support/worlds/crm-world.ts';
import { closePages, openPage, sharedChromium } from './chromium.ts';
import { enterKey } from './console-world.ts';
import { screenshot, violationsOf } from './world.ts';

let identity: FakeIdentityProvider;
let gateway: RunningGateway;
let owner: Page;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  identity = stack.use(await startIdentityProvider());
  const { issuer, clientId, clientSecret, accounts } = identity;
  const roles = { engineering: { dev: 'developer' }, helpdesk: { dev: 'support' } };
  gateway = stack.use(
    await startGateway({
      env: {
        SVC_OIDC_ISSUER: issuer,
        SVC_OIDC_CLIENT_ID: clientId,
        SVC_OIDC_CLIENT_SECRET: clientSecret,
        SVC_OIDC_NAME: 'Example ID',
        SVC_OIDC_ROLES: JSON.stringify(roles),
      },
    }),
  );
  identity.register(`${gateway.url}/console/oidc/callback`);
  const account = (name: string, groups: readonly string[]) => ({
    email: `${name.toLowerCase()}@example.com`,
    email_verified: true,
    name: `${name} Example`,
    groups,
  });
  accounts.set('ada', account('Ada', ['engineering']));
  accounts.set('sue', account('Sue', ['helpdesk']));
  accounts.set('bob', account('Bob', ['sales']));
  stack.defer(async () => closePages(await sharedChromium()));
  owner = await openConsole('/account/people');
  await enterKey(owner, gateway.accountKey, 'Sign in');
  await owner.getByRole('heading', { name: 'People', exact: true }).waitFor();
});
afterAll(() => stack.disposeAsync());

async function openConsole(path = ''): Promise<Page> {
  const page = await openPage(await sharedChromium(), {});
  await page.goto(`${gateway.url}/console${path}`);
  return page;
}

/** Signs in at the identity provider, in a browser that has not been there. */
async function signInAs(sub: string, path = '/env/dev'): Promise<Page> {
  const page = await openConsole(path);
  await page.getByRole('link', { name: 'Sign in with Example ID' }).click();
  await page.locator('input[name=login]').fill(sub);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.locator('button[type=submit]').click();
  return page;
}

const ofAccount = async (path: string) =>
  succeeded(await gateway.call('GET', path, { key: gateway.accountKey }));

const item = (page: Page, name: string) => page.getByRole('menuitem', { name, exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const seen = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

describe('people at the console', () => {
  it('sign in with the identity provider, and act in their own name', async () => {
    const page = await signInAs('ada', '/env/dev/variables');
    await page.getByRole('heading', { name: 'Variables', exact: true }).waitFor();
    expect(page.url()).toBe(`${gateway.url}/console/env/dev/variables`);
    await button(page, 'Set a variable').click();
    await page.getByLabel('Name').fill('REGION');
    await page.getByLabel('Value').fill('eu');
    await button(page, 'Set the variable').click();
    await seen(page, 'REGION was set');
    expect(succeeded(await gateway.call('GET', '/environment-variables'))).toEqual([
      { name: 'REGION', value: 'eu' },
    ]);
    // Of the account she has nothing, and keys are not hers to add.
    expect(await page.getByRole('link', { name: 'Environments' }).count()).toBe(0);
    await button(page, 'dev').click();
    expect(await item(page, 'Add a key…').count()).toBe(0);
    await page.keyboard.press('Escape');
    await button(page, 'Signed in as Ada Example (ada@example.com)').waitFor();
  });

  it('are refused beyond their role, in words, and offered nothing of it', async () => {
    const page = await signInAs('sue');
    await page.getByRole('heading', { name: 'dev', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Variables' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Playground' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Connections' }).first().waitFor();
    await page.goto(`${gateway.url}/console/env/dev/variables`);
    await seen(page, 'Your role in dev is support, without the scope environment:variables:read.');
    await seen(page, 'Ask an owner of the account for the role owner or developer.');
    expect(await button(page, 'Set a variable').count()).toBe(0);
    await page.goto(`${gateway.url}/console/env/prod`);
    await seen(page, 'There is no page at this address');
  });

  it('are in the audit with their name, with what they did and what was refused', async () => {
    const found = await eventually(
      () => ofAccount('/audit?action=variable.read&outcome=forbidden'),
      ({ data }) => data.length > 0,
    );
    expect(found.data[0].actor_name).toBe('Sue Example <sue@example.com>');
    await owner.goto(`${gateway.url}/console/account/audit`);
    await seen(owner, 'environment-variables.set');
    await seen(owner, 'Ada Example <ada@example.com>');
    await seen(owner, 'Sue Example <sue@example.com>');
  });

  it('without a role get a page that says what to do', async () => {
    const page = await signInAs('bob');
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    await seen(
      page,
      'None of your groups has a role here (sales), and bob@example.com is not invited.',
    );
    await screenshot(page, 'console-not-signed-in');
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'Back to the sign-in' }).click();
    await page.getByRole('link', { name: 'Sign in with Example ID' }).waitFor();
    await screenshot(page, 'console-sign-in-with-provider');
    expect(await violationsOf(page)).toEqual([]);
  });

  it('are invited with a link that works once', async () => {
    await owner.goto(`${gateway.url}/console/account/people`);
    await button(owner, 'Invite a person').click();
    await owner.getByLabel('Name').fill('Grace Example');
    await owner.getByLabel('E-mail address').fill('grace@example.com');
    await owner.getByLabel('Environment dev').selectOption('read_only');
    await button(owner, 'Make the invitation').click();
    const link = await owner.locator('code.secret').innerText();
    expect(link).toMatch(/\/console#invitation=[\w-]{32}$/);
    await screenshot(owner, 'console-invitation');
    expect(await violationsOf(owner)).toEqual([]);
    await owner.keyboard.press('Escape');
    await seen(owner, 'invited');
    const grace = await openPage(await sharedChromium(), {});
    await grace.goto(link);
    await grace.getByRole('heading', { name: 'dev', exact: true }).waitFor();
    await button(grace, 'Signed in as Grace Example (grace@example.com)').waitFor();
    expect(grace.url()).not.toContain('invitation');
    const second = await openPage(await sharedChromium(), {});
    await second.goto(link);
    await seen(second, 'The code has expired, was used before, or does not exist.');
  });

  it('get other roles, links and an end of their sessions from an owner', async () => {
    const person = async () =>
      (await ofAccount('/people')).data.find(
        ({ email }: { readonly email: string }) => email === 'grace@example.com',
      );
    const choose = async (name: string) => {
      await button(owner, 'Actions of Grace Example').click();
      await item(owner, name).click();
    };
    await owner.reload();
    await choose('Change roles…');
    await owner.getByLabel('Environment dev').selectOption('developer');
    await button(owner, 'Change the roles').click();
    await seen(owner, 'The roles of Grace Example were changed');
    expect((await person()).roles).toEqual([
      { environment: 'dev', role: 'developer', from: 'owner' },
    ]);

    await choose('Make a sign-in link');
    const link = await owner.locator('code.secret').innerText();
    await owner.keyboard.press('Escape');
    const grace = await openPage(await sharedChromium(), {});
    await grace.goto(link);
    await button(grace, 'Signed in as Grace Example (grace@example.com)').click();
    await item(grace, 'Sessions of Grace Example').click();
    await grace.getByRole('heading', { name: 'Your sessions', exact: true }).waitFor();
    const sessions = async () =>
      (await ofAccount(`/account/sessions?person_id=${(await person()).id}`)).data.length;
    expect(await sessions()).toBe(2);
    await button(grace, 'End').click();
    await seen(grace, 'The session has ended');
    expect(await sessions()).toBe(1);

    await choose('Show sessions');
    await owner.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
    await owner.getByTitle('End the session of Grace Example').click();
    await button(owner, 'End the session').click();
    await seen(owner, 'The session has ended');
    expect(await sessions()).toBe(0);
    await grace.goto(`${gateway.url}/console/env/dev`);
    await grace.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();

    await owner.goto(`${gateway.url}/console/account/people`);
    await choose('Sign out everywhere…');
    await button(owner, 'Sign out everywhere').click();
    await seen(owner, '0 sessions of Grace Example ended');
    await choose('Deactivate…');
    await button(owner, 'Deactivate the person').click();
    await seen(owner, 'Grace Example may not sign in any more');
    expect((await person()).is_active).toBe(false);
    await choose('Let sign in again');
    await seen(owner, 'Grace Example may sign in again');
    expect((await person()).is_active).toBe(true);
  });

  it('who are deactivated are out at once', async () => {
    const page = await signInAs('ada');
    await page.getByRole('heading', { name: 'dev', exact: true }).waitFor();
    const { data } = await ofAccount('/people');
    const { id } = data.find(
      ({ email }: { readonly email: string }) => email === 'ada@example.com',
    );
    const key = gateway.accountKey;
    await gateway.call('PATCH', `/people/${id}`, { key, body: { is_active: false } });
    const runs = page.getByRole('link', { name: 'Runs' }).first();
    // The page may have asked by itself, and have no such link any more.
    void runs.click().catch(() => undefined);
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Sign in with Example ID' }).click();
    await seen(page, 'Your access to this installation was ended.');
  });
});
