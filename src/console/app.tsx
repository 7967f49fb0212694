import {
  QueryClient,
  QueryCache,
  MutationCache,
  QueryClientProvider,
  useQuery,
} from '@tanstack/preact-query';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  matchRoute,
  Redirect,
  Route,
  Router,
  Switch,
  useLocation,
  useRoute,
  useRouter,
} from 'wouter-preact';
import { ApiError } from '#client/index.ts';
import { LinkButton } from './design/button.tsx';
import { Empty } from './design/states.tsx';
import { lazy } from './pages/lazy.tsx';
import {
  AccessProvider,
  accountKeyOf,
  environmentKeysOf,
  sectionOf,
  SessionProvider,
  useAccessOf,
  useSession,
} from './session/context.tsx';
import { onOtherTab, readSession, signIn, takeCode, type SessionKey } from './session/session.ts';
import { sessionQuery, SignIn } from './session/sign-in.tsx';
import { Page } from './shell/page.tsx';
import { Shell } from './shell/shell.tsx';

const AccountKeys = lazy(
  async () => (await import('./pages/account-keys/account-keys.tsx')).AccountKeys,
);
const Audit = lazy(async () => (await import('./pages/audit/audit.tsx')).Audit);
const ConsumerGroups = lazy(async () => (await import('./pages/groups/groups.tsx')).ConsumerGroups);
const DeadLetters = lazy(
  async () => (await import('./pages/dead-letters/dead-letters.tsx')).DeadLetters,
);
const Environment = lazy(
  async () => (await import('./pages/environments/environment.tsx')).Environment,
);
const Environments = lazy(
  async () => (await import('./pages/environments/environments.tsx')).Environments,
);
const OwnSessions = lazy(
  async () => (await import('./pages/sessions/own-sessions.tsx')).OwnSessions,
);
const People = lazy(async () => (await import('./pages/people/people.tsx')).People);
const Projection = lazy(
  async () => (await import('./pages/projections/projections.tsx')).Projection,
);
const Projections = lazy(
  async () => (await import('./pages/projections/projections.tsx')).Projections,
);

const Sessions = lazy(async () => (await import('./pages/sessions/sessions.tsx')).Sessions);
const Topic = lazy(async () => (await import('./pages/topics/topics.tsx')).Topic);
const Topics = lazy(async () => (await import('./pages/topics/topics.tsx')).Topics);

/** The page of each path of the section, the first that matches. */
const accountRoutes = [
  ['/account/audit/:tab?', Audit],
  ['/account/consumer-groups', ConsumerGroups],
  ['/account/dead-letters', DeadLetters],
  ['/account/environments', Environments],
  ['/account/environments/:id/:tab?', Environment],
  ['/account/keys', AccountKeys],
  ['/account/people', People],
  ['/account/projections', Projections],
  ['/account/projections/:name', Projection],
  ['/account/sessions', Sessions],
  ['/account/topics', Topics],
  ['/account/topics/:name/:tab?', Topic],
] as const;

/** The pages of the account. */
const AccountPages = (): JSX.Element => (
  <Switch>
    {accountRoutes.map(([path, component]) => (
      <Route key={path} path={path} component={component} />
    ))}
    <Route component={NotFound} />
  </Switch>
);

const Alerts = lazy(async () => (await import('./pages/alerts/alerts.tsx')).Alerts);
const EnvironmentKeys = lazy(
  async () => (await import('./pages/environments/keys.tsx')).EnvironmentKeys,
);
const Catalog = lazy(async () => (await import('./pages/integrations/catalog.tsx')).Catalog);
const Changes = lazy(async () => (await import('./pages/changes/changes.tsx')).Changes);
const Connect = lazy(async () => (await import('./pages/connections/connections.tsx')).Connect);
const Connection = lazy(
  async () => (await import('./pages/connections/connection.tsx')).Connection,
);
const Connections = lazy(
  async () => (await import('./pages/connections/connections.tsx')).Connections,
);
const Home = lazy(async () => (await import('./pages/home/home.tsx')).Home);
const Integration = lazy(
  async () => (await import('./pages/integrations/integration.tsx')).Integration,
);
const Integrations = lazy(
  async () => (await import('./pages/integrations/integrations.tsx')).Integrations,
);
const Logs = lazy(async () => (await import('./pages/logs/logs.tsx')).Logs);
const Operation = lazy(async () => (await import('./pages/logs/operation.tsx')).Operation);
const Playground = lazy(async () => (await import('./pages/playground/playground.tsx')).Playground);
const Run = lazy(async () => (await import('./pages/runs/runs.tsx')).Run);
const Runs = lazy(async () => (await import('./pages/runs/runs.tsx')).Runs);
const Setup = lazy(async () => (await import('./pages/integrations/setup.tsx')).Setup);
const Sql = lazy(async () => (await import('./pages/sql/sql.tsx')).Sql);
const Subscription = lazy(
  async () => (await import('./pages/subscriptions/subscription.tsx')).Subscription,
);
const Subscriptions = lazy(
  async () => (await import('./pages/subscriptions/subscriptions.tsx')).Subscriptions,
);
const Variables = lazy(async () => (await import('./pages/variables/variables.tsx')).Variables);
const WebhooksIn = lazy(async () => (await import('./pages/webhooks/webhooks-in.tsx')).WebhooksIn);
const WebhooksOut = lazy(
  async () => (await import('./pages/webhooks/webhooks-out.tsx')).WebhooksOut,
);

/** The page of each path of the section, the first that matches. */
const environmentRoutes = [
  ['/env/:environment', Home],
  ['/env/:environment/alerts', Alerts],
  ['/env/:environment/changes', Changes],
  ['/env/:environment/connect', Connect],
  ['/env/:environment/connections', Connections],
  ['/env/:environment/connections/:integration/:connection/:tab?', Connection],
  ['/env/:environment/integrations', Integrations],
  ['/env/:environment/integrations/new', Catalog],
  ['/env/:environment/integrations/new/:provider', Setup],
  ['/env/:environment/integrations/:integration/:tab?', Integration],
  ['/env/:environment/keys', EnvironmentKeys],
  ['/env/:environment/logs', Logs],
  ['/env/:environment/logs/:id', Operation],
  ['/env/:environment/playground', Playground],
  ['/env/:environment/runs', Runs],
  ['/env/:environment/runs/:id/:tab?', Run],
  ['/env/:environment/sql', Sql],
  ['/env/:environment/subscriptions', Subscriptions],
  ['/env/:environment/subscriptions/:name/:tab?', Subscription],
  ['/env/:environment/variables', Variables],
  ['/env/:environment/webhooks-in', WebhooksIn],
  ['/env/:environment/webhooks-out/:tab?', WebhooksOut],
] as const;

/** The pages of one environment. */
const EnvironmentPages = (): JSX.Element => (
  <Switch>
    {environmentRoutes.map(([path, component]) => (
      <Route key={path} path={path} component={component} />
    ))}
    <Route component={NotFound} />
  </Switch>
);

const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

/** The request was under way while a key was added, here or in another tab, which replaced the session. */
const isOfFormerSession = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'invalid_csrf_token';

/** A request that is refused because the session ended leads to the sign-in page. */
function endSession(error: unknown): void {
  // A refused key on the sign-in page ends nothing.
  const isSignedIn = queries.getQueryData(sessionQuery) !== undefined;
  if (isSignedIn && (isSignedOut(error) || isOfFormerSession(error)))
    void queries.invalidateQueries({ queryKey: sessionQuery });
}

const isWorthAnotherTry = (error: unknown): boolean =>
  !(error instanceof ApiError && error.status !== null && error.status < 500) ||
  isOfFormerSession(error);

const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (queryKey[0] !== sessionQuery[0]) endSession(error);
    },
  }),
  mutationCache: new MutationCache({ onError: endSession }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < 2 && isWorthAnotherTry(error),
    },
  },
});

onOtherTab(() => {
  void queries.invalidateQueries({ queryKey: sessionQuery });
});

const Design = lazy(async () => (await import('./pages/design/design.tsx')).Design);

const code = takeCode();

export const App = (): JSX.Element => (
  <QueryClientProvider client={queries}>
    <Router base="/console">
      <SignedIn />
    </Router>
  </QueryClientProvider>
);

/** Loads the script of the page while the session is read. */
function usePageScript(): void {
  const { parser } = useRouter();
  const [path] = useLocation();
  useState(() => {
    const routes = [...environmentRoutes, ...accountRoutes];
    routes.find(([pattern]) => matchRoute(parser, pattern, path)[0])?.[1].load();
  });
}

function SignedIn(): JSX.Element {
  usePageScript();
  const session = useQuery({
    queryKey: sessionQuery,
    queryFn: () => openSession(),
    retry: false,
    staleTime: Infinity,
  });
  if (session.isError)
    return <SignIn failure={isSignedOut(session.error) && !isCodeRefused ? null : session.error} />;
  if (session.data === undefined) return <></>;
  return (
    <SessionProvider session={session.data}>
      <Sections />
    </SessionProvider>
  );
}

let unusedCode = code;
let isCodeRefused = false;

/** The session of the start link's code, or that of the cookie. */
async function openSession() {
  const once = unusedCode;
  unusedCode = null;
  if (once === null) {
    isCodeRefused = false;
    return readSession();
  }
  try {
    return await signIn({ code: once }, null);
  } catch (error) {
    isCodeRefused = true;
    throw error;
  }
}

const storedEnvironment = 'svc-console-environment';

function Sections(): JSX.Element {
  const session = useSession();
  const keys = environmentKeysOf(session);
  const [, params] = useRoute('/env/:environment/*?');
  const named = (name: string | null): SessionKey | undefined =>
    keys.find(({ environment }) => environment?.name === name);
  const fromPath = params?.environment;
  if (fromPath !== undefined) localStorage.setItem(storedEnvironment, fromPath);
  const last = named(localStorage.getItem(storedEnvironment)) ?? keys[0] ?? null;
  const account = accountKeyOf(session);
  const first = last === null ? account && `${sectionOf(account)}/projections` : sectionOf(last);
  return (
    <Shell environmentKey={last}>
      <Switch>
        <Route path="/env/:environment/*?">
          {({ environment }) => (
            <Section sessionKey={named(environment) ?? null}>
              <EnvironmentPages />
            </Section>
          )}
        </Route>
        <Route path="/account/*?">
          <Section sessionKey={accountKeyOf(session)}>
            <AccountPages />
          </Section>
        </Route>
        <Route path="/your-sessions" component={OwnSessions} />
        <Route path="/design" component={Design} />
        <Route path="/">{first === null ? <NoRole /> : <Redirect to={first} replace />}</Route>
        <Route component={NotFound} />
      </Switch>
    </Shell>
  );
}

interface SectionProps {
  /** Null when the session has no key of the section. */
  readonly sessionKey: SessionKey | null;
  readonly children: ComponentChildren;
}

function Section({ sessionKey, children }: SectionProps): JSX.Element {
  const access = useAccessOf(sessionKey);
  if (access === null) return <NotFound />;
  return (
    <AccessProvider key={access.key.id} access={access}>
      {children}
    </AccessProvider>
  );
}

/** Someone whose roles were taken away while the session goes on. */
const NoRole = (): JSX.Element => (
  <Page title="No role">
    <Empty title="You have no role in this installation">
      Ask an owner of the account for a role, and open this page again.
    </Empty>
  </Page>
);

const NotFound = (): JSX.Element => (
  <Page title="Not found">
    <Empty title="There is no page at this address" action={<LinkButton href="/">Home</LinkButton>}>
      The link may be old, or the session holds no key or role for it.
    </Empty>
  </Page>
);
