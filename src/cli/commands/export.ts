import { createPublicKey, type JsonWebKeyInput } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parsePublicKey } from '#kernel/pem.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import { withAccount } from '../account.ts';
import { defineCommand } from '../command.ts';
import { CommandFailure, usageError } from '../exit.ts';
import { environmentOption, inEnvironment } from '../service-command.ts';

export const exportCommand = defineCommand({
  name: 'export',
  usage: '',
  summary: 'Write everything of an environment to a file, credentials encrypted to a public key',
  about: `Writes integrations, connections with credentials, own data, tags and end users, schedules of syncs, functions with
their sources, variables, webhook endpoints, and the settings of the environment as one JSON file. What may be secret is
in the field sealed of its entry: a compact JWE (RSA-OAEP-256 or ECDH-ES with A256GCM) that the private key opens with
any JOSE library. svc import reads the file. Records move with svc records, a whole log with svc log.

The key of the account allows the export, and the key of the environment reads it: it needs full access. Both are in
the audit trail.`,
  options: {
    environment: environmentOption,
    'public-key': [
      '--public-key <file>',
      'PEM or JWK: RSA of 2048 bits or more, P-256, P-384, P-521 or X25519',
    ],
    out: ['--out <file>', 'the file; stdout without it'],
  },
  help: `Variables
  SVC_ACCOUNT_KEY                API key of the account
  SVC_SECRET_KEY_<ENVIRONMENT>   API key of the environment; SVC_SECRET_KEY otherwise
  SVC_HOSTPORT                   address of the service (http://localhost:3003)

Exit codes
  0 done   1 failed   3 key missing or refused

Examples
  openssl genpkey -algorithm X25519 -out export.pem
  openssl pkey -in export.pem -pubout -out export.pub.pem
  svc export -e dev --public-key export.pub.pem --out dev.json`,

  async run({ values }, context) {
    const { 'public-key': file, out } = values;
    const environment = values.environment ?? context.environment.name;
    if (file === undefined) {
      throw usageError('Name the public key: --public-key <file>');
    }
    const publicKey = readPublicKey(resolve(context.root, file), file);
    const { exportEnvironment } = await import('../export/export.ts');
    const { output } = context;
    await withAccount(context, (account) =>
      inEnvironment(context, values, async (client) => {
        const progress = (line: string): void => output.status(line);
        const request = {
          account,
          client,
          environment,
          publicKey,
          now: systemClock.now(),
          progress,
        };
        const text = JSON.stringify(await exportEnvironment(request), null, 1);
        if (out === undefined) {
          output.result(text);
          return;
        }
        const path = resolve(context.root, out);
        // Never half a file under the name.
        writeFileSync(`${path}.part`, `${text}\n`, { mode: 0o600 });
        renameSync(`${path}.part`, path);
        output.note(`Wrote ${out}`);
      }),
    );
  },
});

/** @throws CommandFailure */
function readPublicKey(path: string, file: string): JsonObject {
  try {
    const text = readFileSync(path, 'utf8');
    const key = text.trimStart().startsWith('{')
      ? createPublicKey({ key: JSON.parse(text) as JsonWebKeyInput['key'], format: 'jwk' })
      : parsePublicKey(text);
    return key.export({ format: 'jwk' }) as JsonObject;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const reason = isMissing ? 'there is no such file' : 'it is no public key (PEM or JWK)';
    throw new CommandFailure(`Could not read ${file}: ${reason}`);
  }
}
