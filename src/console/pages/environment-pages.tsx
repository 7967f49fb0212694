import type { JSX } from 'preact';
import { Route, Switch } from 'wouter-preact';
import { lazy } from './lazy.tsx';
import { NotFound } from './not-found.tsx';

const Alerts = lazy(async () => (await import('./alerts/alerts.tsx')).Alerts);
const Connect = lazy(async () => (await import('./connect/connect.tsx')).Connect);
const Connection = lazy(async () => (await import('./connections/connection.tsx')).Connection);
const Connections = lazy(async () => (await import('./connections/connections.tsx')).Connections);
const Home = lazy(async () => (await import('./home/home.tsx')).Home);
const Integration = lazy(async () => (await import('./integrations/integration.tsx')).Integration);
const Integrations = lazy(
  async () => (await import('./integrations/integrations.tsx')).Integrations,
);
const Logs = lazy(async () => (await import('./logs/logs.tsx')).Logs);
const NewIntegration = lazy(
  async () => (await import('./integrations/new-integration.tsx')).NewIntegration,
);
const Operation = lazy(async () => (await import('./logs/operation.tsx')).Operation);
const Playground = lazy(async () => (await import('./playground/playground.tsx')).Playground);
const Run = lazy(async () => (await import('./runs/run.tsx')).Run);
const Runs = lazy(async () => (await import('./runs/runs.tsx')).Runs);
const Variables = lazy(async () => (await import('./variables/variables.tsx')).Variables);
const WebhooksIn = lazy(async () => (await import('./webhooks/webhooks-in.tsx')).WebhooksIn);
const WebhooksOut = lazy(async () => (await import('./webhooks/webhooks-out.tsx')).WebhooksOut);

const routes = [
  ['', Home],
  ['/alerts', Alerts],
  ['/connect', Connect],
  ['/connections', Connections],
  ['/connections/:integration/:connection/:tab?', Connection],
  ['/integrations', Integrations],
  ['/integrations/new', NewIntegration],
  ['/integrations/:integration/:tab?', Integration],
  ['/logs', Logs],
  ['/logs/:id', Operation],
  ['/playground', Playground],
  ['/runs', Runs],
  ['/runs/:id', Run],
  ['/variables', Variables],
  ['/webhooks-in', WebhooksIn],
  ['/webhooks-out/:tab?', WebhooksOut],
] as const;

/** The pages of one environment. */
export const EnvironmentPages = (): JSX.Element => (
  <Switch>
    {routes.map(([path, component]) => (
      <Route key={path} path={`/env/:environment${path}`} component={component} />
    ))}
    <Route component={NotFound} />
  </Switch>
);
