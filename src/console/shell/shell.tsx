import { useMutation, useQueryClient } from '@tanstack/preact-query';
import type { ComponentChildren, JSX } from 'preact';
import { useState, useEffect } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { failureOf } from '../data/failure.ts';
import { withFilters } from '../data/url-state.ts';
import { IconButton } from '../design/button.tsx';
import { Icon, type IconName } from '../design/icon.tsx';
import { Menu } from '../design/menu.tsx';
import { Drawer } from '../design/overlay.tsx';
import { toast, Toasts } from '../design/toast.tsx';
import { accountKeyOf, environmentKeysOf, sectionOf, useSession } from '../session/context.tsx';
import { covers, removeKey, signOut, type SessionKey } from '../session/session.ts';
import { AddKey, sessionQuery } from '../session/sign-in.tsx';
import {
  type ThemeChoice,
  applyTheme,
  prefersDark,
  readChoice,
  storeChoice,
} from './theme-choice.ts';
import { usePalette, type PaletteProps } from './use-palette.ts';

/** A page of the navigation. */
interface NavigationItem {
  /** Below the section of the environment or of the account. */
  readonly page: string;
  readonly label: string;
  readonly icon: IconName;
  /** Without this scope the page is not offered; null: it is always. */
  readonly scope: string | null;
  /** Whether the key of the account needs the scope, also in an environment. */
  readonly isOfAccount?: true;
}

const environmentPages: readonly NavigationItem[] = [
  { page: '', label: 'Home', icon: 'home', scope: null },
  {
    page: '/integrations',
    label: 'Integrations',
    icon: 'plug',
    scope: 'environment:integrations:list',
  },
  {
    page: '/connections',
    label: 'Connections',
    icon: 'link',
    scope: 'environment:connections:list',
  },
  { page: '/runs', label: 'Runs', icon: 'play', scope: 'environment:logs:read' },
  { page: '/logs', label: 'Logs', icon: 'log', scope: 'environment:logs:read' },
  {
    page: '/webhooks-out',
    label: 'Webhooks out',
    icon: 'send',
    scope: 'environment:webhooks:read',
  },
  { page: '/webhooks-in', label: 'Webhooks in', icon: 'inbox', scope: 'environment:webhooks:read' },
  { page: '/changes', label: 'Changes', icon: 'activity', scope: 'environment:changes:read' },
  {
    page: '/subscriptions',
    label: 'Subscriptions',
    icon: 'list',
    scope: 'environment:subscriptions:read',
  },
  { page: '/sql', label: 'SQL', icon: 'database', scope: 'environment:sql:read' },
  {
    page: '/playground',
    label: 'Playground',
    icon: 'terminal',
    scope: 'environment:actions:execute',
  },
  { page: '/variables', label: 'Variables', icon: 'braces', scope: 'environment:variables:read' },
  { page: '/alerts', label: 'Alerts', icon: 'bell', scope: 'environment:alerts:read' },
  {
    page: '/keys',
    label: 'API keys',
    icon: 'key',
    scope: 'account:environments:api_keys:list',
    isOfAccount: true,
  },
];

const accountPages: readonly NavigationItem[] = [
  { page: '/topics', label: 'Topics', icon: 'stream', scope: 'account:topics:read' },
  {
    page: '/projections',
    label: 'Projections',
    icon: 'database',
    scope: 'account:projections:read',
  },
  {
    page: '/consumer-groups',
    label: 'Consumer groups',
    icon: 'group',
    scope: 'account:consumer-groups:read',
  },
  {
    page: '/dead-letters',
    label: 'Dead letters',
    icon: 'mail-failed',
    scope: 'account:dead-letters:read',
  },
  {
    page: '/environments',
    label: 'Environments',
    icon: 'folder',
    scope: 'account:environments:list',
  },
  { page: '/keys', label: 'Account keys', icon: 'key', scope: 'account:api_keys:list' },
  { page: '/people', label: 'People', icon: 'user', scope: 'account:people:read' },
  { page: '/sessions', label: 'Sessions', icon: 'lock', scope: 'account:people:read' },
  { page: '/audit', label: 'Audit', icon: 'shield', scope: 'account:audit:read' },
];

interface ShellProps {
  /** The environment that the page is about, or that was last chosen. */
  readonly environmentKey: SessionKey | null;
  readonly children: ComponentChildren;
}

/** Navigation, environment and what is around every page. */
export function Shell({ environmentKey, children }: ShellProps): JSX.Element {
  const [isNavigationOpen, setNavigationOpen] = useState(false);
  const navigation = <Navigation environmentKey={environmentKey} />;
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <aside class="sidebar" aria-label="Sidebar">
        <Brand />
        {navigation}
      </aside>
      <div class="grow">
        <header class="topbar">
          <span class="menu-button">
            <IconButton icon="menu" label="Navigation" onPress={() => setNavigationOpen(true)} />
          </span>
          <EnvironmentSwitch current={environmentKey} />
          <span class="grow" />
          <PaletteButton environmentKey={environmentKey} />
          <DocumentationLink />
          <ThemeMenu />
          <SessionMenu />
        </header>
        <main id="content" tabIndex={-1}>
          {children}
        </main>
      </div>
      {isNavigationOpen && (
        <Drawer title={<Brand />} side="start" onClose={() => setNavigationOpen(false)}>
          <div onClick={() => setNavigationOpen(false)}>{navigation}</div>
        </Drawer>
      )}
      <Toasts />
    </div>
  );
}

const Brand = (): JSX.Element => (
  <Link href="/" class="brand">
    <Icon name="layers" />
    svc
  </Link>
);

function Navigation({ environmentKey }: Pick<ShellProps, 'environmentKey'>): JSX.Element {
  const accountKey = accountKeyOf(useSession());
  return (
    <nav class="stack" aria-label="Pages">
      {environmentKey !== null && (
        <Group label="Environment" sessionKey={environmentKey} pages={environmentPages} />
      )}
      {accountKey !== null && (
        <Group label="Account" sessionKey={accountKey} pages={accountPages} />
      )}
    </nav>
  );
}

/** The pages for which the session has the scope. */
export const offeredPages = (
  pages: readonly NavigationItem[],
  sessionKey: SessionKey,
  accountKey: SessionKey | null,
): readonly NavigationItem[] =>
  pages.filter(({ scope, isOfAccount }) => {
    const key = isOfAccount === true ? accountKey : sessionKey;
    return scope === null || (key !== null && covers(key, scope));
  });

interface GroupProps {
  readonly label: string;
  readonly sessionKey: SessionKey;
  readonly pages: readonly NavigationItem[];
}

function Group({ label, sessionKey, pages }: GroupProps): JSX.Element {
  const [location] = useLocation();
  const offered = offeredPages(pages, sessionKey, accountKeyOf(useSession()));
  return (
    <div class="nav-group">
      <div class="label">{label}</div>
      <ul>
        {offered.map(({ page, label: text, icon }) => {
          const href = sectionOf(sessionKey) + page;
          const isCurrent = location === href || (page !== '' && location.startsWith(`${href}/`));
          return (
            <li key={page}>
              <Link
                href={location === href ? href : withFilters(href)}
                aria-current={isCurrent ? 'page' : undefined}
              >
                <Icon name={icon} />
                {text}
              </Link>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function EnvironmentSwitch({ current }: { readonly current: SessionKey | null }): JSX.Element {
  const session = useSession();
  const [location, navigate] = useLocation();
  const [isAdding, setAdding] = useState(false);
  const addKey = {
    id: 'add',
    label: 'Add a key…',
    icon: 'plus' as const,
    onSelect: () => setAdding(true),
  };
  const go = (key: SessionKey): void => {
    const page = /^\/env\/[^/]+(\/[^/]+)?/.exec(location)?.[1] ?? '';
    navigate(sectionOf(key) + page);
  };
  return (
    <>
      <Menu
        label={current?.environment?.name ?? 'Choose an environment'}
        items={[
          ...environmentKeysOf(session).map((key) => ({
            id: key.id,
            label: key.environment?.name ?? key.name,
            ...(key.id === current?.id ? { icon: 'check' as const } : {}),
            onSelect: () => go(key),
          })),
          ...(session.person === null ? [addKey] : []),
        ]}
      />
      {isAdding && <AddKey session={session} onClose={() => setAdding(false)} />}
    </>
  );
}

const isMac = navigator.userAgent.includes('Mac');

/** Opens the search, also by Ctrl-K, or Cmd-K; its script is loaded at the first use. */
function PaletteButton({ environmentKey }: Pick<ShellProps, 'environmentKey'>): JSX.Element {
  const { Palette, open, close, takeTyped } = usePalette();
  const places = usePlaces(environmentKey);
  return (
    <>
      <button
        type="button"
        class="button search-button"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={open}
      >
        <Icon name="search" />
        <span>Search</span>
        <kbd>{isMac ? '⌘ K' : 'Ctrl K'}</kbd>
      </button>
      {Palette !== null && (
        <Palette
          environmentKey={environmentKey}
          places={places}
          takeTyped={takeTyped}
          onClose={close}
        />
      )}
    </>
  );
}

/** The pages and environments that the session may open. */
function usePlaces(environmentKey: SessionKey | null): PaletteProps['places'] {
  const session = useSession();
  const account = accountKeyOf(session);
  const placesOf = (key: SessionKey | null, pages: readonly NavigationItem[], group: string) =>
    key === null
      ? []
      : offeredPages(pages, key, account).map(({ page, label, icon }) => {
          const href = sectionOf(key) + page;
          return { id: href, group, label, icon, href };
        });
  const environments = environmentKeysOf(session).map((key) => ({
    id: `environment ${key.id}`,
    group: 'Environments',
    label: key.environment?.name ?? key.name,
    icon: 'layers' as const,
    href: sectionOf(key),
  }));
  return [
    ...placesOf(environmentKey, environmentPages, `Pages of ${environmentKey?.environment?.name}`),
    ...placesOf(account, accountPages, 'Pages of the account'),
    ...(environments.length > 1 ? environments : []),
  ];
}

/** Opens another tab, so that the page keeps its state. */
const DocumentationLink = (): JSX.Element => (
  <a
    class="button quiet icon-only"
    href="/docs/"
    target="_blank"
    rel="noopener"
    aria-label="Documentation"
    title="Documentation"
  >
    <Icon name="help" />
  </a>
);

const themes: readonly (readonly [ThemeChoice, string])[] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

function ThemeMenu(): JSX.Element {
  const [choice, choose] = useTheme();
  return (
    <Menu
      label="Theme"
      icon={choice === 'dark' ? 'moon' : 'sun'}
      isIconOnly
      items={themes.map(([id, label]) => ({
        id,
        label,
        ...(id === choice ? { icon: 'check' as const } : {}),
        onSelect: () => choose(id),
      }))}
    />
  );
}

function SessionMenu(): JSX.Element {
  const session = useSession();
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const onError = (error: Error): void => toast(failureOf(error).message, 'bad');
  const leave = useMutation({
    mutationFn: () => signOut(session),
    onSuccess: async () => {
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery[0] });
      await queries.resetQueries({ queryKey: sessionQuery });
    },
    onError,
  });
  const remove = useMutation({
    mutationFn: async (id: string) => {
      // Pages stop reading with the key before it is refused.
      const keys = session.keys.filter((key) => key.id !== id);
      queries.setQueryData(sessionQuery, { ...session, keys });
      await queries.cancelQueries({ queryKey: [id] });
      await removeKey(session, id);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: sessionQuery }),
    onError,
  });
  const { person } = session;
  const keys = person === null && session.keys.length > 1 ? session.keys : [];
  return (
    <Menu
      label={person === null ? 'Session' : `Signed in as ${person.display_name} (${person.email})`}
      icon="user"
      isIconOnly
      items={[
        {
          id: 'sessions',
          label: person === null ? 'This session' : `Sessions of ${person.display_name}`,
          icon: 'list',
          onSelect: () => navigate('/your-sessions'),
        },
        ...keys.map((key) => ({
          id: key.id,
          label: `Remove the key of ${key.environment?.name ?? 'the account'}`,
          icon: 'trash' as const,
          onSelect: () => remove.mutate(key.id),
        })),
        { id: 'out', label: 'Sign out', icon: 'leave', onSelect: () => leave.mutate() },
      ]}
    />
  );
}

function useTheme(): readonly [ThemeChoice, (choice: ThemeChoice) => void] {
  const [choice, setChoice] = useState(readChoice);
  useEffect(() => {
    applyTheme(choice);
    const follow = (): void => applyTheme(choice);
    prefersDark.addEventListener('change', follow);
    return () => prefersDark.removeEventListener('change', follow);
  }, [choice]);
  const choose = (next: ThemeChoice): void => {
    storeChoice(next);
    setChoice(next);
  };
  return [choice, choose];
}
