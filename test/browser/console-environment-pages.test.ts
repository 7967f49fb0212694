import { showsPages } from './console-looks.ts';
import { connectionId, integration } from './console-world.ts';

const connection = `/connections/${integration}/${encodeURIComponent(connectionId)}`;

showsPages('the console, in an environment', [
  ['/env/dev', 'dev'],
  ['/env/dev/integrations', 'Integrations'],
  ['/env/dev/integrations/new?category=crm', 'Add an integration'],
  ['/env/dev/integrations/new/gmail', 'Set up Gmail'],
  ['/env/dev/integrations/new/github-app-oauth', 'Set up GitHub (app with user)'],
  [`/env/dev/integrations/${integration}`, integration],
  [`/env/dev/integrations/${integration}/functions`, integration],
  ['/env/dev/connections', 'Connections'],
  [`/env/dev${connection}`, connectionId],
  [`/env/dev${connection}/syncs`, connectionId],
  [`/env/dev${connection}/records`, connectionId],
  [`/env/dev${connection}/settings`, connectionId],
  ['/env/dev/connect', 'Connect an account'],
  ['/env/dev/runs', 'Runs'],
  ['/env/dev/logs', 'Logs'],
  ['/env/dev/webhooks-out', 'Webhooks out'],
  ['/env/dev/webhooks-out/endpoints', 'Webhooks out'],
  ['/env/dev/webhooks-out/signing-key', 'Webhooks out'],
  ['/env/dev/webhooks-in', 'Webhooks in'],
  ['/env/dev/playground', 'Playground'],
  ['/env/dev/variables', 'Variables'],
  ['/env/dev/alerts', 'Alerts'],
]);
