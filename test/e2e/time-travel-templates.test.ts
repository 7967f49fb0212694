import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakedGateway, type FakedGateway } from '#cli/fakes/gateway-process.ts';
import {
  connectionOf,
  integrationOf,
  openProjectFakes,
  type ProjectFakes,
} from '#cli/fakes/project-fakes.ts';
import { ownPackage } from '#cli/package.ts';
import { templatesFolder } from '#rules/templates.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';

const providers = ['hubspot', 'stripe'] as const;
let root: string;
let fakes: ProjectFakes;
let gateway: FakedGateway;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'svc-replays-'));
  for (const name of providers) {
    cpSync(join(templatesFolder, name), join(root, name), { recursive: true });
  }
  writeFileSync(join(root, 'package.json'), '{}');
  fakes = await openProjectFakes(root);
  const { hostPort } = fakes;
  const { version } = ownPackage();
  gateway = await startFakedGateway({ definitions: fakes.definitions(), hostPort, version });
  for (const name of providers) {
    const fake = fakes.of(name);
    await gateway.client.request('POST /integrations', { body: integrationOf(fake) });
    await gateway.client.request('POST /connections', { body: connectionOf(fake, 'c-1', {}) });
  }
  await deployTemplate('stripe', 'customers', 'sync');
  await deployTemplate('stripe', 'invoices', 'sync');
  await deployTemplate('hubspot', 'contacts', 'sync');
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await fakes[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

/** Deploys it, and records its calls from then on. */
async function deployTemplate(provider: string, template: string, type: 'sync'): Promise<void> {
  const { client } = gateway;
  const queued = await client.request('POST /functions/deployments', {
    body: { type: 'template', integration_id: provider, template },
  });
  const params = { id: queued.id };
  await eventually(
    () => client.request('GET /functions/deployments/{id}', { params }),
    ({ status }) => status === 'success' || status === 'failed',
  );
  await client.request('PUT /integrations/{uniqueKey}/functions/{name}/recording', {
    params: { uniqueKey: provider, name: template },
    query: { type },
    body: { record_calls: true },
  });
}

const newest = async (provider: string, name: string) => {
  const query = { provider_config_key: provider, function: name, limit: 1 };
  const { data } = await gateway.client.request('GET /runs', { query });
  return data[0];
};

/** A run of the sync that began after its calls were recorded. */
async function synced(provider: string, name: string): Promise<string> {
  const { client } = gateway;
  const ended = (id: string | undefined) =>
    expect
      .poll(async () => {
        const run = await newest(provider, name);
        return run?.id === id ? 'before' : run?.status;
      })
      .toBe('succeeded');
  await ended(undefined);
  const before = await newest(provider, name);
  const names = { provider_config_key: provider, connection_id: 'c-1' };
  await client.request('POST /sync/trigger', {
    body: { ...names, syncs: [name], opts: { reset: true } },
  });
  await ended(before?.id);
  return (await newest(provider, name))?.id ?? '';
}

async function replayed(
  id: string,
  body: { code?: string; imports?: Record<string, string> } = {},
) {
  const { client } = gateway;
  const begun = await client.request('POST /runs/{id}/replays', { params: { id }, body });
  const read = () => client.request('GET /functions/dryruns/{id}', { params: { id: begun.id } });
  await expect.poll(async () => (await read()).status).toBe('success');
  return { begun, difference: (await read()).result as Difference };
}

interface Difference {
  readonly identical: boolean;
  readonly records: Record<string, { same: number; changed: number }>;
}

/** Files of the template, as other code sends them. */
async function filesOf(provider: string, name: string) {
  const { data } = await gateway.client.request('GET /providers/{provider}/templates/{name}', {
    params: { provider, name },
  });
  const [entry, ...others] = data.files;
  const sources = others.filter(({ path }) => !/\/(fixtures|tests)\//.test(path));
  const imports = sources.map(({ path, content }): [string, string] => [
    path.replace(new RegExp(`^${provider}/`), 'integration/'),
    content,
  ]);
  return { code: entry?.content ?? '', imports: Object.fromEntries(imports) };
}

describe('a recorded run of a template', () => {
  it('customers of Stripe: the same saves, and with one changed line that line', async () => {
    const id = await synced('stripe', 'customers');
    const { begun, difference } = await replayed(id);
    const saved = difference.records['Customer']?.same ?? 0;
    console.log(`customers: ${begun.recorded_calls} calls in ${begun.recorded_bytes} bytes`);
    expect(difference).toMatchObject({ identical: true });
    expect(saved).toBeGreaterThan(2);
    const { code, imports } = await filesOf('stripe', 'customers');
    const file = 'integration/customer.ts';
    const changed = imports[file]?.replace('customer.phone ?? null', "'none'") ?? '';
    expect(changed).toContain("'none'");
    const { difference: other } = await replayed(id, {
      code,
      imports: { ...imports, [file]: changed },
    });
    expect(other).toMatchObject({
      identical: false,
      outcome: null,
      checkpoint: null,
      requests: { unanswered: [], not_made: [] },
      records: { Customer: { same: 0, changed: saved, only_recorded: 0, only_replayed: 0 } },
    });
  });

  it('contacts of HubSpot: the same saves; only its checkpoint has the time of the replay', async () => {
    const { begun, difference } = await replayed(await synced('hubspot', 'contacts'));
    console.log(`contacts: ${begun.recorded_calls} calls in ${begun.recorded_bytes} bytes`);
    expect(difference).toMatchObject({
      outcome: null,
      requests: { unanswered: [], not_made: [] },
      records: { Contact: { changed: 0, only_recorded: 0, only_replayed: 0 } },
    });
    expect(difference.records['Contact']?.same).toBeGreaterThan(2);
  });

  it('invoices of Stripe: the same saves, and other code that leaves one out saves all but that', async () => {
    const id = await synced('stripe', 'invoices');
    const { begun, difference } = await replayed(id);
    console.log(`invoices: ${begun.recorded_calls} calls in ${begun.recorded_bytes} bytes`);
    expect(difference).toMatchObject({ identical: true });
    const saved = difference.records['InvoiceSummary']?.same ?? 0;
    expect(saved).toBeGreaterThan(1);
    const { code, imports } = await filesOf('stripe', 'invoices');
    const other = code.replace('.map(invoiceOf)', '.slice(1).map(invoiceOf)');
    expect(other).not.toBe(code);
    const { difference: changed } = await replayed(id, { code: other, imports });
    expect(changed).toMatchObject({
      identical: false,
      outcome: null,
      requests: { unanswered: [], not_made: [] },
      records: { InvoiceSummary: { changed: 0, only_replayed: 0 } },
    });
    expect(changed.records['InvoiceSummary']?.same).toBeLessThan(saved);
  });
});
