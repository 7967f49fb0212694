import { useQuery } from '@tanstack/preact-query';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Client } from '#client/index.ts';
import { dayMs } from '../../data/local-time.ts';
import { useRead } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { Icon } from '../../design/icon.tsx';
import {
  accountKeyOf,
  useAccess,
  useAccessOf,
  useSession,
  type Access,
} from '../../session/context.tsx';
import { DemoProgress, useTryDemo } from './demo.tsx';

/** What of the way to production is done. */
interface Progress {
  readonly hasIntegration: boolean;
  readonly hasConnection: boolean;
  readonly hasFunction: boolean;
  readonly hasRecords: boolean;
  readonly hasEndpoint: boolean;
  /** Null: the session has no key that could see it. */
  readonly usesProduction: boolean | null;
}

interface Step {
  readonly title: string;
  readonly about: string;
  readonly href: string;
  readonly isDone: boolean;
}

/** Without one of them what is done cannot be seen. */
const scopes = [
  'environment:integrations:list',
  'environment:connections:list',
  'environment:functions:list',
  'environment:logs:read',
  'environment:webhooks:read',
];

/** What a newcomer does next, until all of it is done or the list is closed. */
export function FirstSteps(): JSX.Element | null {
  const { can } = useAccess();
  const [isOver, end] = useEnd();
  const tryDemo = useTryDemo();
  const progress = useProgress(!isOver && scopes.every(can));
  const steps = useSteps(progress);
  const isDone = steps !== null && steps.every((step) => step.isDone);
  useEffect(() => {
    if (isDone) end();
  }, [isDone]);
  if (tryDemo.data !== undefined) return <DemoProgress session={tryDemo.data} />;
  if (isOver || isDone || steps === null) return null;
  const done = steps.filter((step) => step.isDone).length;
  return (
    <section class="card">
      <div class="card-head">
        <h2>First steps</h2>
        <span class="row">
          <span class="muted number">
            {done} of {steps.length} done
          </span>
          {done > 0 && (
            <Button tone="quiet" isSmall onPress={end}>
              Hide
            </Button>
          )}
        </span>
      </div>
      <ol class="first-steps">
        {steps.map((step) => (
          <StepItem key={step.title} step={step} />
        ))}
      </ol>
      {progress?.hasIntegration === false && (
        <TryDemo isBusy={tryDemo.isPending} onTry={() => tryDemo.mutate()} />
      )}
    </section>
  );
}

const StepItem = ({ step }: { readonly step: Step }): JSX.Element => (
  <li class={step.isDone ? 'done' : undefined}>
    <Icon name={step.isDone ? 'check' : 'circle'} />
    <span class="grow">
      {step.isDone ? step.title : <Link href={step.href}>{step.title}</Link>}
      {step.isDone ? (
        <span class="visually-hidden">: done</span>
      ) : (
        <span class="about muted">{step.about}</span>
      )}
    </span>
  </li>
);

interface TryDemoProps {
  readonly isBusy: boolean;
  readonly onTry: () => void;
}

function TryDemo({ isBusy, onTry }: TryDemoProps): JSX.Element | null {
  const { can } = useAccess();
  const isEnabled = can('environment:deploy') && can('environment:integrations:list');
  const { data } = useRead('GET /demo', {}, { isEnabled });
  if (data?.data.is_available !== true) return null;
  return (
    <div class="card-body row">
      <Button tone="primary" isBusy={isBusy} onPress={onTry}>
        Try the demo provider
      </Button>
      <span class="muted">The first three steps at once, with records of a made-up company.</span>
    </div>
  );
}

/** Whether the list is over in this browser, and what ends it. */
function useEnd(): readonly [boolean, () => void] {
  const { key } = useAccess();
  const name = `svc-console-first-steps-${key.environment?.name ?? ''}`;
  const [isOver, setOver] = useState(localStorage.getItem(name) !== null);
  const end = (): void => {
    localStorage.setItem(name, 'over');
    setOver(true);
  };
  return [isOver, end];
}

function useSteps(progress: Progress | undefined): readonly Step[] | null {
  const { path } = useAccess();
  if (progress === undefined) return null;
  const { hasIntegration, hasConnection, hasFunction, hasRecords, hasEndpoint } = progress;
  const step = (title: string, about: string, href: string, isDone: boolean): Step => ({
    title,
    about,
    href,
    isDone,
  });
  return [
    step(
      'Add an integration',
      'A product that your users connect, with your app there.',
      path('/integrations/new'),
      hasIntegration,
    ),
    step('Connect an account', 'Yours, for a test.', path('/connect'), hasConnection),
    step(
      'Deploy a function',
      'npx svc deploy, in the folder of your functions.',
      path('/integrations'),
      hasFunction,
    ),
    step('Sync the first records', 'A sync saves them.', path('/connections'), hasRecords),
    step(
      'Add a webhook endpoint',
      'Your application learns there of changes.',
      path('/webhooks-out/endpoints'),
      hasEndpoint,
    ),
    ...(progress.usesProduction === null
      ? []
      : [
          step(
            'Use a key of production',
            'Create one, and let your application make its first request.',
            '/account/environments',
            progress.usesProduction,
          ),
        ]),
  ];
}

function useProgress(isEnabled: boolean): Progress | undefined {
  const { key, client } = useAccess();
  const account = useAccessOf(accountKeyOf(useSession()));
  const options = { enabled: isEnabled, refetchInterval: 30_000 };
  const { data } = useQuery({
    queryKey: [key.id, 'first steps'],
    queryFn: ({ signal }) => readProgress(client, signal),
    ...options,
  });
  // Of its own: what is read with a key ends with that key.
  const production = useQuery({
    queryKey: [account?.key.id ?? null, 'use of production'],
    queryFn: ({ signal }) => (account === null ? null : isProductionUsed(account, signal)),
    ...options,
  });
  if (data === undefined || production.isPending) return undefined;
  return { ...data, usesProduction: production.data ?? null };
}

async function readProgress(
  client: Client,
  signal: AbortSignal,
): Promise<Omit<Progress, 'usesProduction'>> {
  const since = new Date(new Date().getTime() - 90 * dayMs).toISOString();
  const [integrations, { connections }, syncs, endpoints] = await Promise.all([
    client.request('GET /integrations', { query: { credentials: 'none' }, signal }),
    client.request('GET /connections', { query: { credentials: 'none', limit: 1 }, signal }),
    client.request('GET /runs', {
      query: { kind: ['sync'], status: ['succeeded'], since, limit: 20 },
      signal,
    }),
    client.request('GET /webhook-endpoints', { signal }),
  ]);
  const keys = integrations.data.map(({ unique_key: key }) => key);
  return {
    hasIntegration: keys.length > 0,
    hasConnection: connections.length > 0,
    hasFunction: await hasFunction(client, keys, signal),
    hasRecords: syncs.data.some(({ counts }) =>
      Object.values(counts).some(({ added, updated }) => added + updated > 0),
    ),
    hasEndpoint: endpoints.data.length > 0,
  };
}

/** More integrations than these are not those of a newcomer. */
const searchedMax = 10;

async function hasFunction(
  client: Client,
  integrations: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const totals = await Promise.all(
    integrations.slice(0, searchedMax).map(async (uniqueKey) => {
      const input = { params: { uniqueKey }, query: { limit: 1 }, signal };
      const page = await client.request('GET /integrations/{uniqueKey}/functions', input);
      return page.pagination.total;
    }),
  );
  return totals.some((total) => total > 0);
}

/** Whether a key of a production environment made a request; null when that cannot be seen. */
async function isProductionUsed(
  { client, can }: Access,
  signal: AbortSignal,
): Promise<boolean | null> {
  if (!can('account:environments:list') || !can('account:environments:api_keys:list')) return null;
  const { data } = await client.request('GET /environments', { signal });
  const lists = await Promise.all(
    data
      .filter((environment) => environment.is_production)
      .map(({ id }) =>
        client.request('GET /environment/api-keys', { query: { environment_id: id }, signal }),
      ),
  );
  return lists.some((list) => list.data.some((key) => key.last_used_at !== null));
}
