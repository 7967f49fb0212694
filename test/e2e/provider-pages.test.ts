import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { templateProviders, templatesOf } from '#rules/templates.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';
import { builtInCatalogue } from '#test/support/worlds/catalogue.ts';

const attack = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`;
const script = 'javascript:alert(3)';
const field = { type: 'string', title: attack, description: attack, warnings: [attack] };

/** Every text of it that a page shows tries to leave its place. */
const hostile = {
  display_name: attack,
  categories: [attack, 'content'],
  aliases: [attack],
  auth_mode: 'OAUTH2',
  docs: script,
  docs_connect: 'http://docs.example/',
  setup_guide_url: 'data:text/html,<script>alert(4)</script>',
  authorization_url: 'https://api.example/authorize',
  token_url: 'https://api.example/token',
  scope_separator: attack,
  default_scopes: [attack],
  scope_descriptions: { [attack]: { en: attack, de: attack } },
  credentials: { [attack]: { ...field, enum: [attack], enum_titles: { [attack]: attack } } },
  connection_config: { [attack]: { ...field, prefix: attack, default_value: attack } },
  token_response_metadata: [attack],
  proxy: {
    base_url: `https://api.example/${attack}`,
    headers: { [attack]: attack },
    paginate: { type: 'cursor', response_path: attack },
    retry: { after: [attack], limited: [{ statuses: [403], header: attack, values: [attack] }] },
    verification: { method: 'POST', endpoints: [`/me/${attack}'; touch /tmp/x #`], data: attack },
  },
};

let folder: string;
let gateway: RunningGateway;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-provider-pages-'));
  await writeFile(join(folder, 'own.json'), JSON.stringify({ 'hostile-entry': hostile }));
  gateway = await startGateway({ env: { SVC_PROVIDERS: folder } });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const builtIn = builtInCatalogue().all();

async function page(path: string): Promise<{ readonly status: number; readonly html: string }> {
  const response = await fetch(`${gateway.url}/docs/${path}`, { headers: { accept: 'text/html' } });
  return { status: response.status, html: await response.text() };
}

const attributes = (html: string, name: string): string[] =>
  [...html.matchAll(new RegExp(`<[^<>]* ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value);

/** What is wrong with a page; empty: nothing. */
function problemsOf(html: string): string[] {
  const ids = attributes(html, 'id');
  const anchors = attributes(html, 'href').filter((link) => link.startsWith('#'));
  const repeated = ids.filter((id, at) => ids.indexOf(id) !== at);
  const open = anchors.filter((link) => !ids.includes(decodeURIComponent(link.slice(1))));
  const odd = attributes(html, 'href').filter(
    (link) => !/^(https:\/\/|data:,$|#|\.\.\/|[a-z0-9-]+\/$)/.test(link),
  );
  const titles = html.match(/<h1/g)?.length ?? 0;
  const [gap] = /undefined|\[object|>null</.exec(html) ?? [];
  // Of tags alone: text in quotes is harmless.
  const [inline] =
    /<style|<[^>]* style=|<[^>]* on[a-z]+=|<script(?! src="")/.exec(
      html.replaceAll(/"[^"]*"/g, '""'),
    ) ?? [];
  return [
    ...repeated.map((id) => `id ${id} stands twice`),
    ...open.map((link) => `${link} leads nowhere`),
    ...odd.map((link) => `link ${link}`),
    ...(titles === 1 ? [] : [`${titles} titles`]),
    ...[gap, inline].filter((found) => found !== undefined),
  ];
}

describe('the pages of providers', () => {
  it('lists each provider with a logo and a link to its page, also that of an overlay', async () => {
    const { status, html } = await page('providers/');
    expect(status).toBe(200);
    const links = new Set(attributes(html, 'href'));
    const logos = new Set(attributes(html, 'src'));
    const catalog = await gateway.call('GET', '/providers.json', { key: null });
    const names = Object.keys(catalog.body as object);
    expect(names).toEqual(expect.arrayContaining([builtIn.at(-1)?.name, 'hostile-entry']));
    expect(names.filter((name) => !links.has(`${name}/`))).toEqual([]);
    expect(names.filter((name) => !logos.has(`../../images/template-logos/${name}.svg`))).toEqual(
      [],
    );
    expect(/\d+ providers/.exec(html)?.[0]).toBe(`${names.length} providers`);
    expect(problemsOf(html)).toEqual([]);
    expect((await page('providers/index.html')).html === html).toBe(true);
  });

  it('renders each provider without a gap, a repeated id or a link that leads nowhere', async () => {
    const began = performance.now();
    const problems: string[] = [];
    for (const { name, display_name: title, docs } of builtIn) {
      const { status, html } = await page(`providers/${name}/`);
      if (status !== 200) problems.push(`${name}: ${status}`);
      if (attributes(html, 'id').filter((id) => id === 'examples').length !== 1)
        problems.push(`${name}: no examples`);
      if (!html.includes(name) || title === '' || !/^https:/.test(docs))
        problems.push(`${name}: no title or documentation`);
      problems.push(...problemsOf(html).map((problem) => `${name}: ${problem}`));
    }
    expect(problems).toEqual([]);
    const each = (performance.now() - began) / builtIn.length;
    console.log(`${builtIn.length} pages, ${each.toFixed(1)} ms each with the request`);
  });

  it('renders each template likewise, linked from the page of its provider', async () => {
    const problems: string[] = [];
    for (const provider of templateProviders()) {
      const ofProvider = await page(`providers/${provider}/`);
      for (const { name, file } of templatesOf(provider)) {
        if (!attributes(ofProvider.html, 'href').includes(`${name}/`))
          problems.push(`${provider}/${name}: no link`);
        const { status, html } = await page(`providers/${provider}/${name}/`);
        if (status !== 200) problems.push(`${provider}/${name}: ${status}`);
        if (!html.includes(`npx svc add ${provider}/${name}`) || !html.includes(file))
          problems.push(`${provider}/${name}: no command or code`);
        // Code may contain any word.
        const text = html.replaceAll(/<pre[^]*?<\/pre>/g, '');
        problems.push(...problemsOf(text).map((problem) => `${provider}/${name}: ${problem}`));
      }
    }
    expect(problems).toEqual([]);
  });

  it('shows what a template saves, asks for and needs', async () => {
    const { html } = await page('providers/hubspot/contacts/');
    expect(html).toContain('A run asks for changes since the last one alone.');
    expect(html).toContain('Deletions are found in each run.');
    expect(html).toContain('<td><code>emails</code></td><td>list of string</td>');
    expect(html).toContain('<td><code>job_title</code></td><td>string or null</td>');
    expect(html).toContain('At the provider: <code>crm.objects.contacts.read</code>.');
    expect(html).toContain('createSync({');
    expect(html).toContain('<code>hubspot/contact.ts</code>');
    const nested = (await page('providers/outlook/messages/')).html;
    expect(nested).toContain('<code>from.email</code>');
    expect(nested).toContain('<code>to[].email</code>');
    const metadata = (await page('providers/github/issues/')).html;
    expect(metadata).toContain('<td><code>repository</code></td><td>string</td>');
    const action = (await page('providers/hubspot/create-contact/')).html;
    expect(action).toContain('<td><code>first_name</code></td><td>string, optional</td>');
  });

  it('leads from the address of a template without a slash, and knows no others', async () => {
    const url = `${gateway.url}/docs/providers/hubspot/contacts`;
    const response = await fetch(url, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([308, 'contacts/']);
    for (const path of ['nothing/', 'nothing', 'contacts/more/', 'contacts/more'])
      expect((await page(`providers/hubspot/${path}`)).status).toBe(404);
  });

  it.each([
    'providers/',
    'providers/hubspot/',
    'providers/hubspot/contacts/',
    'providers/datadog/',
  ])('has links at /docs/%s that lead somewhere', async (path) => {
    const { html } = await page(path);
    const own = [...attributes(html, 'href'), ...attributes(html, 'src')].filter((link) =>
      link.startsWith('.'),
    );
    const first = [...new Set(own)].slice(0, 120);
    expect(first.length).toBeGreaterThan(20);
    for (const link of first) {
      const found = await fetch(new URL(link, `${gateway.url}/docs/${path}`));
      const text = await found.text();
      expect([link, found.status]).toEqual([link, 200]);
      const anchor = new URL(link, gateway.url).hash.slice(1);
      if (anchor !== '') expect(attributes(text, 'id')).toContain(anchor);
    }
  });

  it('shows redirect URL, scopes, limits, pagination, webhooks and calls of an entry', async () => {
    const { html } = await page('providers/hubspot/');
    expect(html).toContain(`${gateway.url}/oauth/callback`);
    expect(html).toContain(
      '<td><code>crm.objects.contacts.read</code></td><td>Reads contacts.</td>',
    );
    expect(html).toContain('<code>paging.next.after</code>');
    expect(html).toContain('<code>digest</code> in <code>x-hubspot-signature</code>');
    expect(html).toContain(`${gateway.url}/proxy/account-info/2026-09/details`);
    const anchors = ['app', 'scopes', 'calls', 'limits', 'pagination', 'webhooks', 'examples'];
    expect(attributes(html, 'id')).toEqual(expect.arrayContaining(anchors));
    expect(html).not.toContain('At most ');
    const limited = (await page('providers/trello/')).html;
    expect(limited).toContain('At most 100 requests in 10 seconds are sent for each connection');
    const regions = (await page('providers/datadog/')).html;
    expect(regions).toContain('(US1)');
  });

  it('shows texts of an overlay as text, and only addresses of HTTPS as links', async () => {
    const { status, html } = await page('providers/hostile-entry/');
    expect(status).toBe(200);
    expect(problemsOf(html)).toEqual([]);
    expect(html).not.toContain('<script>');
    expect(html).not.toMatch(/<img src=x/);
    expect(html).toContain(`<code>${script}</code>`);
    expect(
      attributes(html, 'href').filter((link) => /^(javascript|http|data:t)/.test(link)),
    ).toEqual(attributes(html, 'href').filter((link) => link.startsWith('https://')));
    // A pasted example is one word of the shell.
    expect(html).toContain('/tmp/x #');
    expect(html).toContain(String.raw`&apos;\&apos;&apos;; touch /tmp/x #`);
  });

  it('leads from an address without a slash, and shows an entry under its alias', async () => {
    const response = await fetch(`${gateway.url}/docs/providers/hubspot`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([308, 'hubspot/']);
    const { name, aliases = [] } = builtIn.find((one) => one.aliases !== undefined)!;
    const { status, html } = await page(`providers/${aliases[0]}/`);
    expect(status).toBe(200);
    expect(html).toContain(`<code>${name}</code>`);
  });

  it('is compressed, and not sent again to a browser that has it', async () => {
    const url = `${gateway.url}/docs/providers/`;
    const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
    const etag = plain.headers.get('etag')!;
    const again = await fetch(url, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    expect(plain.headers.get('content-security-policy')).toContain("script-src 'self'");
    const small = await fetch(url, { headers: { 'accept-encoding': 'br' } });
    expect(small.headers.get('content-encoding')).toBe('br');
    expect((await small.text()) === (await plain.text())).toBe(true);
  });

  it.each(['not-there/', 'hubspot/more/', '__proto__/', `${encodeURIComponent('<b>')}/`])(
    'answers 404 in the frame of the site for %s',
    async (name) => {
      const { status, html } = await page(`providers/${name}`);
      expect(status).toBe(404);
      expect(html).toContain('Page not found');
      expect(html).not.toContain('<b>');
    },
  );
});
