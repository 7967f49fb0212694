import { mkdirSync, mkdtempSync, readFileSync, rmSync, cpSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openProjectFakes, type ProjectFakes } from '#cli/fakes/project-fakes.ts';
import { templatesFolder } from '#rules/templates.ts';
import {
  blocksOf,
  commandsOf,
  pageOf,
  Reader,
  type Block,
  type Terminal,
} from '#test/support/processes/reader.ts';

const guide = pageOf('docs/from-a-template-to-production.md');
const provider = 'stripe-api-key';

/** Stands for Stripe, with the account whose secret key the reader has. */
let fakes: ProjectFakes;
let folder: string;
let reader: Reader;
let terminal: Terminal;
let developing: ReturnType<Terminal['watch']>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-stripe-'));
  mkdirSync(join(folder, 'stripe'));
  cpSync(join(templatesFolder, 'stripe/fixtures'), join(folder, 'stripe/fixtures'), {
    recursive: true,
  });
  const manifest = { svc: { integrations: { stripe: provider } } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  fakes = await openProjectFakes(folder);
  const definitions = join(folder, 'providers.json');
  writeFileSync(definitions, JSON.stringify(fakes.definitions()));
  reader = await Reader.open({ SVC_PROVIDERS: definitions, SVC_EGRESS_ALLOW: fakes.hostPort });
  terminal = reader.terminal();
});
afterAll(async () => {
  await reader[Symbol.asyncDispose]();
  await fakes[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const project = () => join(reader.home, 'billing');

describe('the guide from a template to production, played in an empty home', () => {
  const left = [...blocksOf(guide)];
  const next = (language: string): Block => {
    const block = left.shift();
    expect(block?.language, 'the order of the blocks').toBe(language);
    return block!;
  };

  it('adds a template with the files that the guide names', async () => {
    expect(await terminal.run(next('sh').text)).toContain('The project is ready');
    const added = await terminal.run(next('sh').text);
    expect(added).toMatch(/^stripe\/customers +sync +1\./m);
    expect(added).toContain('Added stripe/syncs/customers.ts');
    const [, section = ''] = /\n## Look at the code\n([^]*?)\n## /.exec(guide) ?? [];
    const named = [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(4);
    for (const path of named) expect(readFileSync(join(project(), path), 'utf8')).not.toBe('');
  });

  it('runs on a fake, whose customers change when asked', async () => {
    const { text } = next('sh');
    expect(text).toBe('npx svc dev --fakes\n');
    const other = reader.terminal();
    await other.run('cd ~/billing');
    developing = other.watch(text);
    await expect.poll(() => developing.printed).toContain('ran stripe/customers: Customer 5 added');
    expect(await terminal.run(next('sh').text)).toContain('ada@example.com');
    developing.type('c');
    await expect.poll(() => developing.printed).toContain('ran stripe/customers: Customer 1 added');
  });

  it('has the common shape with further fields and that of the provider', async () => {
    reader.save(next('ts'), project());
    reader.save(next('ts'), project());
    await expect.poll(() => developing.printed).toMatch(/ran stripe\/customers: .*StripeCustomer/);
    const read = await terminal.run(next('sh').text);
    expect(read).toContain('"is_delinquent":false');
    expect(read).toContain('"delinquent":false');
  });

  it('is tested with the records as they are now', async () => {
    expect(await terminal.runFailing(next('sh').text)).toContain('is_delinquent');
    const file = join(project(), 'stripe/fixtures/customers.json');
    const fixture = JSON.parse(readFileSync(file, 'utf8')) as object;
    const changed = JSON.parse(next('json').text) as object;
    writeFileSync(file, JSON.stringify({ ...fixture, ...changed }, null, 2));
    expect(await terminal.run(next('sh').text)).toMatch(/Tests {2}8 passed/);
  });

  it('is deployed, and reads a real account', async () => {
    await developing.interrupt();
    await reader.startGateway(next('sh').text);
    await terminal.run(next('sh').text);
    await terminal.run('rm -r demo');
    reader.save(next('ts'), project());
    const { apiKey: key } = fakes.of('stripe').played.importable() as { readonly apiKey: string };
    const deployed = await terminal.run(next('sh').text.replace('sk_test_…', key));
    expect(deployed).toContain(`Created the integration stripe (provider ${provider})`);
    expect(deployed).toContain('Connected acme of stripe');
    const [read = '', dry = ''] = commandsOf(next('sh').text);
    await expect.poll(() => terminal.run(read)).toContain('ada@example.com');
    expect(await terminal.run(dry)).toContain('StripeCustomer');
  });

  it('is scheduled, watched and compared with the template', async () => {
    const scheduled = await terminal.run(next('sh').text);
    expect(scheduled).toMatch(/customers +stripe +acme +\w+ +15m/);
    const watched = await terminal.run(next('sh').text);
    expect(watched).toMatch(/sync +customers +acme +succeeded/);
    const compared = await terminal.run(next('sh').text);
    expect(compared).toContain('stripe/customer.ts  (changed here alone)');
    expect(compared).toContain('is_delinquent');
    expect(left).toEqual([]);
    const typed = blocksOf(guide).filter(({ language }) => language === 'sh');
    const commands = typed.flatMap((block) => commandsOf(block.text));
    console.log(`from a template to production: ${commands.length} commands, ${reader.seconds} s`);
  });
});
