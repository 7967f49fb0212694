import {
  QueryClient,
  QueryCache,
  MutationCache,
  QueryClientProvider,
  useQuery,
} from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { Redirect, Route, Router, Switch, useRoute } from 'wouter-preact';
import { ApiError } from '../client/index.ts';
import { EnvironmentPages } from './pages/environment-pages.tsx';
import { NotFound } from './pages/not-found.tsx';
import {
  AccessProvider,
  environmentKeysOf,
  sectionOf,
  SessionProvider,
  useAccessOf,
  useSession,
} from './session/context.tsx';
import { readSession, signIn, takeCode, type SessionKey } from './session/session.ts';
import { sessionQuery, SignIn } from './session/sign-in.tsx';
import { Shell } from './shell/shell.tsx';

const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

/** A request that is refused because the session ended leads to the sign-in page. */
function endSession(error: unknown): void {
  if (isSignedOut(error)) void queries.invalidateQueries({ queryKey: sessionQuery });
}

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
      retry: (count, error) =>
        count < 2 && !(error instanceof ApiError && error.status !== null && error.status < 500),
    },
  },
});

const code = takeCode();

export const App = (): JSX.Element => (
  <QueryClientProvider client={queries}>
    <Router base="/console">
      <SignedIn />
    </Router>
  </QueryClientProvider>
);

function SignedIn(): JSX.Element {
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
  const keys = environmentKeysOf(useSession());
  const [, params] = useRoute('/env/:environment/*?');
  const named = (name: string | null): SessionKey | undefined =>
    keys.find(({ environment }) => environment?.name === name);
  const fromPath = params?.environment;
  if (fromPath !== undefined) localStorage.setItem(storedEnvironment, fromPath);
  const last = named(localStorage.getItem(storedEnvironment)) ?? keys[0] ?? null;
  return (
    <Shell environmentKey={last}>
      <Switch>
        <Route path="/env/:environment/*?">
          {({ environment }) => <EnvironmentSection sessionKey={named(environment) ?? null} />}
        </Route>
        <Route path="/">
          {last === null ? <NotFound /> : <Redirect to={sectionOf(last)} replace />}
        </Route>
        <Route component={NotFound} />
      </Switch>
    </Shell>
  );
}

function EnvironmentSection({
  sessionKey,
}: {
  readonly sessionKey: SessionKey | null;
}): JSX.Element {
  const access = useAccessOf(sessionKey);
  if (access === null) return <NotFound />;
  return (
    <AccessProvider access={access}>
      <EnvironmentPages key={access.key.id} />
    </AccessProvider>
  );
}
