import type { JSX } from 'preact';
import { Route, Switch } from 'wouter-preact';
import { lazy } from './lazy.tsx';
import { NotFound } from './not-found.tsx';

const Connections = lazy(async () => (await import('./connections/connections.tsx')).Connections);

/** The pages of one environment, below `/env/<name>`. */
export function EnvironmentPages(): JSX.Element {
  return (
    <Switch>
      <Route path="/env/:environment/connections" component={Connections} />
      <Route component={NotFound} />
    </Switch>
  );
}
