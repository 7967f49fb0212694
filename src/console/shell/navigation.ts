import type { IconName } from '../design/icon.tsx';

/** A page of the navigation. */
export interface NavigationItem {
  /** Below the section of the environment or of the account. */
  readonly page: string;
  readonly label: string;
  readonly icon: IconName;
  /** Without this scope the page is not offered; null: it is always. */
  readonly scope: string | null;
}

export const environmentPages: readonly NavigationItem[] = [
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
  { page: '/logs', label: 'Logs', icon: 'list', scope: 'environment:logs:read' },
  { page: '/webhooks-out', label: 'Webhooks out', icon: 'send', scope: 'environment:*' },
  { page: '/webhooks-in', label: 'Webhooks in', icon: 'inbox', scope: 'environment:*' },
  {
    page: '/playground',
    label: 'Playground',
    icon: 'terminal',
    scope: 'environment:actions:execute',
  },
  { page: '/variables', label: 'Variables', icon: 'gear', scope: 'environment:variables:read' },
  { page: '/alerts', label: 'Alerts', icon: 'bell', scope: 'environment:*' },
];

export const accountPages: readonly NavigationItem[] = [
  { page: '/topics', label: 'Topics', icon: 'layers', scope: 'account:topics:read' },
  {
    page: '/projections',
    label: 'Projections',
    icon: 'database',
    scope: 'account:projections:read',
  },
  {
    page: '/consumer-groups',
    label: 'Consumer groups',
    icon: 'activity',
    scope: 'account:consumer-groups:read',
  },
  {
    page: '/dead-letters',
    label: 'Dead letters',
    icon: 'alert',
    scope: 'account:dead-letters:read',
  },
  {
    page: '/environments',
    label: 'Environments',
    icon: 'folder',
    scope: 'account:environments:list',
  },
  { page: '/keys', label: 'Account keys', icon: 'key', scope: 'account:api_keys:list' },
  { page: '/audit', label: 'Audit', icon: 'shield', scope: 'account:audit:read' },
];
