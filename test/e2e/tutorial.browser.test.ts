import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPage, screenshotFolder, sharedChromium } from '#test/browser/chromium.ts';
import {
  blocksOf,
  commandsOf,
  pageOf,
  Reader,
  type Block,
  type Terminal,
} from '#test/support/processes/reader.ts';

const tutorial = pageOf('docs/tutorial.md');

let reader: Reader;
let terminal: Terminal;

beforeAll(async () => {
  reader = await Reader.open();
});
afterAll(() => reader[Symbol.asyncDispose]());

const project = () => join(reader.home, 'my-functions');

/** What somebody sees who opens the link that the gateway printed, and clicks through to the run that failed. */
async function failedRunInConsole(name: string): Promise<string> {
  const [link = ''] = /(?<=^Console, for five minutes: )\S+/m.exec(reader.printed) ?? [];
  const page = await openPage(await sharedChromium(), { viewport: { width: 1280, height: 900 } });
  await page.goto(link);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Runs' }).click();
  await page.getByRole('link', { name, exact: true }).first().click();
  await page.getByRole('region', { name: 'Source' }).waitFor();
  const shown = await page.getByRole('main').innerText();
  await page.screenshot({ path: join(screenshotFolder, 'tutorial-failed-run.png') });
  await page.context().close();
  return shown;
}

describe('the tutorial, played in an empty home', () => {
  const left = [...blocksOf(tutorial)];
  const next = (language: string): Block => {
    const block = left.shift();
    expect(block?.language, 'the order of the blocks').toBe(language);
    return block!;
  };

  it('makes a project, deploys it and has records', async () => {
    const start = next('sh').text;
    expect(start).toBe('npm start\n');
    await reader.startGateway(start);
    terminal = reader.terminal();
    expect(await terminal.run(next('sh').text)).toContain('The project is ready');
    expect(await terminal.run(next('sh').text)).toContain('Connected me of demo');
    const { text } = next('sh');
    await expect.poll(() => terminal.run(text)).toContain('contact-0');
  });

  it('has an own function that fails, whose line API, command line and console show', async () => {
    const { text } = next('sh');
    expect(text).toBe('npx svc dev\n');
    const other = reader.terminal();
    await other.run('cd ~/my-functions');
    const developing = other.watch(text);
    await expect.poll(() => developing.printed).toContain('no error');
    const file = next('ts');
    reader.save(file, project());
    const [add = '', ...call] = next('sh').text.split('\n');
    await terminal.run(add);
    await expect.poll(() => developing.printed).toContain('deployed demo/actions/initials');
    const answer = await terminal.runFailing(call.join('\n'));
    const line = file.text.slice(0, file.text.indexOf('data.name.split')).split('\n').length;
    const source = `${line} |     const words = data.name.split(' ');`;
    const place = `demo/actions/initials.ts:${line}`;
    expect(answer).toContain(place);
    const [, id = ''] = /svc runs show ([\da-f-]+)/.exec(answer) ?? [];
    const shown = await terminal.run(next('sh').text.replace('<id>', id));
    expect(shown).toContain(place);
    expect(shown).toContain(`> ${source}`);
    // svc dev keeps lines of every level.
    expect(shown).not.toContain('not kept');
    const inConsole = await failedRunInConsole('initials');
    expect(inConsole).toContain(place);
    expect(inConsole).toContain(source);
    expect(inConsole).toContain(id);
  });

  it('is fixed, deployed and run again', async () => {
    reader.save(next('ts'), project());
    expect(await terminal.run(next('sh').text)).toMatch(/"initials":\s*"[A-Z]{2,3}"/);
  });

  it('adds an OAuth provider with a sync of its own', async () => {
    expect(await terminal.run(next('sh').text)).toMatch(/Created github of github[^]*https?:../);
    reader.save(next('ts'), project());
    // Deployed by this command, or by svc dev before it.
    await terminal.run(next('sh').text);
    const listed = await reader.access.call('GET', '/integrations/github/functions');
    expect(listed.body).toMatchObject({ data: [{ name: 'repositories', type: 'sync' }] });
  });

  it('has a handler of webhooks that compiles, and the settings that exist', async () => {
    reader.save(next('js'), project());
    const { text } = next('sh');
    const checked = await terminal.run(
      `node --check handler.mjs\n${text}echo "$SVC_WEBHOOK_SIGNING_KEY"`,
    );
    expect(checked).toContain('whsec_');
    expect(left).toEqual([]);
    const generated = new URL('../../docs/generated/configuration.md', import.meta.url);
    const configuration = readFileSync(fileURLToPath(generated), 'utf8');
    const [, section = ''] = tutorial.split('\n## Production\n');
    for (const [name] of section.matchAll(/`SVC_[A-Z_]+`/g)) expect(configuration).toContain(name);
    const typed = blocksOf(tutorial).filter(({ language }) => language === 'sh');
    const commands = typed.flatMap((block) => commandsOf(block.text));
    console.log(`the tutorial: ${commands.length} commands, ${reader.seconds} s`);
  });
});
