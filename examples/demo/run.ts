/**
 * `npm run demo`: the whole service on real input. It starts the gateway in a process of its own, deploys
 * the functions of `examples/npm-releases` with the command line, connects to the package registry that npm
 * is configured with, syncs, pages, and verifies the webhooks. Exits 0, or 1 with the step that failed. With `--keep` the
 * gateway runs on until a signal.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway, type Gateway } from './gateway.ts';
import { npmSettings } from './npm-settings.ts';
import { startReceiver, type Receiver, type SyncWebhook } from './receiver.ts';
import { svc } from './svc-command.ts';

const firstSelection = ['koa', 'express', 'semver', 'debug', 'chalk', 'commander'];
const secondSelection = ['koa', 'express', 'semver', 'debug', 'fastify'];
const pair = { 'provider-config-key': 'npm', 'connection-id': 'demo' };

let current = 'start';
async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
  current = title;
  process.stdout.write(`▸ ${title} …\n`);
  const started = performance.now();
  const result = await work();
  console.log(`  done in ${Math.round(performance.now() - started)} ms\n`);
  return result;
}

interface Release {
  readonly id: string;
  readonly publishedAt: string | null;
  readonly _svc_metadata: { readonly last_action: string; readonly cursor: string };
}

interface Changes {
  readonly records: Release[];
  readonly cursor: string | null;
  readonly pages: number;
}

/** Reads everything modified after the cursor, page by page. */
async function readChanges(gateway: Gateway, from: string | null): Promise<Changes> {
  const records: Release[] = [];
  let cursor = from;
  let pages = 0;
  for (let hasMore = true; hasMore; pages += 1) {
    const query = new URLSearchParams({ model: 'Release', limit: '500' });
    if (cursor !== null) query.set('cursor', cursor);
    const page = await gateway.call<{ records: Release[]; next_cursor: string | null }>(
      'GET',
      `/records?${query.toString()}`,
      { headers: pair },
    );
    records.push(...page.records);
    cursor = page.records.at(-1)?._svc_metadata.cursor ?? cursor;
    hasMore = page.next_cursor !== null;
  }
  return { records, cursor, pages };
}

async function sync(gateway: Gateway, receiver: Receiver): Promise<SyncWebhook> {
  const body = { provider_config_key: 'npm', connection_id: 'demo', syncs: ['releases'] };
  await gateway.call('POST', '/sync/trigger', { body });
  const webhook = await receiver.next();
  if (!webhook.success) throw new Error(`the sync failed: ${JSON.stringify(webhook.error)}`);
  const { added, updated, deleted } = webhook.responseResults;
  console.log(`  webhook verified: added ${added}, updated ${updated}, deleted ${deleted}`);
  return webhook;
}

function expectThat(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`expected ${what}`);
}

function show(changes: Changes): void {
  console.log(`  ${changes.records.length} records on ${changes.pages} pages, for example:`);
  for (const { id, publishedAt, _svc_metadata: meta } of changes.records.slice(0, 5)) {
    console.log(`    ${meta.last_action.padEnd(8)} ${id.padEnd(24)} ${publishedAt ?? ''}`);
  }
}

async function prepare(gateway: Gateway, receiver: Receiver): Promise<void> {
  await step('point the webhooks of the environment dev at a receiver', async () => {
    const { data } = await gateway.account<{ data: { id: number; name: string }[] }>(
      'GET',
      '/environments',
    );
    const dev = data.find(({ name }) => name === 'dev');
    expectThat(dev !== undefined, 'an environment named dev');
    await gateway.account('PATCH', `/environments/${dev?.id ?? 0}`, {
      body: { webhook_url: receiver.url },
    });
    const rotated = await gateway.call<{ data: { webhook_signing_key: string } }>(
      'POST',
      '/environment/webhook-signing-key/rotate',
    );
    receiver.verifyWith(rotated.data.webhook_signing_key);
  });
  await step('create the integration npm', () =>
    gateway.call('POST', '/integrations', {
      body: { provider: 'package-registry', unique_key: 'npm' },
    }),
  );
  await step('deploy the functions with the command line', () => svc(gateway, ['deploy', 'dev']));
  await step('connect', () =>
    gateway.call('POST', '/connections', {
      body: {
        provider_config_key: 'npm',
        connection_id: 'demo',
        credentials: { type: 'NONE' },
        metadata: { packages: firstSelection },
      },
    }),
  );
}

async function run(gateway: Gateway, receiver: Receiver): Promise<void> {
  await prepare(gateway, receiver);
  const first = await step(`sync ${firstSelection.join(', ')}`, async () => {
    const webhook = await sync(gateway, receiver);
    expectThat(webhook.responseResults.added > 100, 'hundreds of releases');
    const changes = await readChanges(gateway, null);
    expectThat(
      changes.records.length === webhook.responseResults.added,
      'all records readable on the webhook',
    );
    show(changes);
    return changes;
  });
  await step('sync again: nothing has changed, nothing is saved', async () => {
    const { responseResults: counts } = await sync(gateway, receiver);
    const changes = await readChanges(gateway, first.cursor);
    expectThat(counts.added + counts.updated + counts.deleted === 0, 'no change');
    expectThat(changes.records.length === 0, 'no record after the cursor');
  });
  await step(
    `choose ${secondSelection.join(', ')} and sync: the cursor reads only what changed`,
    async () => {
      const body = {
        connection_id: 'demo',
        provider_config_key: 'npm',
        metadata: { packages: secondSelection },
      };
      await gateway.call('PATCH', '/connections/metadata', { body });
      const { responseResults: counts } = await sync(gateway, receiver);
      const changes = await readChanges(gateway, first.cursor);
      expectThat(counts.added > 0 && counts.deleted > 0, 'releases added and deleted');
      expectThat(
        changes.records.length === counts.added + counts.updated + counts.deleted,
        'just the changes',
      );
      show(changes);
      show({
        ...changes,
        records: changes.records.filter(
          ({ _svc_metadata: meta }) => meta.last_action === 'DELETED',
        ),
      });
    },
  );
  await step('run the action latest-version', async () => {
    const body = { action_name: 'latest-version', input: { name: 'koa' } };
    console.log(
      `  ${JSON.stringify(await gateway.call('POST', '/action/trigger', { headers: pair, body }))}`,
    );
  });
}

async function demo(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-demo-'));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const npm = npmSettings();
  const providers = join(folder, 'providers.json');
  await writeFile(providers, JSON.stringify({ 'package-registry': npm.provider }));
  const receiver = cleanup.use(await startReceiver());
  const gateway = cleanup.use(
    await step('start the gateway in one process, with nothing else installed', () =>
      startGateway({
        folder: join(folder, 'data'),
        key: `svc_env_${randomBytes(32).toString('base64url')}`,
        accountKey: `svc_acct_${randomBytes(32).toString('base64url')}`,
        env: {
          SVC_PROVIDERS: providers,
          SVC_EGRESS_ALLOW: [npm.hostPort, new URL(receiver.url).host].join(','),
          ...npm.env,
        },
      }),
    ),
  );
  await run(gateway, receiver);
  console.log('Where each part can be seen:');
  console.log('  the functions       examples/npm-releases');
  console.log(
    '  topics              streams/topics.ts, written by streams/owner and src/modules/records/owner',
  );
  console.log('  tables              src/modules/records/projection, driven by streams/projector');
  console.log('  the same by hand    npm start, then the quickstart of README.md');
  if (process.argv.includes('--keep')) await keep(gateway);
}

/** Shows how to reach the gateway, and waits for a signal, or for the gateway's end. */
async function keep({ url, key, ended, call }: Gateway): Promise<void> {
  const { data } = await call<{ data: { url: string } }>('POST', '/console/codes');
  console.log('\nThe gateway runs until Ctrl-C; its data is then removed.');
  console.log(`  console             ${data.url}   (once, for five minutes)`);
  console.log('  another link        npm run -s svc -- console -e dev, with');
  console.log(`                      SVC_HOSTPORT=${url} SVC_SECRET_KEY_DEV=${key}`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), ended]);
}

const started = performance.now();
try {
  await demo();
  console.log(`\nThe demo took ${((performance.now() - started) / 1000).toFixed(1)} s.`);
} catch (error) {
  console.error(`\nThe demo failed at: ${current}\n`, error);
  process.exitCode = 1;
}
