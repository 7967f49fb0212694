import { readConfig } from '#app/config/config.ts';
import { version } from '#app/config/version.ts';
import { checkGateway, checkInstallation, type Finding } from '#app/tools/upgrade-check.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { GatewayError } from '#kernel/errors.ts';

/**
 * `[--json] [address]`: prints what this release does with each part of the installation of the settings, or of the
 * gateway at the address. Exits with 4 if it cannot open one.
 */
const args = process.argv.slice(2);
const [url] = args.filter((arg) => arg !== '--json');

function show(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ part }) => part.length));
  for (const { part, outcome, detail } of findings) {
    console.log(`${outcome.padEnd(8)}  ${part.padEnd(width)}  ${detail}`);
  }
  const isRefused = findings.some(({ outcome }) => outcome === 'refused');
  const verdict = isRefused
    ? `Release ${version()} cannot open this installation. Run a later release, or restore a backup from before the upgrade.`
    : `Release ${version()} can open this installation.`;
  console.log(`\n${verdict}`);
}

try {
  // oxlint-disable-next-line no-restricted-properties -- the caller's key, not a setting of the service
  const accountKey = process.env['SVC_ACCOUNT_KEY'] ?? null;
  const findings =
    url === undefined
      ? await checkInstallation(readConfig())
      : await checkGateway({ url, accountKey });
  if (args.includes('--json')) console.log(JSON.stringify({ version: version(), findings }));
  else show(findings);
  process.exit(findings.some(({ outcome }) => outcome === 'refused') ? 4 : 0);
} catch (error) {
  const isPlain = error instanceof GatewayError || CannotStart.is(error);
  console.error(isPlain ? error.message : error);
  process.exit(1);
}
