import { defineCommand } from '../command.ts';
import { CommandFailure, exitCodes } from '../exit.ts';

export const upgrade = defineCommand({
  name: 'upgrade',
  usage: '',
  summary: 'Say whether this version can open the data of another one',
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
