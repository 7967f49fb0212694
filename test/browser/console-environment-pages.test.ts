import { connection, showsPages } from './console-looks.ts';
import { longName } from './console-used.ts';

const connectionPage = `/env/dev/connections/crm/${connection}`;

showsPages('the console, of integrations and connections', [
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
]);
