/**
 * `node test/bench/files-entered.ts [--list]`: how many files of the service a reader of each flow has to enter. A file
 * is entered when one of its functions runs, in whichever thread, and none does in a gateway at rest:
 * from `batchSave` in a sync to the page with its record, one triggered action, one incoming webhook that is verified
 * and forwarded. `modules` counts those of `src/modules` alone; `--list` names the files.
 */
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { standardWebhook, webhookProviders } from '#test/support/fakes/fake-webhook-provider.ts';
import { limitsVariable } from '#test/support/processes/with-limits.ts';
import { openCrmWorld, succeeded } from '#test/support/worlds/crm-world.ts';
import { report } from './measure.ts';

const { values: options } = parseArgs({ options: { list: { type: 'boolean', default: false } } });
const root = fileURLToPath(new URL('../../', import.meta.url));
const hook = fileURLToPath(new URL('files-entered-hook.js', import.meta.url));
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
/** The hook looks for a mark every 20 ms, and each thread needs up to a second for its coverage. */
const marksMs = 2_500;
/** What a flow leaves to other threads has ended by then. */
const settledMs = 800;

const folder = mkdtempSync(join(tmpdir(), 'svc-files-entered-'));
await using world = await openCrmWorld({
  // A forwarded webhook goes to the receiver of the world; the provider itself is never called.
  definitions: webhookProviders('http://127.0.0.1:9'),
  // Limits of its own: the gateway runs from its sources.
  env: { NODE_OPTIONS: `--import=${hook}`, SVC_BENCH_MARKS: folder, [limitsVariable]: '{}' },
});

let mark = 0;
async function enteredSince(): Promise<Set<string>> {
  mark += 1;
  writeFileSync(join(folder, `mark-${mark}`), '');
  await wait(marksMs);
  const reports = readdirSync(folder).filter((name) => name.startsWith(`entered-${mark}-`));
  const urls = reports.flatMap(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as string[],
  );
  return new Set(urls.map((url) => fileURLToPath(url).slice(root.length)));
}

async function enteredBy(flow: () => Promise<unknown>): Promise<Set<string>> {
  await enteredSince();
  await flow();
  await wait(settledMs);
  return enteredSince();
}

async function addressOfNotes(): Promise<string> {
  const { gateway } = world;
  const integration = { provider: 'notes', unique_key: 'notes' };
  succeeded(await gateway.call('POST', '/integrations', { body: integration }));
  const connection = {
    provider_config_key: 'notes',
    connection_id: 'ann',
    credentials: { type: 'API_KEY', apiKey: 'k' },
    metadata: { webhookSecret: secret },
  };
  succeeded(await gateway.call('POST', '/connections', { body: connection }));
  const shown = succeeded(await gateway.call('GET', '/integrations/notes?include=webhook')) as {
    readonly data: { readonly webhook_url: string };
  };
  return `${new URL(shown.data.webhook_url).pathname}?svcConnectionId=ann`;
}

const crm = await world.connect();
const address = await addressOfNotes();
let saved = 0;
let hooks = 0;

const flows = {
  async record() {
    saved += 1;
    crm.account.contacts = [{ id: `c-${saved}`, name: 'Ann' }];
    await crm.run('contacts');
    const { records } = await crm.records('Contact');
    if (records.length === 0) throw new Error('the page has no record');
  },
  async action() {
    succeeded(await crm.action('echo', {}));
  },
  async webhook() {
    hooks += 1;
    const event = { type: 'note.edited', note_id: `n-${hooks}` };
    const url = world.gateway.url + address;
    const sent = standardWebhook(url, secret, event, Date.now(), `msg_${hooks}`);
    const response = await fetch(sent.url, {
      method: 'POST',
      headers: sent.headers,
      body: sent.body,
    });
    if (!response.ok) throw new Error(`the webhook got ${response.status}`);
  },
};

// The first of each flow opens what later ones find open.
for (const flow of Object.values(flows)) await flow();
const atRest = await enteredBy(() => wait(settledMs));
for (const [name, flow] of Object.entries(flows)) {
  const entered = [...(await enteredBy(flow))].filter((file) => !atRest.has(file)).sort();
  const modules = entered.filter((file) => file.startsWith('src/modules/'));
  report({ [`${name}_files`]: entered.length, [`${name}_files_of_modules`]: modules.length });
  if (options.list) console.log(entered.join('\n'));
}
await rm(folder, { recursive: true, force: true });
