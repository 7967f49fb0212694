import { createPublicKey, type JsonWebKeyInput } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { counted } from '#kernel/counted.ts';
import { parsePublicKey } from '#kernel/pem.ts';
import { type JsonObject, objectOf } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import { withoutTrailingSlashes } from '#kernel/trailing-slashes.ts';
import { withAccount, confirm } from '../account.ts';
import { defineCommand } from '../command.ts';
import { stopOnInterrupt, type Context } from '../context.ts';
import { CommandFailure, usageError, exitCodes } from '../exit.ts';
import type { Mapping } from '../import/mapping.ts';
import type { Source } from '../import/source.ts';
import { jsonOption } from '../json-option.ts';
import {
  environmentOption,
  inEnvironment,
  serviceHelp,
  serviceOptions,
} from '../service-command.ts';

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

export const importCommand = defineCommand({
  name: 'import',
  usage: '[source]',
  summary: 'Bring integrations and connections over from another gateway, or from an export',
  about: `Reads a running gateway (its address, such as https://gateway.example.com) or a JSON file: integrations, connections
with their credentials, own data, tags and end users, schedules of syncs, variables, and webhook endpoints. It shows what
it would do, asks, and does it; then it reports what was not imported, and why. Nothing at the source is changed, and no
secret is printed. Run it again at any time: it creates nothing twice, and updates what has changed at the source.
Credentials that were renewed here stay.

A mapping file describes the source; without one, its API is that of svc itself. Functions move with
svc migrate functions; deploy them first, because only a deployed sync has a schedule.`,
  options: {
    ...serviceOptions,
    mapping: ['--mapping <file>', 'how the API or the file of the source is read (JSON or YAML)'],
    'print-mapping': ['--print-mapping', 'print the mapping that is used without one'],
    secrets: [
      '--secrets <file>',
      'JSON: credentials of integrations by their unique key, where the source masks them',
    ],
    'private-key': [
      '--private-key <file>',
      'opens the credentials in a file of svc export (PEM or JWK)',
    ],
    'dry-run': ['--dry-run', 'show the plan only'],
    yes: ['--yes', 'do not ask'],
  },
  help: `Variables
  SVC_SOURCE_KEY                 API key of the source
${serviceHelp.replace('Variables\n', '')}
  5 something was not imported

Examples
  svc import https://gateway.example.com -e dev --dry-run
  svc import backup.json --private-key export.pem -e staging --yes`,

  async run({ positionals, values }, context) {
    const { output } = context;
    // Its parts load packages that other commands do not need.
    const { loadMapping, readyMapping } = await import('../import/mapping.ts');
    if (values['print-mapping'] === true) {
      output.result(readyMapping());
      return;
    }
    const [from] = positionals;
    if (from === undefined) throw usageError('Name the source: an address or a file');
    const mapping = loadMapping(context.root, values.mapping);
    const secrets = values.secrets === undefined ? undefined : `@${values.secrets}`;
    const ofIntegrations = objectOf(jsonOption(context, 'secrets', secrets, { isSecret: true }));
    const { openerOf, prepareImport } = await import('../import/import.ts');
    const { showReport } = await import('../import/report.ts');
    using stopping = stopOnInterrupt(context);
    const { signal } = stopping;
    const source = await openSource(context, from, mapping, signal);
    const open = await openerOf(context.root, values['private-key']);
    const interrupted = (error: unknown): never => {
      if (!signal.aborted) throw error;
      const message = 'Interrupted: run it again to bring the rest';
      throw new CommandFailure(message, { exitCode: exitCodes.interrupted });
    };
    await inEnvironment(context, values, async (client) => {
      const planned = await prepareImport({
        client,
        source,
        mapping,
        secrets: ofIntegrations,
        open,
        signal,
        now: systemClock.now(),
        progress: (line) => output.status(line),
      });
      const { report } = planned;
      const isJson = values.json;
      const isEmpty = report.changes.length === 0;
      if (values['dry-run'] === true || isEmpty) {
        await showReport(output, report, isJson);
        failUnless(report);
        return;
      }
      if (isJson !== true) await showReport(output, report, false);
      await confirm(context, values, `Make ${counted(report.changes.length, 'change')}?`);
      const after = await planned.apply();
      if (isJson !== true) output.result('');
      await showReport(output, after, isJson);
      failUnless(after);
    }).catch(interrupted);
  },
});

/** @throws CommandFailure when something could not come */
function failUnless({ problems }: { readonly problems: readonly { readonly came: boolean }[] }) {
  const missing = problems.filter(({ came }) => !came).length;
  if (missing === 0) return;
  const what = missing === 1 ? 'One entry' : `${missing} entries`;
  throw new CommandFailure(`${what} could not be imported: see above`, {
    exitCode: exitCodes.differs,
  });
}

async function openSource(
  { root, environment }: Context,
  from: string,
  mapping: Mapping,
  signal: AbortSignal,
): Promise<Source> {
  const { HttpSource, openFileSource } = await import('../import/source.ts');
  if (!/^https?:\/\//i.test(from)) return openFileSource(root, from, mapping);
  const url = URL.parse(from);
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw usageError('The address of the source has no query, fragment or user');
  }
  const { sourceKey } = environment;
  if (sourceKey === null) {
    const message = 'No API key of the source: set SVC_SOURCE_KEY';
    throw new CommandFailure(message, { exitCode: exitCodes.keyRefused });
  }
  return new HttpSource({ url: withoutTrailingSlashes(url.href), key: sourceKey, mapping, signal });
}
