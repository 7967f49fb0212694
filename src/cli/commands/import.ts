import { objectOf } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import { withoutTrailingSlashes } from '#kernel/trailing-slashes.ts';
import { confirm } from '../account.ts';
import { defineCommand } from '../command.ts';
import { stopOnInterrupt, type Context } from '../context.ts';
import { CommandFailure, exitCodes, usageError } from '../exit.ts';
import type { Mapping } from '../import/mapping.ts';
import type { Source } from '../import/source.ts';
import { jsonOption } from '../json-option.ts';
import { inEnvironment, serviceHelp, serviceOptions } from '../service-command.ts';

export const importCommand = defineCommand({
  name: 'import',
  usage: '[source]',
  summary: 'Bring integrations and connections over from another gateway, or from an export',
  about: `Reads a running gateway (its address, such as https://gateway.example.com) or a JSON file: integrations, connections
with their credentials, own data, tags and end users, schedules of syncs, variables, and webhook endpoints. It shows what
it would do, asks, and does it; then it reports what could not come, and why. Nothing at the source is changed, and no
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
  5 something could not come

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
    const { prepareImport } = await import('../import/import.ts');
    const { openerOf } = await import('../import/sealed.ts');
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
      await confirm(context, values, `Make these ${report.changes.length} changes?`);
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
  throw new CommandFailure(`${what} could not come: see above`, { exitCode: exitCodes.differs });
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
