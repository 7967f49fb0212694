import { failedRun, operation, showsPages } from './console-looks.ts';
import { subscription } from './console-used.ts';

showsPages('the console, of what happens in an environment', [
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
  ['/env/dev/changes', 'Changes'],
  ['/env/dev/subscriptions', 'Subscriptions'],
  [`/env/dev/subscriptions/${subscription}`, subscription],
  [`/env/dev/subscriptions/${subscription}/next`, subscription],
  [`/env/dev/subscriptions/${subscription}/parked`, subscription],
  ['/env/dev/sql', 'SQL'],
  ['/env/dev/playground', 'Playground'],
  ['/env/dev/variables', 'Variables'],
  ['/env/dev/alerts', 'Alerts'],
  ['/env/dev/keys', 'API keys'],
]);
