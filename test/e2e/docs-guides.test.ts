import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogue } from '#kernel/errors.ts';
import { formatWebhookSecret, readWebhookSecret } from '#kernel/webhook-secret.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import { signDelivery } from '#rules/signature.ts';
import { cachePath } from '#test/services/cache.ts';
import { isOnPath, run } from '#test/services/commands.ts';
import { openWebhookReceiver, type WebhookReceiver } from '#test/support/fakes/webhook-receiver.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';
import { functionsProject } from '#test/support/worlds/functions-project.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const page = (name: string): string => readFileSync(join(repository, `docs/${name}.md`), 'utf8');

/** The code blocks of a page in one language. */
const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  );

let folder: string;
let gateway: RunningGateway;
let receiver: WebhookReceiver;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-guides-'));
  receiver = await openWebhookReceiver();
  const egress = new URL(receiver.url).host;
  gateway = await startGateway({ env: { SVC_EGRESS_ALLOW: egress } });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** `npm run -s svc --` as the repository has it, started without npm: the page is followed in a folder of its own. */
const npm = `npm() { [ "$1 $2 $3 $4" = "run -s svc --" ]; shift 4; "${process.execPath}" "${repository}dist/src/cli/main.js" "$@"; }
`;

/** What the commands of a block print, with the address and the keys that this gateway printed. */
async function reader(block: string): Promise<string> {
  const text = block
    .replace('svc_env_…', gateway.key)
    .replace('http://127.0.0.1:3003', gateway.url);
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', npm + text], {
    cwd: folder,
    env: {
      ...process.env,
      SVC: gateway.url,
      SVC_HOSTPORT: gateway.url,
      SVC_SECRET_KEY_DEV: gateway.key,
      SVC_ACCOUNT_KEY: gateway.accountKey,
    },
    maxBuffer: 10_000_000,
  });
  return stdout;
}

/** The commands of a page, each block run after the one before it. @returns what each has printed */
async function follow(blocks: readonly string[]): Promise<string[]> {
  const printed: string[] = [];
  for (const block of blocks) printed.push(await reader(block));
  return printed;
}

interface Records {
  readonly records: readonly { readonly id: string }[];
}

const contacts = async (): Promise<number> => {
  const headers = { 'provider-config-key': 'demo-key', 'connection-id': 'me' };
  const answer = await gateway.call('GET', '/records?model=Contact&limit=1000', { headers });
  return answer.status === 200 ? (answer.body as Records).records.length : 0;
};

describe('a reader of the guides', () => {
  it('begins with the quickstart', async () => {
    const [start, variables, connect, ...rest] = blocksOf(page('quickstart'), 'sh');
    expect(start).toBe('npm start\n');
    expect(variables).toMatch(/^export SVC=.*\nexport SVC_SECRET_KEY_DEV=.*\n$/);
    expect(await reader(connect ?? '')).toContain('Connected me of demo-key');
    // The page says to repeat the command until the sync has saved.
    await expect.poll(contacts).toBe(250);
    const [read = '', renamed = '', runs = '', proxied = ''] = await follow(rest);
    expect((JSON.parse(read) as Records).records).toHaveLength(2);
    expect(JSON.parse(renamed)).toMatchObject({ id: 'contact-007', name: 'Ada Lovelace' });
    expect(runs).toContain('contacts');
    expect(JSON.parse(proxied)).toMatchObject({ id: 'contact-007', name: 'Ada Lovelace' });
  });

  it('adds integrations', async () => {
    const text = page('integrations');
    const [created = '', posted = ''] = await follow(blocksOf(text, 'sh'));
    expect(created).toContain('Created news of hacker-news\nCreated github of github\n');
    expect(created).toMatch(/^news +Hacker News +hacker-news /m);
    expect(JSON.parse(posted)).toMatchObject({ data: { unique_key: 'gitlab' } });
    const [definition = ''] = blocksOf(text, 'yaml');
    const file = join(folder, 'ledger.yaml');
    writeFileSync(file, definition);
    expect(loadCatalogue({ overlayPath: file }).find('ledger')).toMatchObject({
      logo: expect.stringMatching(/^<svg /) as string,
    });
  });

  it('reads the records of an application by cursor', async () => {
    const text = page('guide-applications');
    const [program = ''] = blocksOf(text, 'js');
    writeFileSync(join(folder, 'read-records.mjs'), program);
    const [read = '', write = ''] = blocksOf(text, 'sh');
    expect(await reader(read)).toMatch(/^\d+ changes, 250 contacts\n$/);
    await expect.poll(() => reader(read)).toBe('0 changes, 250 contacts\n');
    const renamed = await reader(write);
    expect(JSON.parse(renamed)).toMatchObject({ name: 'Grace Hopper' });
    // A repeated request with the same key is answered, and not carried out.
    expect(await reader(write)).toBe(renamed);
    const body = { provider_config_key: 'demo-key', connection_id: 'me', syncs: ['contacts'] };
    await gateway.call('POST', '/sync/trigger', { body });
    await expect.poll(() => reader(read)).toBe('1 changes, 250 contacts\n');
    const kept = JSON.parse(readFileSync(join(folder, 'contacts.json'), 'utf8')) as {
      contacts: Record<string, { name: string }>;
    };
    expect(kept.contacts['contact-008']?.name).toBe('Grace Hopper');
  });

  it('looks into the topics', async () => {
    const blocks = blocksOf(page('guide-data-teams'), 'sh');
    const [topics = '', changes = '', followed = '', subscribed = '', typed = ''] =
      await follow(blocks);
    expect(topics).toContain('svc.records.v1');
    expect(topics).toContain('"Contact"');
    const document = JSON.parse(readFileSync(join(folder, 'asyncapi.json'), 'utf8')) as object;
    expect(document).toMatchObject({ asyncapi: '3.0.0' });
    const { changes: read } = JSON.parse(changes) as { changes: readonly object[] };
    expect(read).toMatchObject([{ action: 'added' }, { action: 'added' }]);
    const lines = followed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines[0]).toMatchObject({ model: 'Contact', record: {} });
    expect(lines.at(-1)).toHaveProperty('cursor');
    expect(subscribed).toMatch(/^warehouse +Contact +readers +never +0 +\d+$/m);
    expect(subscribed).toMatch(/^warehouse +Contact +readers +\d{4}-\S+ +0 +\d+$/m);
    expect(typed).toContain('Contact');
  });

  it('queries with SQL', async () => {
    const [ofProjection = '', ...others] = blocksOf(page('sql'), 'sh').toReversed();
    const [counted = '', piped = '', saved = ''] = await follow(others.toReversed());
    expect(counted).toMatch(/Contact.* 250 /);
    expect(counted).toMatch(/^"status","runs","ms"$/m);
    expect(JSON.parse(piped)).toMatchObject({ columns: [{ name: 'changes', type: 'UInt64' }] });
    expect(saved).toMatch(/^models +\d{4}-\S+ +Which models have records\?$/m);
    expect(saved).toMatch(/^"model"\n"Contact"$/m);
    const file = readFileSync(join(folder, 'contacts.parquet'));
    expect(file.subarray(0, 4).toString()).toBe('PAR1');
    const [projection = ''] = blocksOf(page('sql'), 'ts');
    using project = functionsProject({
      'index.ts': "import './projections/contacts.js';\n",
      'projections/contacts.ts': projection,
    });
    await reader(`cd ${project.root} && npm run -s svc -- deploy dev --auto-confirm`);
    const isFilled = () => reader(ofProjection).catch(String);
    await expect.poll(isFilled).toMatch(/demo-key .* 250 /);
  });

  it('rebuilds tables and moves a group as an operator', async () => {
    const blocks = blocksOf(page('guide-operators'), 'sh');
    const [look = '', rebuilt = '', , groups = '', replayed = '', runs = ''] = await follow(blocks);
    expect(look).toContain('svc.webhook-deliveries');
    expect(rebuilt).toMatch(/^records +2 +active/m);
    expect(await reader('npm run -s svc -- projections list')).toMatch(/^records +1 +active/m);
    expect(groups).toMatch(/^partition +from +to +read again +skipped$/m);
    expect(JSON.parse(replayed)).toHaveProperty('data');
    expect(runs).toContain('Usage: svc runs revert [options] <id>');
    expect(await contacts()).toBe(250);
  });

  it('asks the doctor, and finds each code of the first table in the list of codes', async () => {
    const text = page('troubleshooting');
    const [doctor = ''] = blocksOf(text, 'sh');
    // Without a project in the folder the doctor fails.
    expect(await reader(`${doctor.trim()} || true`)).toMatch(/ok .*service/);
    const codes = [...text.matchAll(/^\| (`[^|]*`) +\|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => code),
    );
    expect(codes.length).toBeGreaterThan(8);
    expect(codes.filter((code) => !Object.hasOwn(catalogue, code))).toEqual([]);
  });
});

/** A webhook as a receiver gets it. */
interface Arrived {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Language {
  readonly command: string;
  /** Writes the block of the page with a program around it. @returns the command that runs it */
  readonly prepare: (code: string, place: string) => Promise<readonly [string, ...string[]]>;
}

const write = (place: string, files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) {
    const file = join(place, name);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text);
  }
};

/** Each program takes id, timestamp, signatures, key and the file of the body, and prints true or false. */
const languages: Readonly<Record<string, Language>> = {
  js: {
    command: 'node',
    async prepare(code, place) {
      const main = `import { readFileSync } from 'node:fs';
import { isWebhook } from './webhook.mjs';
const [id, timestamp, signature, key, file] = process.argv.slice(2);
const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
console.log(isWebhook(headers, readFileSync(file), key));`;
      write(place, { 'webhook.mjs': code, 'main.mjs': main });
      return [process.execPath, join(place, 'main.mjs')];
    },
  },
  python: {
    command: 'python3',
    async prepare(code, place) {
      const main = `import sys
from webhook import is_webhook
id, timestamp, signature, key, file = sys.argv[1:]
headers = {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}
print(str(is_webhook(headers, open(file, "rb").read(), key)).lower())
`;
      write(place, { 'webhook.py': code, 'main.py': main });
      return ['python3', join(place, 'main.py')];
    },
  },
  go: {
    command: 'go',
    async prepare(code, place) {
      const main = `package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	headers := http.Header{}
	headers.Set("Webhook-Id", os.Args[1])
	headers.Set("Webhook-Timestamp", os.Args[2])
	headers.Set("Webhook-Signature", os.Args[3])
	body, err := os.ReadFile(os.Args[5])
	if err != nil {
		panic(err)
	}
	fmt.Println(isWebhook(headers, body, os.Args[4]))
}
`;
      write(place, {
        'webhook.go': code,
        'main.go': main,
        'go.mod': 'module webhook\n\ngo 1.21\n',
      });
      await run('go', ['build', '-o', 'webhook', '.'], { cwd: place });
      return [join(place, 'webhook')];
    },
  },
  java: {
    command: 'javac',
    async prepare(code, place) {
      const main = `import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

final class Main {
  public static void main(String[] args) throws Exception {
    Map<String, String> headers =
        Map.of("webhook-id", args[0], "webhook-timestamp", args[1], "webhook-signature", args[2]);
    System.out.println(Webhooks.isWebhook(headers, Files.readAllBytes(Path.of(args[4])), args[3]));
  }
}
`;
      write(place, { 'Webhooks.java': code, 'Main.java': main });
      await run('javac', ['-Xlint:all', '-Werror', '-d', place, 'Webhooks.java', 'Main.java'], {
        cwd: place,
      });
      return ['java', '-cp', place, 'Main'];
    },
  },
  rust: {
    command: 'cargo',
    async prepare(code, place) {
      const main = `mod webhook;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let body = std::fs::read(&args[5]).unwrap();
    println!("{}", webhook::is_webhook(&args[1], &args[2], &args[3], &body, &args[4]));
}
`;
      const manifest = `[package]
name = "webhook"
version = "0.0.0"
edition = "2021"

[dependencies]
base64 = "=0.22.1"
hmac = "=0.12.1"
sha2 = "=0.10.9"
`;
      write(place, { 'src/webhook.rs': code, 'src/main.rs': main, 'Cargo.toml': manifest });
      const target = cachePath('webhook-rust');
      await run('cargo', ['build', '--quiet', '--target-dir', target], { cwd: place });
      return [join(target, 'debug/webhook')];
    },
  },
};

describe('a webhook', () => {
  let webhook: Arrived;
  let key: string;
  /** As earlier versions showed the key. */
  let text: string;
  beforeAll(async () => {
    const read = await gateway.call('GET', '/environment/webhook-signing-key');
    key = (read.body as { data: { webhook_signing_key: string } }).data.webhook_signing_key;
    text = readWebhookSecret(key).toString();
    const made = await gateway.call('POST', '/webhook-endpoints', {
      body: { url: `${receiver.url}/verify`, kinds: ['test'] },
    });
    const { id } = (made.body as { data: { id: string } }).data;
    await gateway.call('POST', `/webhook-endpoints/${id}/test`);
    const [arrived] = await receiver.got(1, '/verify');
    webhook = { headers: arrived?.headers as Arrived['headers'], body: arrived?.body ?? '' };
  });

  it.each(Object.entries(languages).filter(([, { command }]) => isOnPath(command)))(
    'is verified by the code of the page in %s',
    async (name, { prepare }) => {
      const [code = '', ...others] = blocksOf(page('verify-webhooks'), name);
      expect(others).toEqual([]);
      const place = join(folder, name);
      mkdirSync(place);
      const [command, ...args] = await prepare(code, place);
      const file = join(folder, `${name}-body.json`);
      const verify = async ({ headers, body }: Arrived, signingKey = key): Promise<string> => {
        writeFileSync(file, body);
        const three = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
          (header) => headers[header] ?? '',
        );
        return (await run(command, [...args, ...three, signingKey, file])).trim();
      };
      const { headers, body } = webhook;
      const signedAt = (at: number): Arrived => ({
        body,
        headers: signDelivery(
          { current: 'another', previous: key },
          { id: headers['webhook-id'] ?? '', body: Buffer.from(body), at },
        ),
      });
      const minutes = 60_000;
      expect({
        valid: await verify(webhook),
        rotated: await verify(signedAt(Date.now())),
        tampered: await verify({ headers, body: body.replace('test', 'best') }),
        other: await verify({ headers: { ...headers, 'webhook-id': 'other' }, body }),
        old: await verify(signedAt(Date.now() - 10 * minutes)),
        early: await verify(signedAt(Date.now() + 10 * minutes)),
        text: await verify(webhook, text),
        rotatedText: await verify(signedAt(Date.now()), text),
        wrongKey: await verify(webhook, formatWebhookSecret(Buffer.from(`${text}x`))),
        wrongText: await verify(webhook, `${text}x`),
        noTime: await verify({ headers: { ...headers, 'webhook-timestamp': 'now' }, body }),
        unsigned: await verify({ headers: { ...headers, 'webhook-signature': 'v1,' }, body }),
      }).toEqual({
        valid: 'true',
        rotated: 'true',
        tampered: 'false',
        other: 'false',
        old: 'false',
        early: 'false',
        text: 'true',
        rotatedText: 'true',
        wrongText: 'false',
        wrongKey: 'false',
        noTime: 'false',
        unsigned: 'false',
      });
    },
  );

  it('is verified by the library of Standard Webhooks with the key as it is shown', () => {
    const { headers, body } = webhook;
    const standard = new Webhook(key);
    const own = { ...headers } as Record<string, string>;
    expect(standard.verify(body, own)).toEqual(JSON.parse(body));
    expect(() => standard.verify(body.replace('test', 'best'), own)).toThrow('No matching');
    const other = new Webhook(formatWebhookSecret(Buffer.from(`${text}x`)));
    expect(() => other.verify(body, own)).toThrow('No matching');
  });

  it('has code of eight languages on the page', () => {
    const text = page('verify-webhooks');
    const found = [...text.matchAll(/^```(\w+)$/gm)].map(([, language]) => language);
    expect(found).toEqual(['js', 'python', 'go', 'java', 'rust', 'ruby', 'php', 'csharp']);
  });
});
