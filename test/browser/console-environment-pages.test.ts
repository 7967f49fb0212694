import { connection, failedRun, operation, showsPages } from './console-looks.ts';
import { longName } from './console-used.ts';

const connectionPage = `/env/dev/connections/crm/${connection}`;

showsPages('the console, in an environment', [
  ['/env/dev', 'dev'],
  ['/env/dev/integrations', 'Integrations'],
  ['/env/dev/integrations/new?category=crm', 'Add an integration'],
  ['/env/dev/integrations/new/gmail', 'Set up Gmail'],
  ['/env/dev/integrations/new/github-app-oauth', 'Set up GitHub (app with user)'],
  ['/env/dev/integrations/crm', 'crm'],
  ['/env/dev/integrations/crm/functions', 'crm'],
  ['/env/dev/connections', 'Connections'],
  ['/env/dev/connections?search=nothing', 'Connections'],
  [connectionPage, longName],
  [`${connectionPage}/syncs`, longName],
  [`${connectionPage}/records`, longName],
  [`${connectionPage}/runs`, longName],
  [`${connectionPage}/logs`, longName],
  [`${connectionPage}/settings`, longName],
  ['/env/dev/connect', 'Connect an account'],
  ['/env/dev/runs', 'Runs'],
  [`/env/dev/runs/${failedRun}`, 'scripted'],
  [`/env/dev/runs/${failedRun}/logs`, 'scripted'],
  ['/env/dev/runs?search=script&connection=gone', 'Runs'],
  ['/env/dev/logs', 'Logs'],
  [`/env/dev/logs/${operation}`, 'sync run'],
  ['/env/dev/webhooks-out', 'Webhooks out'],
  ['/env/dev/webhooks-out/endpoints', 'Webhooks out'],
  ['/env/dev/webhooks-out/signing-key', 'Webhooks out'],
  ['/env/dev/webhooks-in', 'Webhooks in'],
  ['/env/dev/playground', 'Playground'],
  ['/env/dev/variables', 'Variables'],
  ['/env/dev/alerts', 'Alerts'],
  ['/env/dev/keys', 'API keys'],
]);
