import { devId, showsPages } from './console-looks.ts';

showsPages('the console, of the account', [
  ['/account/topics', 'Topics'],
  ['/account/topics/svc.config.v1', 'svc.config.v1'],
  ['/account/topics/svc.runs.v1', 'svc.runs.v1'],
  ['/account/topics/svc.config.v1/settings', 'svc.config.v1'],
  ['/account/topics/svc.config.v1/schema', 'svc.config.v1'],
  ['/account/projections', 'Projections'],
  ['/account/projections/records', 'records'],
  ['/account/consumer-groups', 'Consumer groups'],
  ['/account/dead-letters', 'Dead letters'],
  ['/account/environments', 'Environments'],
  [`/account/environments/${devId}`, 'dev'],
  [`/account/environments/${devId}/settings`, 'dev'],
  [`/account/environments/${devId}/connect-page`, 'dev'],
  [`/account/environments/${devId}/retention`, 'dev'],
  ['/account/keys', 'Account keys'],
  ['/account/audit', 'Audit'],
  ['/account/audit/chains', 'Audit'],
  ['/design', 'Design system'],
]);
