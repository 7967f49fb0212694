import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { languageCodes, translator } from '#modules/access/connect-ui/texts/translate.ts';
import { keyProvider, loginProvider, openProvider, redirectProvider } from './providers.ts';
import { openBrowserWorld, violationsOf, type BrowserWorld } from './world.ts';

let world: BrowserWorld;
beforeAll(async () => {
  const providers = [keyProvider, loginProvider, openProvider, redirectProvider];
  world = await openBrowserWorld({ providers });
});
afterEach(() => world.closePages());
afterAll(() => world[Symbol.asyncDispose]());

const onlyKey = { allowed_integrations: ['harbour'] };
const madeFor = async (id: string) =>
  (await world.connections()).filter(({ end_user }) => end_user?.id === id);

/** What the provider takes. */
const typedInto = (name: string) => {
  const { form, connectionConfig } = world.played[name]!;
  return { form: form as Readonly<Record<string, string>>, connectionConfig };
};

describe('the list', () => {
  it('shows what the session allows, and leads to a form and back', async () => {
    const page = await world.connectPage({ allowed_integrations: ['harbour', 'ledger'] });
    await page.getByRole('heading', { name: 'Connect an account' }).waitFor();
    const choices = page.getByRole('listitem').getByRole('button');
    expect(await choices.allTextContents()).toEqual(['Harbour CRM', 'Ledger']);
    await choices.first().click();
    await page.getByRole('heading', { name: 'Connect Harbour CRM' }).waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('heading', { name: 'Connect an account' }).waitFor();
  });

  it('is left out where there is one thing to connect', async () => {
    const page = await world.connectPage(onlyKey);
    await page.getByRole('heading', { name: 'Connect Harbour CRM' }).waitFor();
    expect(await page.getByRole('button', { name: 'Back' }).count()).toBe(0);
  });

  it('takes the token out of the address and keeps it over a reload', async () => {
    const page = await world.connectPage(onlyKey);
    await page.getByRole('heading', { name: 'Connect Harbour CRM' }).waitFor();
    expect(page.url()).toBe(`${world.gateway.url}/connect/ui/`);
    await page.reload();
    await page.getByRole('heading', { name: 'Connect Harbour CRM' }).waitFor();
  });

  it('says that a link has expired, or lacks its token', async () => {
    const page = await world.page();
    const unknown = `svc_connect_session_${'0'.repeat(64)}`;
    await page.goto(`${world.gateway.url}/connect/ui/?session_token=${unknown}`);
    await page.getByRole('heading', { name: 'This link has expired' }).waitFor();
    const other = await world.page();
    await other.goto(`${world.gateway.url}/connect/ui/`);
    await other.getByRole('heading', { name: 'This link is incomplete' }).waitFor();
  });
});

describe('what is secret', () => {
  it('stands in no address that is asked for after the page is there, nor in the log', async () => {
    const token = await world.session(onlyKey);
    const page = await world.page();
    await page.goto(`${world.gateway.url}/connect/ui/?session_token=${token}`);
    await page.getByRole('textbox', { name: 'Account' }).fill('acme-inc');
    const asked: string[] = [];
    page.on('request', (request) =>
      asked.push(`${request.url()} ${request.headers()['referer'] ?? ''}`),
    );
    await page.getByLabel('Region').selectOption('eu');
    await page.getByLabel('Secret key', { exact: true }).fill('canary-4711-wrong');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('connection_test_failed').waitFor();
    expect(asked.filter((line) => line.includes('canary-4711'))).toEqual([]);
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('canary-4711');
    expect(page.url()).not.toContain(token);
    const log = world.gateway.log.join('\n');
    expect(log).not.toContain(token);
    expect(log).not.toContain('canary-4711');
  });
});

describe('a form', () => {
  it('connects with the key that the provider knows', async () => {
    const page = await world.connectPage({ ...onlyKey, end_user: { id: 'by-key' } });
    const { form, connectionConfig } = typedInto('harbour');
    await page.getByLabel('Region').selectOption(connectionConfig['region']!);
    await page.getByRole('textbox', { name: 'Account' }).fill(connectionConfig['account']!);
    await page.getByLabel('Secret key', { exact: true }).fill(form['apiKey']!);
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('heading', { name: 'Harbour CRM is connected' }).waitFor();
    expect(await madeFor('by-key')).toMatchObject([{ provider_config_key: 'harbour' }]);
    const heading = page.getByRole('heading', { name: 'Harbour CRM is connected' });
    expect(await heading.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it('connects with a login, and without anything', async () => {
    const wanted = { allowed_integrations: ['ledger', 'weather'], end_user: { id: 'by-login' } };
    const page = await world.connectPage(wanted);
    const { form } = typedInto('ledger');
    await page.getByRole('button', { name: 'Ledger' }).click();
    await page.getByLabel('User name').fill(form['username']!);
    await page.getByLabel('Password', { exact: false }).first().fill(form['password']!);
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('heading', { name: 'Ledger is connected' }).waitFor();
    await page.getByRole('button', { name: 'Connect another' }).click();
    await page.getByRole('button', { name: 'Open weather' }).click();
    await page.getByText('Open weather needs no credentials.').waitFor();
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('heading', { name: 'Open weather is connected' }).waitFor();
    expect(await madeFor('by-login')).toHaveLength(2);
  });

  it('names the fields that are not right before anything is sent', async () => {
    const page = await world.connectPage(onlyKey);
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.method()} ${request.url()}`));
    await page.getByRole('textbox', { name: 'Account' }).fill('Not An Account');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('Please check: Region, Account, Secret key.').waitFor();
    const region = page.getByLabel('Region');
    expect(await region.getAttribute('aria-invalid')).toBe('true');
    expect(await region.evaluate((element) => element === document.activeElement)).toBe(true);
    const told = await page
      .getByRole('textbox', { name: 'Account' })
      .getAttribute('aria-describedby');
    const [problem] = told!.split(' ');
    expect(await page.locator(`#${problem!}`).textContent()).toBe(
      'Account does not have the expected format, for example acme-inc.',
    );
    expect(sent.filter((line) => line.startsWith('POST'))).toEqual([]);
    expect(await violationsOf(page)).toEqual([]);
  });

  it("shows the provider's refusal with its code and log id, and keeps what was entered", async () => {
    const page = await world.connectPage({ ...onlyKey, end_user: { id: 'refused' } });
    const { connectionConfig } = world.played['harbour']!;
    await page.getByLabel('Region').selectOption(connectionConfig['region']!);
    await page.getByRole('textbox', { name: 'Account' }).fill(connectionConfig['account']!);
    await page.getByLabel('Secret key', { exact: true }).fill('wrong-key-4711');
    await page.getByRole('button', { name: 'Connect' }).click();
    const box = page.getByRole('alert').filter({ hasText: 'Harbour CRM was not connected' });
    await box.waitFor();
    expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
    const text = await box.innerText();
    expect(text).toContain('connection_test_failed');
    expect(text).toMatch(/Response of the provider\s+401/);
    expect(text).toMatch(/Log ID\s+\S+/);
    expect(text).not.toContain('wrong-key-4711');
    expect(await page.getByRole('textbox', { name: 'Account' }).inputValue()).toBe(
      connectionConfig['account'],
    );
    expect(await violationsOf(page)).toEqual([]);
    expect(await madeFor('refused')).toEqual([]);
  });

  it('puts what the service finds wrong at its field', async () => {
    const page = await world.connectPage(onlyKey);
    const { form, connectionConfig } = typedInto('harbour');
    await page.getByLabel('Region').selectOption(connectionConfig['region']!);
    await page.getByRole('textbox', { name: 'Account' }).fill(connectionConfig['account']!);
    await page.getByLabel('Secret key', { exact: true }).fill(form['apiKey']!);
    // As a page would do whose definition is older than the service's.
    await page.route('**/api-auth/**', (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set('params[account]', 'Not valid');
      return route.continue({ url: url.href });
    });
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('Please check: Account.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Account' }).getAttribute('aria-invalid')).toBe(
      'true',
    );
  });

  it('hides a secret until it is asked to show it', async () => {
    const page = await world.connectPage(onlyKey);
    const key = page.getByLabel('Secret key', { exact: true });
    expect(await key.getAttribute('type')).toBe('password');
    const toggle = page.getByRole('button', { name: 'Show Secret key' });
    await toggle.click();
    expect(await key.getAttribute('type')).toBe('text');
    await page.getByRole('button', { name: 'Hide Secret key' }).click();
    expect(await key.getAttribute('type')).toBe('password');
  });

  it('can be filled in and sent with the keyboard alone', async () => {
    const wanted = { allowed_integrations: ['harbour', 'ledger'], end_user: { id: 'by-keyboard' } };
    const page = await world.connectPage(wanted);
    const { form, connectionConfig } = typedInto('harbour');
    // The heading is there while the list loads, and has the focus again when the list is drawn.
    await page.getByRole('button', { name: 'Harbour CRM' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Connect Harbour CRM' }).waitFor();
    const reached: string[] = [];
    const next = async () => {
      await page.keyboard.press('Tab');
      reached.push(await page.evaluate(() => document.activeElement?.id ?? ''));
    };
    await next(); // the link to the documentation
    await next();
    await page.keyboard.press(connectionConfig['region'] === 'us' ? 'u' : 'e');
    await next();
    await page.keyboard.type(connectionConfig['account']!);
    await next();
    await page.keyboard.type(form['apiKey']!);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Harbour CRM is connected' }).waitFor();
    expect(reached).toEqual([
      '',
      'field-params-region',
      'field-params-account',
      'field-credentials-apiKey',
    ]);
    expect(await madeFor('by-keyboard')).toHaveLength(1);
  });

  it.each(languageCodes)('is in the language of the browser: %s', async (code) => {
    const page = await world.connectPage(
      { allowed_integrations: ['ledger'] },
      { locale: code === 'en' ? 'en-US' : code },
    );
    const t = translator(code);
    await page.getByRole('heading', { name: t('connectTo', { name: 'Ledger' }) }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe(code);
    await page.getByLabel(t('nameUsername')).fill('typed before');
    expect(await page.getByRole('button', { name: t('connect'), exact: true }).count()).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    const other = code === 'de' ? 'ja' : 'de';
    await page.getByLabel(t('language')).selectOption(other);
    await page.getByText(translator(other)('formIntro', { name: 'Ledger' })).waitFor();
    const name = page.getByLabel(translator(other)('nameUsername'));
    expect(await name.inputValue()).toBe('typed before');
  });
});
