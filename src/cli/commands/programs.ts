import { defineCommand } from '../command.ts';
import { stopOnInterrupt } from '../context.ts';
import { CommandFailure, exitCodes, usageError } from '../exit.ts';

export const serve = defineCommand({
  name: 'serve',
  usage: '',
  summary: 'Run the gateway on this machine, until a signal',
  about: `Runs the gateway with the settings of its variables (docs/generated/configuration.md). Its data is in
SVC_DATA_DIR, by default .svc-data in the current folder. The first start prints the keys, once.`,
  options: {
    smoke: ['--smoke', 'start with temporary data, sync records, and exit'],
  },
  help: `Exit codes
  0 stopped by a signal   1 could not start: the message says why

Examples
  svc serve
  SVC_PORT=8080 SVC_DATA_DIR=/var/lib/svc svc serve`,

  async run({ values }, context) {
    using stopping = stopOnInterrupt(context);
    const options = values.smoke === true ? ['--smoke'] : [];
    const code = await context.runProgram('main', options, stopping.signal);
    if (code !== 0) throw new CommandFailure('The gateway did not end by a signal.');
  },
});

export const keys = defineCommand({
  name: 'keys',
  usage: '',
  summary: 'Create a new account key after the last one was lost',
  about: `Works on the log directly, on the machine of the service and with its settings (SVC_DATA_DIR, SVC_LOG_URL,
SVC_REGISTRY_URL, SVC_PARTITIONS …), while no process of the service runs on the data folder. It needs the root key:
root.key in the data folder, or SVC_ENCRYPTION_KEY.

The event account_key.recover is appended to the audit trail of the account. Lost keys stay valid:
delete them (DELETE /account/api-keys), or on the page "Account keys" of the console.`,
  words: {
    recover: 'create an account key and print it on stdout, once',
  },
  options: {},
  help: `Exit codes
  0 done   1 failed: the message says why

Examples
  SVC_DATA_DIR=./.svc-data svc keys recover`,

  async run(_input, context) {
    const code = await context.runProgram('keys', []);
    if (code !== 0) throw new CommandFailure('No key was created.');
  },
});

export const log = defineCommand({
  name: 'log',
  usage: '',
  summary:
    'Export the log of the service, import it into an empty one, give it more partitions, or accept its loss',
  about: `Works on the log directly, on the machine of the service and with its settings (SVC_DATA_DIR, SVC_LOG_URL,
SVC_REGISTRY_URL, SVC_PARTITIONS …), while no process of the service runs. The root key is not part of the files:
carry root.key or SVC_ENCRYPTION_KEY over by another way.`,
  words: {
    'export <folder>': 'write everything into the folder, which must be empty or missing',
    'import <folder>': 'fill the log from the folder; the log must be empty',
    'repartition <n> [prefix]':
      'copy the log to one with n partitions, a multiple of the present number; of Kafka, to topics with the prefix',
    'accept-loss':
      'go on with a log that lacks acknowledged messages: what was derived from them is removed',
  },
  options: {},
  help: `Exit codes
  0 done   1 failed: the message says why

Examples
  SVC_DATA_DIR=./old svc log export ./backup
  SVC_DATA_DIR=./new svc log import ./backup
  svc log repartition 8`,

  async run({ word, positionals }, context) {
    const code = await context.runProgram('log', [word, ...positionals]);
    if (code !== 0) throw new CommandFailure(`The ${word} failed.`);
  },
});

const logHelp = `Works on the log directly, with the settings of the service (SVC_DATA_DIR, SVC_LOG_URL, SVC_REGISTRY_URL,
SVC_PARTITIONS …).`;

export const backup = defineCommand({
  name: 'backup',
  usage: '<folder>',
  summary: 'Back up the log of the service to a folder, while it runs',
  about: `${logHelp} The first backup writes everything into the folder, each later one
what the log has beyond it. The root key is not part of the files: keep root.key or SVC_ENCRYPTION_KEY in another place.`,
  options: {
    verify: ['--verify', 'compare the backups of the folder with their checksums, and take none'],
  },
  help: `Exit codes
  0 done   1 failed: the message says why, and names a damaged file

Examples
  SVC_DATA_DIR=./.svc-data svc backup /backups/gateway
  svc backup /backups/gateway --verify`,

  async run({ values, positionals }, context) {
    const folder = folderOf(positionals);
    const word = values.verify === true ? 'verify' : 'backup';
    const code = await context.runProgram('log', [word, folder]);
    if (code !== 0) throw new CommandFailure(`The ${word} failed.`);
  },
});

export const restore = defineCommand({
  name: 'restore',
  usage: '<folder>',
  summary: 'Fill an empty log with a backup, as of a time',
  about: `${logHelp} No process of the service may run, and the log must be empty. Every byte of the
backup is compared with its checksum first. Then start the service with the root key of that time.`,
  options: {
    at: [
      '--at <time>',
      'the newest backup not after this time, or the one with this id (the last)',
    ],
  },
  help: `Exit codes
  0 done   1 failed: the message says why, and names a damaged file

Examples
  SVC_DATA_DIR=./new svc restore /backups/gateway
  SVC_DATA_DIR=./new svc restore /backups/gateway --at 2026-05-01T12:00:00Z`,

  async run({ values, positionals }, context) {
    const at = values.at === undefined ? [] : [values.at];
    const code = await context.runProgram('log', ['restore', folderOf(positionals), ...at]);
    if (code !== 0) throw new CommandFailure('The restore failed.');
  },
});

function folderOf([folder, ...others]: readonly string[]): string {
  if (folder === undefined || others.length > 0) throw usageError('Name one folder.');
  return folder;
}

export const providers = defineCommand({
  name: 'providers',
  usage: '',
  summary: 'Play the provider definitions of a file against a fake of their mode',
  about: `Starts a gateway with temporary data and a fake provider that judges each request by the definition:
connect, verify, call, refresh, two walks through all pages, a rate limit, disconnect. Nothing leaves the machine.
A step that the definition says nothing of is shown as "-".`,
  words: { 'test <file>': 'play every definition of the file' },
  options: {
    json: ['--json', '{entries: [{name, auth_mode, steps}], problems} on stdout'],
  },
  help: `Exit codes
  0 every declared step passed   1 failed: the message says why   4 a step failed

Examples
  svc providers test providers/crm.yaml`,

  async run({ values, positionals }, context) {
    const [file] = positionals;
    if (file === undefined || positionals.length > 1) {
      throw usageError('Name one file.');
    }
    const code = await context.runProgram('providers', [
      ...(values.json === true ? ['--json'] : []),
      file,
    ]);
    if (code === exitCodes.refused) {
      throw new CommandFailure('A step failed.', { exitCode: exitCodes.refused });
    }
    if (code !== 0) throw new CommandFailure('The definitions could not be played.');
  },
});

export const upgrade = defineCommand({
  name: 'upgrade',
  usage: '',
  summary: 'Check whether this version can open the data of another one',
  about: `Reads the log and the data folder of the settings of the service (SVC_DATA_DIR, SVC_LOG_URL,
SVC_REGISTRY_URL …) and changes nothing; the service may be running. Each part opens as it is, upgrades at
the start, rebuilds from the log, or is refused: a later version has written what this one cannot open.`,
  words: { check: 'check the installation of the settings' },
  options: {
    gateway: ['--gateway', 'check the running gateway at SVC_HOSTPORT, by its version and schemas'],
    json: ['--json', '{version, findings: [{part, outcome, detail}]} on stdout'],
  },
  help: `Variables
  SVC_ACCOUNT_KEY   with --gateway: also compare the tables of the projections
  SVC_HOSTPORT      address of the service (http://localhost:3003)

Exit codes
  0 this version can open it   1 failed: the message says why   4 it cannot

Examples
  svc upgrade check --gateway
  SVC_DATA_DIR=./.svc-data svc upgrade check`,

  async run({ values }, context) {
    const code = await context.runProgram('upgrade', [
      ...(values.json === true ? ['--json'] : []),
      ...(values.gateway === true ? [context.environment.host] : []),
    ]);
    if (code === exitCodes.refused) {
      throw new CommandFailure('The data needs a later version.', { exitCode: exitCodes.refused });
    }
    if (code !== 0) throw new CommandFailure('The check failed.');
  },
});
