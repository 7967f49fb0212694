import type { JSX } from 'preact';
import { Route, Switch } from 'wouter-preact';
import { lazy } from './lazy.tsx';
import { NotFound } from './not-found.tsx';

const Connect = lazy(async () => (await import('./connect/connect.tsx')).Connect);
const Connection = lazy(async () => (await import('./connections/connection.tsx')).Connection);
const Connections = lazy(async () => (await import('./connections/connections.tsx')).Connections);
const Integration = lazy(async () => (await import('./integrations/integration.tsx')).Integration);
const Integrations = lazy(
  async () => (await import('./integrations/integrations.tsx')).Integrations,
);
const NewIntegration = lazy(
  async () => (await import('./integrations/new-integration.tsx')).NewIntegration,
);
const Run = lazy(async () => (await import('./runs/run.tsx')).Run);
const Runs = lazy(async () => (await import('./runs/runs.tsx')).Runs);

/** The pages of one environment. */
export const EnvironmentPages = (): JSX.Element => (
  <Switch>
    <Route path="/env/:environment/connect" component={Connect} />
    <Route path="/env/:environment/connections" component={Connections} />
    <Route
      path="/env/:environment/connections/:integration/:connection/:tab?"
      component={Connection}
    />
    <Route path="/env/:environment/integrations" component={Integrations} />
    <Route path="/env/:environment/integrations/new" component={NewIntegration} />
    <Route path="/env/:environment/integrations/:integration/:tab?" component={Integration} />
    <Route path="/env/:environment/runs" component={Runs} />
    <Route path="/env/:environment/runs/:id" component={Run} />
    <Route component={NotFound} />
  </Switch>
);
