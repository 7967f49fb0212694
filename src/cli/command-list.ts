import type { Command } from './command.ts';
import { add } from './commands/add.ts';
import { alerts } from './commands/alerts.ts';
import { api } from './commands/api.ts';
import { audit } from './commands/audit.ts';
import { compile } from './commands/compile.ts';
import { connect, connections } from './commands/connections.ts';
import { consoleCommand } from './commands/console.ts';
import { consumers, replay } from './commands/consumers.ts';
import { create, init } from './commands/create.ts';
import { deadLetters } from './commands/dead-letters.ts';
import { demo } from './commands/demo.ts';
import { deploy, pull } from './commands/deploy.ts';
import { dev } from './commands/dev.ts';
import { dryrun } from './commands/dryrun.ts';
import { generateClient, generateDocs } from './commands/generate.ts';
import { integrations } from './commands/integrations.ts';
import { logs } from './commands/logs.ts';
import { migrate } from './commands/migrate.ts';
import { people } from './commands/people.ts';
import { backup, keys, log, providers, restore, serve, upgrade } from './commands/programs.ts';
import { projections } from './commands/projections.ts';
import { records } from './commands/records.ts';
import { rootKeys } from './commands/root-keys.ts';
import { runs } from './commands/runs.ts';
import { sql } from './commands/sql.ts';
import { config, doctor, status } from './commands/status.ts';
import { subscriptions } from './commands/subscriptions.ts';
import { sync } from './commands/sync.ts';
import { generateTests, test } from './commands/tests.ts';
import { topics } from './commands/topics.ts';
import { exportCommand, importCommand } from './commands/transfer.ts';
import { listen, webhooks } from './commands/webhooks.ts';

/** In the order of the help, by heading. */
export const commandGroups: Readonly<Record<string, readonly Command[]>> = {
  'Functions of a project': [
    init,
    create,
    add,
    compile,
    dev,
    dryrun,
    deploy,
    pull,
    generateTests,
    test,
    generateDocs,
    migrate,
  ],
  'An environment': [
    demo,
    integrations,
    connect,
    connections,
    sync,
    records,
    sql,
    subscriptions,
    runs,
    logs,
    webhooks,
    listen,
    alerts,
    api,
    generateClient,
    consoleCommand,
    importCommand,
    exportCommand,
  ],
  'An installation': [
    serve,
    status,
    doctor,
    config,
    projections,
    topics,
    consumers,
    replay,
    deadLetters,
    providers,
    rootKeys,
    keys,
    people,
    audit,
    backup,
    restore,
    log,
    upgrade,
  ],
};

export const commands: readonly Command[] = Object.values(commandGroups).flat();
