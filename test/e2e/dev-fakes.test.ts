import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Reader, type Terminal } from '#test/support/processes/reader.ts';

type Developing = ReturnType<Terminal['watch']>;

let reader: Reader;
let terminal: Terminal;
let developing: Developing;
/** Of programs of this test. */
let temporary: string;
beforeAll(async () => {
  reader = await Reader.open();
  temporary = join(reader.home, 'tmp');
  mkdirSync(temporary);
  terminal = reader.terminal();
  await terminal.run(`export TMPDIR='${temporary}'\nmkdir ~/empty`);
});
afterAll(() => reader[Symbol.asyncDispose]());

const file = (path: string) => join(reader.home, 'empty', path);

/** The commands that were printed, from their program to the end or to what they do. */
const commandsIn = (text: string): readonly string[] =>
  [...text.matchAll(/npx svc (?:.(?! {2}))*./g)].map(([command]) => command.trim());

const recordsOf = async (command: string) =>
  (await terminal.run(command))
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

describe('templates of three categories on fakes of their providers, from an empty folder', () => {
  it('names the next command in the output of each', async () => {
    const made = await terminal.run('npm run -s svc -- init ~/empty\ncd ~/empty');
    expect(commandsIn(made)).toEqual(
      expect.arrayContaining(['npx svc add hubspot/contacts', 'npx svc dev --fakes']),
    );
    for (const template of ['hubspot/contacts', 'jira/projects', 'bamboohr/employees']) {
      const added = await terminal.run(`npx svc add ${template}`);
      expect(commandsIn(added)[0]).toBe('npx svc dev --fakes');
    }
  });

  it('has records of all of them in seconds, and prints the commands that read them', async () => {
    const other = reader.terminal();
    await other.run(`export TMPDIR='${temporary}'\ncd ~/empty`);
    developing = other.watch('npx svc dev --fakes\n');
    await expect.poll(() => developing.printed).toContain('no error');
    const reading = commandsIn(developing.printed).filter((one) =>
      one.startsWith('npx svc records'),
    );
    expect(reading).toEqual([
      'npx svc records Contact me -i demo',
      'npx svc records Contact me -i hubspot',
      'npx svc records TicketCollection me -i jira',
      'npx svc records Employee me -i bamboohr',
    ]);
    for (const command of reading) {
      await expect.poll(async () => (await recordsOf(command)).length).toBeGreaterThan(2);
    }
    console.log(`records of three templates, from an empty folder: ${reader.seconds} s`);
    await expect.poll(() => developing.printed).toContain('ran hubspot/contacts: Contact 5 added');
  });

  it('deploys an edited function, and runs it again', async () => {
    const path = file('hubspot/contact.ts');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace(/job_title: .*,/, "job_title: 'Director',"));
    await expect
      .poll(() => developing.printed)
      .toContain('ran hubspot/contacts: Contact 5 updated');
    const [contact] = await recordsOf('npx svc records Contact me -i hubspot');
    expect(contact).toMatchObject({ job_title: 'Director' });
  });

  it('changes and deletes documents at the provider when asked', async () => {
    developing.type('c');
    await expect
      .poll(() => developing.printed)
      .toContain('ran hubspot/contacts: Contact 1 added, 1 updated');
    developing.type('d');
    await expect
      .poll(() => developing.printed)
      .toContain('ran hubspot/contacts: Contact 1 deleted');
    await expect
      .poll(() => developing.printed)
      .toContain('ran jira/projects: TicketCollection 1 deleted');
  });

  it('runs an action with any input', async () => {
    await terminal.run('npx svc add hubspot/create-contact');
    await expect
      .poll(() => developing.printed)
      .toContain('npx svc dryrun hubspot/actions/create-contact me --input');
    const input = JSON.stringify({ email: 'bob@example.com', first_name: 'Bob' });
    const output = await terminal.run(
      `npx svc dryrun hubspot/actions/create-contact me --input '${input}'`,
    );
    expect(output).toContain('"id": "101"');
    const [rename = ''] = commandsIn(developing.printed).filter((one) =>
      one.startsWith('npx svc dryrun demo/actions/rename-contact me --input'),
    );
    expect(await terminal.run(rename)).toContain('"name": "Ada Lovelace"');
  });

  it('plays a fixture that has changed', async () => {
    const path = file('jira/fixtures/projects.json');
    const text = readFileSync(path, 'utf8');
    const { documents } = JSON.parse(text) as { documents: { name: string }[] };
    const name = documents[0]?.name ?? '';
    writeFileSync(path, text.replaceAll(`"${name}"`, '"Renamed"'));
    await expect
      .poll(() => recordsOf('npx svc records TicketCollection me -i jira').catch(() => []))
      .toContainEqual(expect.objectContaining({ name: 'Renamed' }));
  });

  it('shows why a function fails', async () => {
    const path = file('jira/syncs/projects.ts');
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      text.replace(/exec: .*\{/, "$& await svc.get({ endpoint: '/none', retries: 0 });"),
    );
    await expect.poll(() => developing.printed).toMatch(/failed jira\/projects: .*404/);
    const [, id = ''] = /npx svc runs show (\S+)/.exec(developing.printed) ?? [];
    expect(await terminal.run(`npx svc runs show ${id}`)).toContain('jira/syncs/projects.ts:');
  });

  it('ends with Ctrl-C and leaves nothing', async () => {
    await developing.interrupt();
    // npm ends before the program that it started.
    const folders = () => readdirSync(temporary).filter((name) => name.startsWith('svc-fakes-'));
    await expect.poll(folders).toEqual([]);
    expect(readdirSync(file('.svc'))).not.toContain('fakes.json');
    const refused = await terminal.runFailing('npx svc records Contact me -i hubspot');
    expect(refused).toContain('No API key of dev');
  });

  it('ends the same where it has no input, as in the background', async () => {
    const other = reader.terminal();
    await other.run(`export TMPDIR='${temporary}'\ncd ~/empty`);
    const unattended = other.watch('npx svc dev --fakes < /dev/null\n');
    await expect.poll(() => unattended.printed).toContain('Each integration has the connection');
    await unattended.interrupt();
    expect(unattended.printed).not.toContain('Unexpected failure');
    const folders = () => readdirSync(temporary).filter((name) => name.startsWith('svc-fakes-'));
    await expect.poll(folders).toEqual([]);
  });
});
