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
const Projection = lazy(async () => (await import('./projections/projection.tsx')).Projection);
const Projections = lazy(async () => (await import('./projections/projections.tsx')).Projections);

const Topic = lazy(async () => (await import('./topics/topic.tsx')).Topic);
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
