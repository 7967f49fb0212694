import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  blocksOf,
  commandsOf,
  pageOf,
  Reader,
  type Terminal,
} from '#test/support/processes/reader.ts';

/** The blocks of the README: the demo, the start, a terminal, the API, a project, the packed package. */
const blocks = blocksOf(pageOf('README.md')).map(({ text }) => text);
const [demo, start = '', terminal = '', api = '', own = '', packed, ...more] = blocks;

let reader: Reader;
let typing: Terminal;
beforeAll(async () => {
  reader = await Reader.open();
  await reader.startGateway(start);
  typing = reader.terminal();
});
afterAll(() => reader[Symbol.asyncDispose]());

describe('the README, word by word, in an empty home and without a network', () => {
  it('has no other blocks than those that a test plays', () => {
    expect(more).toEqual([]);
    expect(start).toBe('npm start\n');
    // demo-kept.test.ts, packed.test.ts
    expect(demo).toBe('npm run demo\n');
    expect(packed).toMatch(/^npm exec --package=file:.*\n$/);
  });

  it('ends with records, in at most five commands', async () => {
    const commands = commandsOf(terminal);
    expect(1 + commands.length).toBeLessThanOrEqual(5);
    const last = commands.at(-1) ?? '';
    const output = await typing.run(commands.slice(0, -1).join('\n'));
    expect(output).toContain('demo-key: contacts, rename-contact, receive-webhooks');
    expect(output).toContain('Connected me of demo-key');
    // The sync began with the connection.
    await expect.poll(async () => (await typing.run(last)).split('\n').length - 1).toBe(250);
  });

  it('does the same over the API', async () => {
    const output = await typing.run(api);
    expect(output).toContain('{"success":true}');
    expect(output.match(/"last_action":"ADDED"/g)).toHaveLength(100);
    expect(output).toMatch(/"id":"contact-007","name":"Ada Lovelace"[^{]*\}$/);
  });

  it('makes a project of its own, tests and deploys it, and has its records', async () => {
    const commands = commandsOf(own);
    const last = commands.at(-1) ?? '';
    const output = await typing.run(commands.slice(0, -1).join('\n'));
    expect(output).toContain('The project is ready');
    expect(output).toMatch(/Tests {2}3 passed/);
    expect(output).toContain('Connected me of demo');
    await expect.poll(() => typing.run(last)).toContain('contact-0');
    const all = [start, terminal, api, own].flatMap(commandsOf);
    console.log(`the README: ${all.length} commands, ${reader.seconds} s`);
  });
});
