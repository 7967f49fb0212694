import type { JSX } from 'preact';
import { Route, Switch } from 'wouter-preact';
import { lazy } from './lazy.tsx';
import { NotFound } from './not-found.tsx';

const AccountKeys = lazy(async () => (await import('./account-keys/account-keys.tsx')).AccountKeys);
const Audit = lazy(async () => (await import('./audit/audit.tsx')).Audit);
const ConsumerGroups = lazy(async () => (await import('./groups/groups.tsx')).ConsumerGroups);
const DeadLetters = lazy(async () => (await import('./dead-letters/dead-letters.tsx')).DeadLetters);
const Environment = lazy(async () => (await import('./environments/environment.tsx')).Environment);
const Environments = lazy(
  async () => (await import('./environments/environments.tsx')).Environments,
);
const Projection = lazy(async () => (await import('./projections/projections.tsx')).Projection);
const Projections = lazy(async () => (await import('./projections/projections.tsx')).Projections);

const Topic = lazy(async () => (await import('./topics/topics.tsx')).Topic);
const Topics = lazy(async () => (await import('./topics/topics.tsx')).Topics);

/** The page of each path of the section, the first that matches. */
export const accountRoutes = [
  ['/account/audit/:tab?', Audit],
  ['/account/consumer-groups', ConsumerGroups],
  ['/account/dead-letters', DeadLetters],
  ['/account/environments', Environments],
  ['/account/environments/:id/:tab?', Environment],
  ['/account/keys', AccountKeys],
  ['/account/projections', Projections],
  ['/account/projections/:name', Projection],
  ['/account/topics', Topics],
  ['/account/topics/:name/:tab?', Topic],
] as const;

/** The pages of the account. */
export const AccountPages = (): JSX.Element => (
  <Switch>
    {accountRoutes.map(([path, component]) => (
      <Route key={path} path={path} component={component} />
    ))}
    <Route component={NotFound} />
  </Switch>
);

const Alerts = lazy(async () => (await import('./alerts/alerts.tsx')).Alerts);
const Catalog = lazy(async () => (await import('./integrations/catalog.tsx')).Catalog);
const Connect = lazy(async () => (await import('./connections/connections.tsx')).Connect);
const Connection = lazy(async () => (await import('./connections/connection.tsx')).Connection);
const Connections = lazy(async () => (await import('./connections/connections.tsx')).Connections);
const Home = lazy(async () => (await import('./home/home.tsx')).Home);
const Integration = lazy(async () => (await import('./integrations/integration.tsx')).Integration);
const Integrations = lazy(
  async () => (await import('./integrations/integrations.tsx')).Integrations,
);
const Logs = lazy(async () => (await import('./logs/logs.tsx')).Logs);
const Operation = lazy(async () => (await import('./logs/operation.tsx')).Operation);
const Playground = lazy(async () => (await import('./playground/playground.tsx')).Playground);
const Run = lazy(async () => (await import('./runs/runs.tsx')).Run);
const Runs = lazy(async () => (await import('./runs/runs.tsx')).Runs);
const Setup = lazy(async () => (await import('./integrations/setup.tsx')).Setup);
const Variables = lazy(async () => (await import('./variables/variables.tsx')).Variables);
const WebhooksIn = lazy(async () => (await import('./webhooks/webhooks-in.tsx')).WebhooksIn);
const WebhooksOut = lazy(async () => (await import('./webhooks/webhooks-out.tsx')).WebhooksOut);

/** The page of each path of the section, the first that matches. */
export const environmentRoutes = [
  ['/env/:environment', Home],
  ['/env/:environment/alerts', Alerts],
  ['/env/:environment/connect', Connect],
  ['/env/:environment/connections', Connections],
  ['/env/:environment/connections/:integration/:connection/:tab?', Connection],
  ['/env/:environment/integrations', Integrations],
  ['/env/:environment/integrations/new', Catalog],
  ['/env/:environment/integrations/new/:provider', Setup],
  ['/env/:environment/integrations/:integration/:tab?', Integration],
  ['/env/:environment/logs', Logs],
  ['/env/:environment/logs/:id', Operation],
  ['/env/:environment/playground', Playground],
  ['/env/:environment/runs', Runs],
  ['/env/:environment/runs/:id', Run],
  ['/env/:environment/variables', Variables],
  ['/env/:environment/webhooks-in', WebhooksIn],
  ['/env/:environment/webhooks-out/:tab?', WebhooksOut],
] as const;

/** The pages of one environment. */
export const EnvironmentPages = (): JSX.Element => (
  <Switch>
    {environmentRoutes.map(([path, component]) => (
      <Route key={path} path={path} component={component} />
    ))}
    <Route component={NotFound} />
  </Switch>
);
